"""Taggers with many labels: sparse weights, few candidates for each token, and how often gold labels are among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import UpdateRule
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.likelihood import occurrences
from swvp.structures.chain.rows import Rows, rows_of_positions
from swvp.structures.chain.sparse import candidates_of_positions, new_sparse_model
from swvp.structures.exact import averaged
from swvp.tagging.corpus import Corpus, gold_numbers
from swvp.tagging.decoder import Decoder
from swvp.training.training import ForRule
from swvp.types import Floats, Int32s, Ints

__all__ = [
    "MANY",
    "candidates_note",
    "learn_rows",
    "matrix",
    "nonzero",
    "number_of_candidates",
    "recall_note",
    "rows_of",
]

MANY, CANDIDATES = 100, 8
"""With more labels a tagger looks at few candidates, and how many."""


def number_of_candidates(given: int | None, labels: int) -> int:
    """How many labels of a token are looked at, by the option `candidates`; 0 stands for dense weights and all labels.

    >>> number_of_candidates(None, 45), number_of_candidates(None, 289), number_of_candidates(20, 10)
    (0, 8, 10)
    """
    if given is None:
        return CANDIDATES if labels > MANY else 0
    return min(given, labels)


def learn_rows(chain: AttributeChain, decoder: Decoder, rule: UpdateRule, for_rule: ForRule, attributes: int) -> Rows:
    """The labels for which attributes have weights: those of the candidates of the tokens that they occur at.

    The candidates, which include the gold labels, are those after one epoch of training, with weights of seen pairs
    only, over the sentences in their order.
    """
    labels = len(decoder.barrier) - 1
    where = occurrences(chain.attributes, np.zeros(0), chain.starts, attributes)
    decoder = decoder._replace(rows=rows_of_positions(where, chain.y.astype(np.int32)[:, None], labels))
    problem, power = for_rule(decoder.problem(chain), rule)
    sentences = len(chain.offsets) - 1
    model = decoder.new_model(attributes, int(np.diff(chain.offsets).max()))
    for _ in run_epochs(problem, model, rule, examples=sentences, epochs=1, power=power):
        pass
    weights = averaged(model.w, model.delayed, float(sentences) ** power)
    return rows_of_positions(where, candidates_under(problem, decoder, {"w": weights}), labels)


def candidates_under(problem: Any, decoder: Decoder, weights: Mapping[str, Floats]) -> Int32s:
    """The candidates of each position under these weights, and its gold label if the problem has any; -1 for none."""
    assert decoder.rows is not None
    labels = len(decoder.barrier) - 1
    model = new_sparse_model(decoder.rows, labels, int(np.diff(problem.offsets).max()), decoder.barrier)
    found = np.empty((len(problem.starts) - 1, min(decoder.candidates + 1, labels)), np.int32)
    candidates_of_positions(problem, model._replace(w=weights["w"]), found)
    return found


def matrix(rows: Rows, values: Floats, labels: int) -> Any:
    """Weights as a sparse matrix (attribute, label) without zeros."""
    from scipy.sparse import csr_array

    result = csr_array((values, rows.labels.astype(np.int32), rows.starts), shape=(len(rows.starts) - 1, labels))
    result.eliminate_zeros()
    return result


def rows_of(weights: Any) -> Rows:
    """The labels of the attributes of a sparse matrix."""
    return Rows(weights.indptr.astype(np.int64), weights.indices.astype(np.uint32))


def nonzero(weights: Any) -> tuple[Ints | Int32s, Ints | Int32s, Floats]:
    """The attributes, the labels and the values of the weights that are not 0, by attribute, then by label."""
    if isinstance(weights, np.ndarray):
        places = np.flatnonzero(weights)
        attributes, labels = np.unravel_index(places, weights.shape)
        return attributes, labels, weights.reshape(-1)[places]
    triples = weights.tocoo()
    return triples.row, triples.col, triples.data


def candidates_note(tagger: Any) -> str | None:
    """How many labels of a token are looked at; None if all are."""
    if not tagger.candidates_:
        return None
    size = f"{tagger.candidates_} of {len(tagger.classes_)} labels for each token"
    return f"candidates: {size}" + (" (others: --candidates)" if tagger.candidates is None else "")


def recall_note(tagger: Any, corpus: Corpus, name: str) -> str | None:
    """How often the gold label of a token of a corpus is among its candidates; None if all labels are."""
    if not 0 < tagger.candidates_ < len(tagger.classes_) or not corpus.tokens:
        return None
    decoder: Decoder = tagger._decoder()
    assert decoder.rows is not None
    problem = decoder.problem(tagger._encode(corpus))
    found = candidates_under(problem, decoder, tagger._weights())
    share = (found == gold_numbers(corpus, list(tagger.classes_))[:, None]).any(axis=1).mean()
    return f"candidates: {100 * share:.2f} % of the {name} tokens have their gold label among the {tagger.candidates_}"
