"""Inspection of taggers: large weights, explanations, k-best labels, probabilities.

p(y | x) ∝ exp(score(y) / temperature), over the sequences that the constraint allows. A perceptron does not learn this
p: its scores have an arbitrary scale, which the temperature adjusts (`swvp.training.options`).
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.k_best import k_best, new_k_best_buffers
from swvp.structures.chain.likelihood import distributions, position_scores
from swvp.structures.chain.marginals import new_chain_buffers, transitions
from swvp.tables import WeightTable, check_count
from swvp.tagging.corpus import Corpus, Sentences, check_pairs
from swvp.tagging.decoder import Decoder, nonzero
from swvp.training.options import LEAST, Tempered, in_shares, lowest_loss
from swvp.types import Floats, Ids

__all__ = [
    "Confidence",
    "TaggerInspection",
    "best_temperature",
    "confidences",
    "explain",
    "k_best_labels",
    "marginals",
    "state_features",
    "top_features",
    "top_transitions",
    "transition_features",
]

MEASURES = ("tokens", "sequences")


class Confidence(NamedTuple):
    """The labels that a tagger predicts for a sentence, and their probabilities."""

    labels: list[Any]
    tokens: Floats  # P(y_t = labels[t] | x) of each token
    sequence: float  # P(y = labels | x)


class Distributions(NamedTuple):
    marginals: Floats  # P(y_t = y | x), (positions, labels)
    scores: Floats  # of the labels given, divided by the temperature
    log_z: Floats


def distributions_of(
    tagger: Any, problem: AttributeChain, temperature: float, *, with_marginals: bool = True
) -> Distributions:
    """The distribution of the labels of each sentence; `scores` are those of problem.y."""
    labels, sentences, weights = len(tagger.classes_), len(problem.offsets) - 1, tagger._weights()["w"]
    moves = transitions(tagger.transitions_ + tagger.barrier_, temperature)
    out = np.zeros((len(problem.starts) - 1 if with_marginals else 0, labels))
    scores, log_z = np.zeros(sentences), np.zeros(sentences)

    def fill(a: int, b: int) -> None:
        offsets = problem.offsets[a : b + 1]
        size = int(np.diff(offsets).max())
        node, buffers = np.zeros((size, labels)), new_chain_buffers(labels, size)
        part = problem._replace(offsets=offsets)
        distributions(part, weights, moves, node, buffers, out, scores[a:b], log_z[a:b])

    in_shares(fill, sentences, tagger.n_jobs)
    for i in np.flatnonzero(np.isneginf(log_z)):
        size = problem.offsets[i + 1] - problem.offsets[i]
        raise InputError(f"sentence {i}: the constraint allows no labels for its {size} tokens")
    return Distributions(out, scores, log_z)


def k_best_labels(tagger: Any, problem: AttributeChain, k: int) -> list[list[tuple[list[Any], float]]]:
    """The k best labels of each sentence with their scores, best first; fewer if fewer are allowed."""
    check_count("k", k, 1)
    size = int(np.diff(problem.offsets).max(initial=0))
    k = min(int(k), len(tagger.classes_) ** min(size, 64))  # no sentence has more
    moves, node = tagger.transitions_ + tagger.barrier_, np.zeros((size, len(tagger.classes_)))
    try:
        work = new_k_best_buffers(k, len(tagger.classes_), size)
    except (MemoryError, ValueError, OverflowError):
        raise InputError(f"not enough memory for the {k} best labels of {size} tokens: ask for fewer") from None
    names = np.array([*tagger.classes_, None], object)
    result = []
    for start, end in zip(problem.offsets, problem.offsets[1:], strict=False):
        n = int(end - start)
        position_scores(problem, start, n, tagger._weights()["w"], node)
        count = k_best(n, node, moves, k, *work)
        result.append([(names[work.paths[j, :n]].tolist(), float(work.scores[j])) for j in range(count)])
    return result


def marginals(tagger: Any, problem: AttributeChain) -> list[list[dict[Any, float]]]:
    """The probability of each label at each token of each sentence."""
    probabilities = distributions_of(tagger, problem, tagger.temperature_).marginals.tolist()
    rows = [dict(zip(tagger.classes_, row, strict=True)) for row in probabilities]
    return [rows[a:b] for a, b in zip(problem.offsets, problem.offsets[1:], strict=False)]


def confidences(tagger: Any, problem: AttributeChain) -> list[Confidence]:
    """The best labels of each sentence and their probabilities."""
    y = tagger._predict_ids(problem, tagger._weights())
    computed = distributions_of(tagger, problem._replace(y=y), tagger.temperature_)
    tokens = computed.marginals[np.arange(len(y)), y]
    whole = np.exp(np.minimum(computed.scores - computed.log_z, 0.0)).tolist()
    names = np.array([*tagger.classes_, None], object)[y].tolist()
    bounds = zip(problem.offsets, problem.offsets[1:], strict=False)
    return [Confidence(names[a:b], tokens[a:b], p) for (a, b), p in zip(bounds, whole, strict=True)]


def label_numbers(tagger: Any, y: Sequence[Sequence[Any]]) -> Ids:
    """Labels as numbers; the number of unknown labels is that of all known ones."""
    number = {label: k for k, label in enumerate(tagger.classes_)}
    return np.array([number.get(label, len(number)) for labels in y for label in labels], np.uint32)


def best_temperature(tagger: Any, problem: AttributeChain, y: Sequence[Sequence[Any]], of: str = "tokens") -> float:
    """The temperature under which the gold labels y of tokens, or of whole sentences, are most probable.

    Labels that the tagger does not know, and sentences with labels that the constraint forbids, are left out: no
    temperature makes them probable.
    """
    if of not in MEASURES:
        raise unknown_name("measure", of, MEASURES)
    labels, gold = len(tagger.classes_), label_numbers(tagger, y)
    known = gold < labels
    problem = problem._replace(y=np.minimum(gold, labels - 1).astype(np.uint32))
    tokens = np.flatnonzero(known)
    sentence_of = np.repeat(np.arange(len(y)), np.diff(problem.offsets))
    usable = np.diff(problem.offsets) > 0
    usable[sentence_of[~known]] = False
    usable &= np.isfinite(distributions_of(tagger, problem, 1.0, with_marginals=False).scores)

    def loss(temperature: float) -> float:
        """-log p of the gold labels, a token or a sentence."""
        tokenwise = of == "tokens"
        computed = distributions_of(tagger, problem, temperature, with_marginals=tokenwise)
        if tokenwise:
            return float(-np.log(np.maximum(computed.marginals[tokens, problem.y[tokens]], LEAST)).mean())
        return float((computed.log_z - computed.scores)[usable].mean())

    if not (len(tokens) if of == "tokens" else usable.any()):
        raise InputError("no gold labels that the tagger can predict: a temperature cannot be fitted")
    return lowest_loss(loss, scale_of(tagger, problem))


def scale_of(tagger: Any, problem: AttributeChain) -> float:
    """The standard deviation of the scores of labels at a token, averaged over tokens."""
    node = np.zeros((len(problem.starts) - 1, len(tagger.classes_)))
    position_scores(problem, 0, len(node), tagger._weights()["w"], node)
    return float(node.std(1).mean()) if node.size else 0.0


# ---------------------------------------------------------------- weights

EDGE = "(edge)"


def top_features(tagger: Any, label: Any = None, n: int = 20) -> WeightTable:
    """The attributes with the largest |weight|, of one label or of all."""
    check_count("n", n)
    columns = range(len(tagger.classes_)) if label is None else [number_of(tagger, label)]
    weights = tagger.coef_ if label is None else tagger.coef_[:, columns]
    attributes, labels, values = nonzero(weights)  # sorting all weights would take too much memory
    largest = np.argsort(-np.abs(values), kind="stable")[:n]
    names = tagger.encoder_.names(attributes[largest].tolist())
    rows = [
        (tagger.classes_[columns[k]], name, float(value))
        for name, k, value in zip(names, labels[largest], values[largest], strict=True)
    ]
    return WeightTable("Features with the largest weights", ("label", "feature", "weight"), rows)


def top_transitions(tagger: Any, n: int = 20) -> WeightTable:
    """The transitions with the largest |weight|; (edge) is before the first and after the last token."""
    check_count("n", n)
    weights = np.where(np.isfinite(tagger.barrier_), tagger.transitions_, 0.0)
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:n]
    names = [*map(str, tagger.classes_), EDGE]
    pairs = zip(*np.unravel_index(order, weights.shape), strict=True)
    rows = [(names[a], names[b], float(weights[a, b])) for a, b in pairs if weights[a, b] != 0]
    return WeightTable("Transitions with the largest weights", ("from", "to", "weight"), rows)


def state_features(tagger: Any) -> dict[tuple[str, Any], float]:
    """All weights of attributes that are not 0: {(attribute, label): weight}."""
    attributes, labels, weights = nonzero(tagger.coef_)
    names = tagger.encoder_.names(range(tagger.n_attributes_))
    keys = ((names[a], tagger.classes_[y]) for a, y in zip(attributes.tolist(), labels.tolist(), strict=True))
    return dict(zip(keys, weights.tolist(), strict=True))


def transition_features(tagger: Any) -> dict[tuple[Any, Any], float]:
    """All weights of transitions between labels that are not 0 and not forbidden: {(label, next label): weight}."""
    weights = np.where(np.isfinite(tagger.barrier_), tagger.transitions_, 0.0)[:-1, :-1]
    pairs = zip(*np.nonzero(weights), strict=True)
    return {(tagger.classes_[a], tagger.classes_[b]): float(weights[a, b]) for a, b in pairs}


def explain(
    tagger: Any, problem: AttributeChain, words: list[str], position: int | None = None, n: int = 5
) -> WeightTable:
    """A table that shows why each token of a sentence has its label and not the second best one.

    The second best label of a token has the next highest score, with all other labels as predicted. A row is one
    feature: its weight for the predicted label minus its weight for the second best one. Of each token the n largest
    are shown.
    """
    check_count("n", n)
    predicted = tagger._predict_ids(problem, tagger._weights()).astype(int)
    size, edge = len(predicted), len(tagger.classes_)
    if position is not None and not (isinstance(position, numbers.Integral) and 0 <= position < size):
        raise InputError(f"there is no token {position}: the sentence has {size}")
    moves = tagger.transitions_ + tagger.barrier_
    words = words or [str(t) for t in range(size)]
    rows: list[tuple[Any, ...]] = []
    for t in range(size) if position is None else [position]:
        attributes = problem.attributes[problem.starts[t] : problem.starts[t + 1]]
        values = problem.values[problem.starts[t] : problem.starts[t + 1]] if len(problem.values) else 1.0
        rows_here = tagger.coef_[attributes]
        weights = (rows_here if tagger._rows is None else rows_here.toarray()) * np.reshape(values, (-1, 1))
        before = predicted[t - 1] if t else edge
        after = predicted[t + 1] if t + 1 < size else edge
        score = weights.sum(axis=0) + moves[before, :edge] + moves[:edge, after]
        first = predicted[t]
        others = [k for k in np.argsort(-score, kind="stable") if k != first]
        second = int(others[0]) if others else int(first)
        labels = (tagger.classes_[first], tagger.classes_[second])
        parts = list(
            zip(tagger.encoder_.names(attributes.tolist()), weights[:, first] - weights[:, second], strict=True)
        )
        before_name, after_name = ([*tagger.classes_, EDGE][k] for k in (before, after))
        if np.isfinite(score[second]):
            parts.append((f"after {before_name}", moves[before, first] - moves[before, second]))
            parts.append((f"before {after_name}", moves[first, after] - moves[second, after]))
        parts = sorted((part for part in parts if part[1] != 0), key=lambda part: -abs(part[1]))[:n]
        rows += [(words[t], *labels, name, float(weight)) for name, weight in parts]
    title = "What decided the labels: weight for the label minus weight for the second best"
    return WeightTable(title, ("token", "label", "second", "feature", "difference"), rows)


def number_of(tagger: Any, label: Any) -> int:
    if label not in tagger.classes_:
        raise unknown_name("label", str(label), [str(name) for name in tagger.classes_])
    return int(tagger.classes_.index(label))


class TaggerInspection(Tempered):
    """The methods of `SequenceTagger` that inspect its weights."""

    order: int
    decoder: str
    coef_: Any

    if TYPE_CHECKING:  # defined by the tagger

        def _check_fitted(self) -> None: ...
        def _corpus(self, X: Sentences) -> Corpus: ...
        def _encode(self, corpus: Corpus) -> AttributeChain: ...
        def _decoder(self) -> Decoder: ...

    def top_features(self, label: Any = None, n: int = 20) -> WeightTable:
        """Return the features with the largest weights, of one label or of all, as a table."""
        self._check_fitted()
        return top_features(self, label, n)

    def top_transitions(self, n: int = 20) -> WeightTable:
        """Return the transitions between labels with the largest weights, as a table."""
        self._check_fitted()
        return top_transitions(self, n)

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """The weights of attributes that are not 0, as in sklearn-crfsuite: {(attribute, label): weight}."""
        self._check_fitted()
        return state_features(self)

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """The weights of adjacent labels that are not 0, as in sklearn-crfsuite: {(label, next label): weight}."""
        self._check_fitted()
        return transition_features(self)

    def explain(self, sentence: Sequence[Any], position: int | None = None, n: int = 5) -> WeightTable:
        """Return the features that decided the labels of a sentence, or of one token: the n largest of each token."""
        return explain(self, self._first_order([sentence]), self._corpus([sentence]).words(), position, n)

    def predict_k_best(self, X: Sentences, k: int) -> list[list[tuple[list[Any], float]]]:
        """Return the k best label sequences of each sentence, best first, as (labels, score).

        There are fewer if the constraint allows fewer. The first one is that of `predict`. Scores are sums of weights:
        only their differences have a meaning.
        """
        return k_best_labels(self, self._first_order(X), k)

    def predict_marginals(self, X: Sentences) -> list[list[dict[Any, float]]]:
        """Return the probability of each label for each token, as in sklearn-crfsuite; see `confidence` for caveats."""
        return marginals(self, self._first_order(X))

    def predict_marginals_single(self, sentence: Sequence[Any]) -> list[dict[Any, float]]:
        """Return the probability of each label for each token of one sentence."""
        return self.predict_marginals([sentence])[0]

    def confidence(self, X: Sentences) -> list[Confidence]:
        """Return how certain each predicted sentence is.

        A `Confidence` has `labels`, as `predict` returns them, `tokens`, the marginal probability of each label, and
        `sequence`, the probability of all labels together.

        A perceptron does not learn these probabilities. They are exp(score / temperature_), divided by the sum over all
        allowed label sequences. Without `fit_temperature` the temperature is 1 and the scale of the scores arbitrary:
        most values are far too close to 1, and only their order within a sentence has some meaning. After
        `fit_temperature` on a dev set they are right on average for data of that kind, not each by itself.
        """
        return confidences(self, self._first_order(X))

    def fit_temperature(self, X: Sentences, y: Sequence[Sequence[Any]], *, of: str = "tokens") -> Self:
        """Set `temperature_` to the value that makes gold labels most probable; it changes no prediction.

        Parameters
        ----------
        X, y : lists
            Sentences and their labels, not those of `fit`, on which the tagger is right too often.
        of : str, default "tokens"
            Whose log-likelihood is maximised: that of "tokens" (their marginals) or of whole "sequences".

        Returns
        -------
        self
        """
        check_pairs(X, y)
        self.temperature_ = best_temperature(self, self._first_order(X), y, of)
        return self

    def _first_order(self, X: Sentences) -> AttributeChain:
        """Encode sentences; InputError unless the tagger is first order with exact search."""
        self._check_fitted()
        if self.order != 1 or self.decoder != "viterbi":
            raise InputError("k-best labels, marginals, confidences and explanations need order 1 and exact search")
        return self._decoder().problem(self._encode(self._corpus(X)))  # type: ignore[no-any-return]
