"""Probabilities of label sequences: k-best labels, marginals, confidences, and the fit of their temperature.

p(y | x) ∝ exp(score(y) / temperature), over the sequences that the constraint allows. A perceptron does not learn this
p: its scores have an arbitrary scale, which the temperature adjusts (`swvp.training.options`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.structures.chain.attributes import AttributeChain, new_model, predict_all
from swvp.structures.chain.k_best import k_best, new_k_best_buffers
from swvp.structures.chain.likelihood import distributions, position_scores
from swvp.structures.chain.marginals import new_chain_buffers, transitions
from swvp.tables import check_count
from swvp.training.options import LEAST, in_shares, lowest_loss
from swvp.types import Floats, Ids

__all__ = ["Confidence", "best_temperature", "confidences", "k_best_labels", "marginals"]

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
    labels, sentences = len(tagger.classes_), len(problem.offsets) - 1
    moves = transitions(tagger.transitions_ + tagger.barrier_, temperature)
    out = np.zeros((len(problem.starts) - 1 if with_marginals else 0, labels))
    scores, log_z = np.zeros(sentences), np.zeros(sentences)

    def fill(a: int, b: int) -> None:
        offsets = problem.offsets[a : b + 1]
        size = int(np.diff(offsets).max())
        node, buffers = np.zeros((size, labels)), new_chain_buffers(labels, size)
        part = problem._replace(offsets=offsets)
        distributions(part, tagger.coef_, moves, node, buffers, out, scores[a:b], log_z[a:b])

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
        position_scores(problem, start, n, tagger.coef_, node)
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
    longest = int(np.diff(problem.offsets).max(initial=0))
    model = new_model(0, len(tagger.classes_), longest)
    model = model._replace(w=tagger.coef_, moves=tagger.transitions_ + tagger.barrier_)
    y = np.empty(len(problem.starts) - 1, np.uint32)
    predict_all(problem, model, y)
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
        raise unknown_name("of", of, MEASURES)
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
    position_scores(problem, 0, len(node), tagger.coef_, node)
    return float(node.std(1).mean()) if node.size else 0.0
