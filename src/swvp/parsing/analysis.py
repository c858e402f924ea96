"""The methods of a fitted parser beyond prediction: explanations, k-best trees, probabilities of arcs and trees.

p(y | x) ∝ exp(score(y) / temperature), over the trees without pruned arcs that the parser can predict. A perceptron
does not learn this p; see `swvp.training.options`. In a sentence where every tree has a pruned arc, the sum is over
the trees with the fewest of them.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, unknown_name
from swvp.io.treebank import Treebank
from swvp.parsing.ensemble import vote_tables
from swvp.parsing.first_order import arc_scores, k_best_trees, kernel_model
from swvp.parsing.labeller import Labeller
from swvp.parsing.tree import DependencyTree, Sentences, treebank_from, trees_of
from swvp.parsing.tree_model import FeatureWeights, Pruner, RankedTree, TreeKind, TreeModel
from swvp.structures.tree.encoding import Pruned, forbidden
from swvp.structures.tree.first_order.model import Arcs
from swvp.structures.tree.first_order.probabilities import distributions, rescued, table_of, tables_begin
from swvp.tables import WeightTable, check_count
from swvp.training.options import LEAST, Tempered, in_shares, lowest_loss
from swvp.types import Floats, Heads, Ints

__all__ = ["Distribution", "ParserAnalysis", "best_temperature", "distribution"]

MOST_STEPS = 20_000_000
"""The limit of one explanation, enough for all words of a sentence of up to 271 words."""


class ParserAnalysis(Tempered):
    """The part of `Parser` that explains predictions and says how sure they are."""

    n_jobs: int
    coef_: Floats
    model_: TreeModel
    labeller_: Labeller | None

    if TYPE_CHECKING:  # implemented by Parser

        @property
        def _weights(self) -> FeatureWeights: ...
        def _check_fitted(self) -> None: ...
        def _encoded(self, treebank: Treebank) -> Any: ...
        def predict_trees(self, treebank: Treebank) -> tuple[Heads, Any]: ...
        def _labels(self, treebank: Treebank, heads: Heads) -> Any: ...
        def _votes(self, treebank: Treebank) -> list[Heads]: ...
        def _kind(self) -> TreeKind: ...
        def _parsers(self) -> list[Any]: ...

    def explain(self, sentence: Any, word: int | None = None, n: int = 5) -> WeightTable:
        """Return the features that decided the heads of a sentence.

        Parameters
        ----------
        sentence : list of tokens, Treebank, str or Path
            A sentence, or a treebank, whose first sentence is explained.
        word : int, optional
            The number of a word, from 1; by default all words are explained.
        n : int
            The number of features for each word, those with the largest difference.

        Returns
        -------
        WeightTable
            A row for each feature: its weight for the predicted head minus that for the second-best one. Of an
            ensemble, the features of its first parser.
        """
        self._check_fitted()
        is_list = not isinstance(sentence, (Treebank, str)) and not hasattr(sentence, "__fspath__")
        treebank = treebank_from([sentence] if is_list else sentence, heads=None).select(np.array([0]))
        check_count("n", n)
        if word is not None and not (isinstance(word, numbers.Integral) and 1 <= word <= treebank.tokens):
            raise InputError(f"there is no word {word!r}: the sentence has words 1 to {treebank.tokens}")
        words = range(1, words_explained(treebank.tokens) + 1) if word is None else range(int(word), int(word) + 1)
        table = self._of_first(self.model_.explain(treebank, self._encoded(treebank), self._weights, words, n))
        if word is None and len(words) < treebank.tokens:
            return table._replace(title=f"{table.title} (the first {len(words)} of {treebank.tokens} words)")
        return table

    def top_features(self, X: Sentences, n: int = 20) -> WeightTable:
        """Return the features with the largest weights among those that occur in these sentences.

        A hashed weight has no name of its own: only a feature that occurs gives it one. So a feature that is heavy
        elsewhere is missing, and two features that share a weight are both listed with it.

        Parameters
        ----------
        X
            Sentences, as for `predict`.
        n : int
            The number of features.

        Returns
        -------
        WeightTable
        """
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        check_count("n", n)
        return self._of_first(self.model_.top_features(treebank, self._encoded(treebank), self._weights, n))

    def predict_k_best(self, X: Sentences, k: int) -> list[list[tuple[DependencyTree, float]]]:
        """Predict the k best trees of each sentence.

        Parameters
        ----------
        X
            Sentences, as for `predict`.
        k : int
            The number of trees.

        Returns
        -------
        list of lists of (DependencyTree, float)
            For each sentence its trees with their scores, best first; fewer if there are fewer. The first is that of
            `predict`. Scores are sums of weights: only their differences have a meaning. Those of an ensemble are votes
            for arcs. The labels are the best ones for each tree and do not count in its score.
        """
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        check_count("k", k, 1)
        ranked = self._ranked(treebank, k)
        result: list[list[tuple[DependencyTree, float]]] = [[] for _ in ranked]
        for rank in range(max(map(len, ranked), default=0)):
            heads = np.concatenate([trees[min(rank, len(trees) - 1)][0] for trees in ranked])
            labelled = trees_of(treebank, heads, self._labels(treebank, heads))
            for i, trees in enumerate(ranked):
                if rank < len(trees):
                    result[i].append((labelled[i], trees[rank][1]))
        return result

    def predict_marginals(self, X: Sentences) -> list[Floats]:
        """Return the probability of every arc; read `confidence` first.

        Parameters
        ----------
        X
            Sentences, as for `predict`.

        Returns
        -------
        list of ndarray of shape (n + 1, n + 1)
            For each sentence of n words an array p: p[h, m] is the probability that h is the head of m. Words are
            numbered from 1 and 0 is the root, so column 0 is 0 and every other column sums to 1. Pruned arcs have
            probability 0. An ensemble returns the mean of its parsers.
        """
        self._check_fitted()
        return self._distribution(treebank_from(X, heads=None))[1].tables()

    def confidence(self, X: Sentences) -> NDArray[np.object_]:
        """Predict trees with the probability of each arc.

        The perceptron does not learn probabilities. These are exp(score / temperature_), summed over the trees with the
        arc and divided by the sum over all trees. Before `fit_temperature` the temperature is 1 and the scale of the
        scores arbitrary: most probabilities are far too close to 1. After `fit_temperature` on a dev set they are right
        on average for data of that kind, which does not make each of them right. They say nothing about labels. A
        second-order parser returns those of its pruner, a log-linear model of arcs, which learns probabilities.

        Parameters
        ----------
        X
            Sentences, as for `predict`.

        Returns
        -------
        ndarray of DependencyTree
            The trees of `predict`; their `confidence` is the probability of the arc into each word.
        """
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        heads, labels = self.predict_trees(treebank)
        arcs, trees = self._distribution(treebank)
        return trees_of(treebank, heads, labels, trees.of(arcs, heads))

    def fit_temperature(self, X: Sentences, y: Any = None, *, of: str = "arcs") -> Self:
        """Set `temperature_` so that the gold heads of a dev set are most probable; predictions stay the same.

        Parameters
        ----------
        X, y
            Gold trees, as for `fit`, but not the training trees, on which the parser is right more often.
        of : {"arcs", "trees"}
            Whose log-likelihood is maximised: that of each arc, or that of whole trees.

        Returns
        -------
        self
        """
        treebank = treebank_from(X, y, heads=True)
        self._check_fitted()
        for parser in self._parsers():
            arcs, weights = parser.model_.arc_model(parser._encoded(treebank), parser._weights)
            parser.temperature_ = best_temperature(arcs, weights, treebank, of, n_jobs=self.n_jobs)
        return self

    def pruning(self, treebank: Treebank) -> Pruned:
        """Return what pruning does to a treebank with heads.

        Parameters
        ----------
        treebank : Treebank

        Returns
        -------
        Pruned
            The recall of gold arcs, the number of heads left for a word, and the share of arcs left.
        """
        return self.model_.pruned(self._encoded(treebank), treebank.trees)

    def certified(self, X: Sentences) -> float:
        """Return the share of sentences whose predicted tree is proved to be the best one.

        Parameters
        ----------
        X
            Sentences, as for `predict`.

        Returns
        -------
        float
            1 in first order, where the search is exact. Of an ensemble, the share of the trees of all its parsers.
        """
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        shares = [
            parser.model_.certified_share(parser._encoded(treebank), parser._weights, self.n_jobs)
            for parser in self._parsers()
        ]
        return float(np.mean(shares))

    @property
    def search_is_bounded(self) -> bool:
        """Whether the search for the tree of a long sentence may stop before the best one is found."""
        return not (self.model_.searches_exactly or self._kind().projective)

    @property
    def templates_(self) -> Sequence[Any]:
        """The templates of the fitted model."""
        return self.model_.templates

    @property
    def ranks_(self) -> dict[str, dict[str, int]]:
        """The values of the columns `pos`, `tag` and `feats` in training, numbered by frequency."""
        return self.model_.ranks

    @property
    def longest_(self) -> NDArray[np.int32]:
        """The longest arc allowed between two tags."""
        return self.model_.longest

    @property
    def pruner_(self) -> Pruner | None:
        """The pruner of the fitted model, if it has one."""
        return self.model_.pruner

    def _distribution(self, treebank: Treebank) -> tuple[Arcs, Distribution]:
        """Return the arcs of a treebank and the distribution over their trees; marginals are means of the ensemble."""
        all_trees = []
        for parser in self._parsers():
            arcs, weights = parser.model_.arc_model(parser._encoded(treebank), parser._weights)
            all_trees.append((arcs, distribution(arcs, weights, parser.temperature_, n_jobs=self.n_jobs)))
        arcs, trees = all_trees[0]
        if len(all_trees) > 1:
            trees = trees._replace(marginals=np.mean([other.marginals for _, other in all_trees], axis=0))
        return arcs, trees

    def _ranked(self, treebank: Treebank, k: int) -> list[list[RankedTree]]:
        """Return the heads of the k best trees of each sentence with their scores, of an ensemble by votes."""
        if len(self._parsers()) == 1:
            return self.model_.k_best(self._encoded(treebank), self._weights, k, self.n_jobs)
        return [k_best_trees(table, k, self._kind()) for table in vote_tables(self._votes(treebank), treebank.offsets)]

    def _of_first(self, table: WeightTable) -> WeightTable:
        """Return a table whose title says that it is about the first parser of an ensemble."""
        parsers = len(self._parsers())
        return table if parsers == 1 else table._replace(title=f"{table.title} (the first of {parsers} parsers)")


def words_explained(size: int) -> int:
    """Return how many words of a sentence are explained at once: each needs a search of about size² steps."""
    return min(size, max(1, MOST_STEPS // size**2))


# ---------------------------------------------------------------- probabilities

MEASURES = ("arcs", "trees")


class Distribution(NamedTuple):
    """The distributions over the trees of sentences; `table_of` gives the table of one sentence."""

    scores: Floats  # of the arcs, not divided by the temperature
    marginals: Floats
    log_z: Floats
    begins: Ints

    def of(self, problem: Arcs, heads: NDArray[np.int32]) -> Floats:
        """Return the probability of the arc into each word from these heads."""
        probabilities: Floats = self.marginals[arc_places(problem, heads, self.begins)]
        return probabilities

    def tables(self) -> list[Floats]:
        """Return a table for each sentence: [h, m] is the probability of the arc from h to m."""
        return [table_of(self.marginals, self.begins, i) for i in range(len(self.log_z))]


def arc_places(problem: Arcs, heads: NDArray[np.int32], begins: Ints) -> Ints:
    """Return where the arcs into all words are in the row of all tables."""
    sizes = np.diff(problem.nodes.starts)
    words = sizes - 1
    numbers = np.arange(1, words.sum() + 1) - np.repeat(np.cumsum(words) - words, words)
    places: Ints = np.repeat(begins[:-1], words) + heads * np.repeat(sizes, words) + numbers
    return places


def distribution(
    problem: Arcs, weights: FeatureWeights, temperature: float, *, scores: Floats | None = None, n_jobs: int = 1
) -> Distribution:
    """Return the distribution over the trees of each sentence; `scores` are the arc scores, if already computed."""
    begins = tables_begin(problem)
    scores = arc_scores(problem, weights, n_jobs) if scores is None else scores
    result = Distribution(scores, np.zeros(len(scores)), np.zeros(len(begins) - 1), begins)
    kind = problem.projective, problem.one_root

    def fill(first: int, end: int) -> None:
        distributions(scores, begins, first, end, *kind, temperature, result.marginals, result.log_z)

    in_shares(fill, len(begins) - 1, n_jobs)
    without_tree = np.flatnonzero(np.isneginf(result.log_z))
    if len(without_tree):  # every tree has a pruned arc
        model = kernel_model(problem, weights)
        for i in without_tree.tolist():
            table_of(scores, begins, i)[:] = rescued(problem, model, i)[0]
            fill(i, i + 1)
    return result


def best_temperature(
    problem: Arcs, weights: FeatureWeights, gold: Treebank, of: str = "arcs", *, n_jobs: int = 1
) -> float:
    """Return the temperature under which the gold arcs, or whole gold trees, are most probable.

    Left out is what no temperature can make probable: pruned arcs, trees that the parser cannot predict, and sentences
    where every tree has a pruned arc, whose scores were lowered.
    """
    if of not in MEASURES:
        raise unknown_name("measure", of, MEASURES)
    before = arc_scores(problem, weights, n_jobs)
    scores, _, _, begins = distribution(problem, weights, 1.0, scores=before.copy(), n_jobs=n_jobs)
    places = arc_places(problem, gold.trees, begins)
    lowered = np.logical_or.reduceat((scores != before) & ~np.isnan(before), begins[:-1])
    usable_arcs, usable_trees = predictable(problem, gold, lowered)
    totals = np.add.reduceat(np.where(usable_arcs, scores[places], 0.0), gold.offsets[:-1])
    if not (usable_arcs if of == "arcs" else usable_trees).any():
        raise InputError("no gold trees that the parser can predict: a temperature cannot be fitted")

    def loss(temperature: float) -> float:
        """Return -log p of the gold heads, averaged over words or sentences."""
        trees = distribution(problem, weights, temperature, scores=scores, n_jobs=n_jobs)
        if of == "arcs":
            return float(-np.log(np.maximum(trees.marginals[places[usable_arcs]], LEAST)).mean())
        return float((trees.log_z - totals / temperature)[usable_trees].mean())

    return lowest_loss(loss, scale_of(scores, begins))


def predictable(
    problem: Arcs, gold: Treebank, lowered: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each gold arc, and for each gold tree, whether the parser can predict it.

    `lowered` marks the sentences whose scores were lowered because every tree has a pruned arc.
    """
    heads, sentences = gold.trees, gold.offsets[:-1]
    arcs = ~forbidden(problem.tables.longest, problem.nodes.kinds, problem.nodes.starts, heads)
    arcs &= ~np.repeat(lowered, np.diff(gold.offsets))
    wrong = ~arcs | (gold.nonprojective_arcs() if problem.projective else False)
    trees = ~np.logical_or.reduceat(wrong, sentences)
    if problem.one_root:
        trees &= np.add.reduceat(heads == 0, sentences, dtype=np.int64) == 1
    return arcs, trees


def scale_of(scores: Floats, begins: Ints) -> float:
    """Return how much the scores of the heads of a word differ: their standard deviation, averaged over words."""
    spreads = [0.0]
    for i in range(len(begins) - 1):
        table = table_of(scores, begins, i)[:, 1:]
        finite = np.isfinite(table)
        counts = np.maximum(finite.sum(axis=0), 1)
        values = np.where(finite, table, 0.0)
        means = values.sum(axis=0) / counts
        spreads += np.sqrt((np.where(finite, values - means, 0.0) ** 2).sum(axis=0) / counts).tolist()
    return float(np.mean(spreads))
