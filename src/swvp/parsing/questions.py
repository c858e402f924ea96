"""Owns what a fitted parser can be asked besides its trees: why, how sure, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.parsing.input import Sentences, treebank_from
from swvp.parsing.inspection import explain, top_features
from swvp.parsing.k_best import k_best_second
from swvp.parsing.labeller import Labeller
from swvp.parsing.probabilities import best_temperature, distribution, k_best_heads
from swvp.parsing.tree import trees_of
from swvp.parsing.treebank import Treebank
from swvp.structures.tree.first_order.distributions import table_of
from swvp.structures.tree.first_order.model import Arcs, Heads
from swvp.structures.tree.second_order.model import SecondOrder
from swvp.tables import WeightTable, check_count
from swvp.training.temperature import Tempered
from swvp.types import Floats

__all__ = ["ParserAsking"]


class ParserAsking(Tempered):
    """The part of `DependencyParser` that looks into its weights."""

    n_jobs: int
    coef_: Floats
    labeller_: Labeller | None

    if TYPE_CHECKING:  # what the rest of the parser gives

        def _check_fitted(self) -> None: ...
        def _arcs(self, treebank: Treebank) -> Arcs: ...
        def _encoded(self, treebank: Treebank) -> Arcs | SecondOrder: ...
        def predict_trees(self, treebank: Treebank) -> tuple[Heads, Any]: ...

    def explain(self, sentence: Any, word: int | None = None, n: int = 5) -> WeightTable:
        """The features that decided the heads of a sentence, or of one word (from 1): the n largest of each word.

        The sentence is a list of tokens, or a treebank, its text or its file, of which the first sentence is taken.
        """
        self._check_fitted()
        listed = not isinstance(sentence, (Treebank, str)) and not hasattr(sentence, "__fspath__")
        return explain(self, treebank_from([sentence] if listed else sentence, heads=None), word, n)

    def top_features(self, X: Sentences, n: int = 20) -> WeightTable:
        """The features with the largest weights of those that occur on arcs of these sentences.

        A hashed weight has no name: it can be named only where a feature has it. So a feature that is heavy elsewhere
        is not here, and two features that share a weight are both shown with it.
        """
        self._check_fitted()
        return top_features(self, treebank_from(X, heads=None), n)

    def predict_k_best(self, X: Sentences, k: int) -> list[list[tuple[Any, float]]]:
        """The k best trees of each sentence, best first, as (DependencyTree, score); fewer if fewer are allowed.

        The first is what `predict` gives. Scores are sums of weights: only their differences mean something. Labels are
        the best ones for each tree, and have no part in its score.
        """
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        problem = self._encoded(treebank)
        if isinstance(problem, SecondOrder):
            check_count("k", k, 1)
            found = k_best_second(self, problem, k)
        else:
            found = k_best_heads(self, problem, k)
        result: list[list[tuple[Any, float]]] = [[] for _ in found]
        for rank in range(max(map(len, found), default=0)):
            heads = np.concatenate([trees[min(rank, len(trees) - 1)][0] for trees in found])
            shown = trees_of(treebank, heads, self._labels(treebank, heads))
            for i, trees in enumerate(found):
                if rank < len(trees):
                    result[i].append((shown[i], trees[rank][1]))
        return result

    def predict_marginals(self, X: Sentences) -> list[Floats]:
        """For each sentence of n words an array p, (n + 1, n + 1): p[h, m] is the probability that h is the head of m.

        Words are numbered from 1 as in trees; 0 is the root, so column 0 is 0 and every other column sums to 1. Pruned
        arcs have probability 0. Read `confidence` first.
        """
        self._check_fitted()
        problem = self._arcs(treebank_from(X, heads=None))
        found = distribution(self, problem, self.temperature_)
        return [table_of(found.marginals, found.begins, i) for i in range(len(found.log_z))]

    def confidence(self, X: Sentences) -> NDArray[np.object_]:
        """What `predict` gives, each `DependencyTree` with `confidence`: the probability of the arc into each word.

        These are not probabilities that the perceptron has learnt. They are exp(score / temperature_), summed over the
        trees with that arc and divided by the sum over all trees. Without `fit_temperature` the temperature is 1 and
        the scale of the scores arbitrary: most are far too near to 1. After `fit_temperature` on held-out data they are
        right on average for data of that kind, which does not make each of them right. They say nothing about labels.
        A parser of second order has those of its pruner, a log-linear model of arcs, which learns probabilities.
        """
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        heads, labels = self.predict_trees(treebank)
        problem = self._arcs(treebank)
        found = distribution(self, problem, self.temperature_).of(problem, heads)
        return trees_of(treebank, heads, labels, found)

    def fit_temperature(self, X: Sentences, y: Any = None, *, of: str = "arcs") -> Self:
        """Set `temperature_` to what makes the gold heads of held-out data most probable; changes no prediction.

        The data must not be those of `fit`: on these the parser is right more often than elsewhere. `of` says whose
        log-likelihood is made largest, that of "arcs" (their probabilities) or of whole "trees".
        """
        treebank = treebank_from(X, y, heads=True)
        self._check_fitted()
        self.temperature_ = best_temperature(self, self._arcs(treebank), treebank, of)
        return self

    def _labels(self, treebank: Treebank, heads: Heads) -> Any:
        """The best labels of the arcs from these heads, if labels were learnt."""
        return None if self.labeller_ is None else self.labeller_.predict(treebank, heads, n_jobs=self.n_jobs)
