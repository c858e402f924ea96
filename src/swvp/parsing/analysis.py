"""The methods of a fitted parser beyond prediction: explanations, k-best trees, probabilities."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.parsing.input import Sentences, treebank_from
from swvp.parsing.labeller import Labeller
from swvp.parsing.probabilities import Distribution, best_temperature, distribution
from swvp.parsing.pruner import Pruner
from swvp.parsing.tree import DependencyTree, trees_of
from swvp.parsing.tree_model import FeatureWeights, TreeModel
from swvp.parsing.treebank import Treebank
from swvp.structures.tree.first_order.model import Arcs, Heads
from swvp.structures.tree.tag_pruning import Pruned
from swvp.tables import WeightTable, check_count
from swvp.training.options import Tempered
from swvp.types import Floats

__all__ = ["ParserAnalysis"]

MOST_STEPS = 20_000_000
"""The limit of one explanation, enough for all words of a sentence of up to 271 words."""


class ParserAnalysis(Tempered):
    """The part of `Parser` that explains predictions and says how sure they are."""

    projective: bool
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
            A row for each feature: its weight for the predicted head minus that for the second-best one.
        """
        self._check_fitted()
        is_list = not isinstance(sentence, (Treebank, str)) and not hasattr(sentence, "__fspath__")
        treebank = treebank_from([sentence] if is_list else sentence, heads=None).select(np.array([0]))
        check_count("n", n)
        if word is not None and not (isinstance(word, numbers.Integral) and 1 <= word <= treebank.tokens):
            raise InputError(f"there is no word {word!r}: the sentence has words 1 to {treebank.tokens}")
        words = range(1, words_explained(treebank.tokens) + 1) if word is None else range(int(word), int(word) + 1)
        table = self.model_.explain(treebank, self._encoded(treebank), self._weights, words, n)
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
        return self.model_.top_features(treebank, self._encoded(treebank), self._weights, n)

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
            `predict`. Scores are sums of weights: only their differences have a meaning. The labels are the best ones
            for each tree and do not count in its score.
        """
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        problem = self._encoded(treebank)
        check_count("k", k, 1)
        ranked = self.model_.k_best(problem, self._weights, k, self.n_jobs)
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
            probability 0.
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
        arcs, weights = self.model_.arc_model(self._encoded(treebank), self._weights)
        self.temperature_ = best_temperature(arcs, weights, treebank, of, n_jobs=self.n_jobs)
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
            1 in first order, where the search is exact.
        """
        self._check_fitted()
        problem = self._encoded(treebank_from(X, heads=None))
        return self.model_.certified_share(problem, self._weights, self.n_jobs)

    @property
    def search_is_bounded(self) -> bool:
        """Whether the search for the tree of a long sentence may stop before the best one is found."""
        return not (self.model_.searches_exactly or self.projective)

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
        """Return the arcs of a treebank and the distribution over their trees."""
        arcs, weights = self.model_.arc_model(self._encoded(treebank), self._weights)
        return arcs, distribution(arcs, weights, self.temperature_, n_jobs=self.n_jobs)

    def _labels(self, treebank: Treebank, heads: Heads) -> Any:
        """Return the best labels of the arcs from these heads, or None if labels were not learnt."""
        return None if self.labeller_ is None else self.labeller_.predict(treebank, heads, n_jobs=self.n_jobs)


def words_explained(size: int) -> int:
    """Return how many words of a sentence are explained at once: each needs a search of about size² steps."""
    return min(size, max(1, MOST_STEPS // size**2))
