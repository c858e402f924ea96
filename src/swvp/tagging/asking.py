"""Owns what a fitted tagger can be asked besides its labels: why, how sure, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from swvp.errors import InputError
from swvp.scoring.weights import WeightTable
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.operations import Floats
from swvp.tagging.corpus import Corpus, Sentences, check_pairs
from swvp.tagging.inspect import explain, top_features, top_transitions
from swvp.tagging.probabilities import Confidence, best_temperature, confidences, k_best_labels, marginals
from swvp.training.temperature import Tempered

__all__ = ["Asking"]


class Asking(Tempered):
    """The part of `SequenceTagger` that looks into its weights."""

    order: int
    decoder: str
    coef_: Floats

    if TYPE_CHECKING:  # what the rest of the tagger gives

        def _check_fitted(self) -> None: ...
        def _corpus(self, X: Sentences) -> Corpus: ...
        def _encode(self, corpus: Corpus) -> AttributeChain: ...

    def top_features(self, label: Any = None, n: int = 20) -> WeightTable:
        """The features with the largest weights, of one label or of all; a table in a notebook."""
        self._check_fitted()
        return top_features(self, label, n)

    def top_transitions(self, n: int = 20) -> WeightTable:
        """The transitions between labels with the largest weights."""
        self._check_fitted()
        return top_transitions(self, n)

    def explain(self, sentence: Sequence[Any], position: int | None = None, n: int = 5) -> WeightTable:
        """The features that decided the labels of a sentence, or of one token: the n largest of each token."""
        return explain(self, self._first_order([sentence]), self._corpus([sentence]).words(), position, n)

    def predict_k_best(self, X: Sentences, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of each sentence, best first, as (labels, score); fewer if fewer are allowed.

        The first is what `predict` gives. Scores are sums of weights: only their differences mean something.
        """
        return k_best_labels(self, self._first_order(X), k)

    def predict_marginals(self, X: Sentences) -> list[list[dict[Any, float]]]:
        """For each token the probability of each label, as sklearn-crfsuite gives it; read `confidence` first."""
        return marginals(self, self._first_order(X))

    def confidence(self, X: Sentences) -> list[Confidence]:
        """For each sentence: `labels`, what `predict` gives; `tokens`, their marginals; `sequence`, that of them all.

        These are not probabilities that the perceptron has learnt. They are exp(score / temperature_), divided by the
        sum over all allowed label sequences. Without `fit_temperature` the temperature is 1 and the scale of the
        scores arbitrary, so the numbers only order the tokens of a sentence, more or less; most are far too near to
        1. After `fit_temperature` on held-out data they are right on average for data of that kind, which does not
        make each of them right.
        """
        return confidences(self, self._first_order(X))

    def fit_temperature(self, X: Sentences, y: Sequence[Sequence[Any]], *, of: str = "tokens") -> Self:
        """Set `temperature_` to what makes the gold labels of held-out data most probable; changes no prediction.

        The data must not be those of `fit`: on these the tagger is right more often than elsewhere. `of` says whose
        log-likelihood is made largest, that of "tokens" (their marginals) or of whole "sequences".
        """
        check_pairs(X, y)
        self.temperature_ = best_temperature(self, self._first_order(X), y, of)
        return self

    def _first_order(self, X: Sentences) -> AttributeChain:
        """Sentences for what only first-order chains have: marginals, k-best labels, explanations."""
        self._check_fitted()
        if self.order != 1 or self.decoder != "viterbi":
            raise InputError("k-best labels, marginals, confidences and explanations need order 1 and exact search")
        return self._encode(self._corpus(X))
