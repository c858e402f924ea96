"""How labels are predicted: constraints, exact search or a beam, first or second order, few candidates, or a vote.

Constraints say which label may follow which: the schemes of chunking and named entities, or a user's own. With many
labels, weights are sparse and each token has few candidates. A vote is one of many weight vectors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_real, shown, unknown_name
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import UpdateRule
from swvp.learning.voting import Hypotheses, Recorder
from swvp.structures.chain import attributes as exact
from swvp.structures.chain import search, sparse
from swvp.structures.chain.attributes import NO_COSTS, AttributeChain, AttributeModel, take_over
from swvp.structures.chain.beam import FIXES
from swvp.structures.chain.growing import new_growing_model, predict_with_rows
from swvp.structures.chain.likelihood import occurrences
from swvp.structures.chain.rows import Rows, WeightRows, rows_of_positions
from swvp.structures.chain.sparse import candidates_of_positions, new_sparse_model
from swvp.structures.chain.voting import chain_votes, changed_weights, most_changes, vote_all
from swvp.structures.exact import GRID, averaged
from swvp.structures.operations import refresh
from swvp.tagging.corpus import Corpus, before_and_after, gold_numbers, numbered
from swvp.training.options import in_shares
from swvp.training.training import SUMS, ForRule, Weights, weight_names
from swvp.types import Floats, Ids, Int32s, Ints

__all__ = [
    "DECODERS",
    "MANY",
    "SCHEMES",
    "Decoder",
    "barrier",
    "candidates_note",
    "check_allowed",
    "check_vote",
    "costs_of",
    "decoder_of",
    "learn_rows",
    "matrix",
    "nonzero",
    "number_of_candidates",
    "recall_note",
    "recorder_of",
    "repaired",
    "rows_of",
    "vote_ids",
]

BOUNDARY = None


def iob2(previous: str | None, label: str | None) -> bool:
    """I-X only after B-X or I-X."""
    return (
        label is None or label[:1] != "I" or (previous is not None and previous[:1] in "BI" and same(previous, label))
    )


def iob1(previous: str | None, label: str | None) -> bool:
    """B-X only after B-X or I-X: where a phrase follows another one of its type."""
    return (
        label is None or label[:1] != "B" or (previous is not None and previous[:1] in "BI" and same(previous, label))
    )


def bioes(previous: str | None, label: str | None) -> bool:
    """B-X I-X* E-X, or S-X alone, or O."""
    inside = previous is not None and previous[:1] in "BI" and previous != "O"
    goes_on = label is not None and label[:1] in "IE"
    return inside == goes_on and (not inside or same(previous, label))


def same(a: str | None, b: str | None) -> bool:
    return a is not None and b is not None and a[1:] == b[1:]


SCHEMES: dict[str, Callable[[str | None, str | None], bool]] = {
    "bio": iob2,
    "iob1": iob1,
    "iob2": iob2,
    "bioes": bioes,
}

Place = Callable[[int], str]
Constraint = str | Callable[[str | None, str | None], bool] | Collection[tuple[str | None, str | None]]


def barrier(constraint: Constraint | None, labels: Sequence[Any]) -> Floats:
    """0 where a transition is allowed, -inf where not, at [previous, label]; the last index is the boundary.

    A constraint is the name of a scheme, a function (previous, label) -> bool, or the allowed pairs, in which None
    stands for the boundary of a sentence.
    """
    ends = [*labels, BOUNDARY]
    if constraint is None:
        return np.zeros((len(ends), len(ends)))
    if isinstance(constraint, str):
        if constraint not in SCHEMES:
            raise unknown_name("constraint", constraint, SCHEMES)
        for label in labels:
            if not isinstance(label, str):
                raise InputError(f"the constraint '{constraint}' is for labels that are strings, not {label!r}")
        allowed: Callable[[Any, Any], bool] = SCHEMES[constraint]
    elif callable(constraint):
        allowed = constraint
    else:
        pairs = pairs_of(constraint)
        allowed = lambda previous, label: (previous, label) in pairs  # noqa: E731
    open_to = np.array([[bool(allowed(previous, label)) for label in ends] for previous in ends])
    return np.where(open_to, 0.0, -np.inf)


def pairs_of(constraint: Any) -> set[tuple[Any, Any]]:
    """The allowed pairs, given as tuples or lists; InputError if they are something else."""
    given: list[Any] = list(constraint) if isinstance(constraint, Collection) else [None]
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in given):
        raise InputError("a constraint is the name of a scheme, a function, or pairs (previous label, label)")
    try:
        return {(previous, label) for previous, label in given}
    except TypeError:
        raise InputError("the pairs of a constraint must be pairs of labels") from None


def repaired(constraint: Constraint | None, corpus: Corpus) -> Corpus:
    """A corpus with B-X instead of I-X at the beginning of phrases (as in IOB1), if the constraint is IOB2.

    conlleval finds the same phrases in both. A warning says how many labels were changed.
    """
    labels = corpus.labels
    if (
        not isinstance(constraint, str)
        or constraint not in ("bio", "iob2")
        or labels is None
        or not all(isinstance(name, str) for name in labels.names)
    ):
        return corpus
    before, _ = before_and_after(labels.ids, corpus.offsets, len(labels.names))
    broken = np.flatnonzero(np.isneginf(barrier("iob2", labels.names)[before, labels.ids]))
    if not len(broken):
        return corpus
    texts = np.array(labels.names, object)[labels.ids]
    texts[broken] = ["B" + text[1:] for text in texts[broken]]
    warnings.warn(
        f"{len(broken):,} {'label begins' if len(broken) == 1 else 'labels begin'} a phrase with I-, read as B- "
        f"for the constraint '{constraint}' "
        f"(the first: {corpus.place(int(broken[0]))})",
        stacklevel=4,
    )
    return corpus._replace(labels=numbered(texts.tolist()))


def check_allowed(
    bars: Floats, labels: Sequence[Any], gold: NDArray[Any], offsets: Ints, place: Place, constraint: Constraint | None
) -> None:
    """Raise InputError if training data break the constraint, with the first place."""
    name = f" {constraint}" if isinstance(constraint, str) else ""
    if np.isfinite(bars).all() or not len(gold):
        return
    end = len(labels)
    before, after = before_and_after(gold, offsets, end)
    names = [*labels, "the end"]
    broken = np.flatnonzero(np.isneginf(bars[before, gold]))
    ending = np.flatnonzero(np.isneginf(bars[gold, after]) & (after == end))
    if len(broken) or len(ending):
        at, pair = (
            (int(broken[0]), (before[broken[0]], gold[broken[0]]))
            if len(broken)
            else (int(ending[0]), (gold[ending[0]], end))
        )
        previous, label = ("the beginning" if k == end and len(broken) else names[k] for k in pair)
        raise InputError(
            f"{place(at)}: the constraint{name} does not allow {label} after {previous}: leave out the constraint, or "
            "correct the label"
        )


# ---------------------------------------------------------------- costs


def costs_of(margin: float, cost: Mapping[Any, float] | None, labels: Sequence[Any]) -> Floats:
    """What each label costs in the place of a gold label, at [gold label, label]; empty if nothing costs anything.

    `cost` has factors of the margin, 1 by default: of a gold label, or of a pair (gold label, label).
    """
    factor = 1.0 - np.eye(len(labels))
    number = {label: k for k, label in enumerate(labels)}
    for key, value in sorted((cost or {}).items(), key=lambda item: isinstance(item[0], tuple)):  # pairs come last
        if not is_real(value) or value < 0:
            raise InputError(f"cost of {key!r} must be a number of at least 0, not {shown(value)}")
        pair = key if isinstance(key, tuple) and key not in number else (key,)
        if len(pair) > 2 or any(label not in number for label in pair):
            raise InputError(f"cost: {key!r} is neither a label of the training data nor a pair (gold, predicted)")
        if len(pair) == 1:
            factor[number[pair[0]]] *= value
        elif pair[0] != pair[1]:
            factor[number[pair[0]], number[pair[1]]] = value
    costs = np.floor(margin * factor / GRID + 0.5) * GRID  # on the grid: sums of weights and costs are exact
    return costs if costs.any() else NO_COSTS


# ---------------------------------------------------------------- search

DECODERS = ("viterbi", "beam")
ROW_STARTS, ROW_LABELS = "row_starts", "row_labels"
"""Where the weights `w` are those of `WeightRows`, the names of its other arrays."""


class Decoder(NamedTuple):
    """The search for labels; width 0 is exact search.

    With `rows`, weights are those of these pairs of attributes and labels, and `candidates` labels of each token are
    looked at. Without, each pair has a weight, and all labels are looked at. If it `grows`, a model for training has
    weights only for pairs whose weight has changed.
    """

    barrier: Floats
    order: int
    width: int
    fix: str
    rows: Rows | None = None
    candidates: int = 0
    grows: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is first order and exact: the fastest search, and the one with marginals and k-best labels."""
        return self.order == 1 and not self.width

    def problem(self, chain: AttributeChain) -> Any:
        """The problem that training with this search takes."""
        if self.rows is not None:
            return sparse.as_sparse(chain, self.rows, self.candidates)
        return chain if self.plain else search.as_search(chain, self.fix)

    def new_model(self, attributes: int, longest: int) -> Any:
        """A model with all weights 0 and buffers for sentences of up to `longest` tokens."""
        labels = len(self.barrier) - 1
        if self.rows is not None:
            return sparse.new_sparse_model(self.rows, labels, longest, self.barrier)
        if self.plain:
            growing = new_growing_model(attributes, labels, longest, self.barrier) if self.grows else None
            return exact.new_model(attributes, labels, longest, self.barrier) if growing is None else growing
        return search.new_search_model(attributes, labels, longest, self.barrier, self.order, self.width)

    def extended_model(self, old: Weights, labels: int, attributes: int, longest: int) -> Any:
        """A model that starts from old weights, and averaging sums, which are for the first `labels` labels."""
        model = self.new_model(attributes, longest)
        parts = [part for name in weight_names(model) for part in (name, SUMS[name]) if part in old]
        take_over(model, {part: old[part] for part in parts}, labels)
        return model

    def predict(self, chain: AttributeChain, weights: Weights, out: Ids) -> None:
        """Write the best labels under these weights into `out`."""
        if ROW_STARTS in weights:
            longest = int(np.diff(chain.offsets).max(initial=0))
            node, value = np.zeros((2, longest, len(self.barrier) - 1))
            w = weights[ROW_STARTS], weights[ROW_LABELS], weights["w"]
            predict_with_rows(chain, *w, weights["w_move"] + self.barrier, node, value, out)
            return
        model = self.new_model(0, int(np.diff(chain.offsets).max(initial=0)))._replace(**weights)
        refresh(model)
        if self.rows is not None:
            sparse.predict_sparse(self.problem(chain), model, out)
        elif self.plain:
            exact.predict_all(chain, model, out)
        else:
            search.predict_all(search.as_search(chain), model, out)


def decoder_of(name: str, barrier: Floats, order: int, width: int, fix: str) -> Decoder:
    """The decoder of a tagger's parameters; InputError if one of them is wrong."""
    if name not in DECODERS:
        raise unknown_name("decoder", name, DECODERS)
    if fix not in FIXES:
        raise unknown_name("fix", fix, FIXES)
    beam = name == "beam"
    if beam and width == 0:
        raise InputError("width must be a whole number of at least 1, not 0")
    decoder = Decoder(barrier, order, width if beam else 0, fix if beam else "none")
    if not decoder.plain or isinstance(order, bool):
        search.check_search(decoder.order, decoder.width, decoder.fix)
    return decoder


def check_vote(decoder: Decoder, *, crf: bool) -> None:
    """Raise InputError if the weight vectors of training cannot be recorded or replayed."""
    if crf:
        raise InputError("rule 'crf' has one weight vector: nothing to vote with; leave out vote, or use another rule")
    if not decoder.plain:
        raise InputError("vote is for order 1 and exact search: leave out vote, or the beam or order 2")


def recorder_of(problem: AttributeChain, model: AttributeModel) -> Recorder:
    """A recorder of the weight vectors of a training that starts with zero weights."""
    seen, seen_move = np.zeros_like(model.w), np.zeros_like(model.w_move)
    most = most_changes(problem, model.w.shape[1])
    features, values = np.empty(most, np.int64), np.empty(most)

    def changes(i: int) -> tuple[Ints, Floats]:
        size = changed_weights(problem, model, i, seen, seen_move, features, values)
        return features[:size], values[:size]

    return Recorder(np.zeros(0), changes)


def vote_ids(
    problem: AttributeChain, hypotheses: Hypotheses, attributes: int, barrier: Floats, n_jobs: int
) -> NDArray[np.uint32]:
    """The labels of all sentences as numbers, by the vote of all weight vectors, in `n_jobs` threads."""
    out = np.empty(len(problem.starts) - 1, np.uint32)
    vectors = hypotheses.starts, hypotheses.features, hypotheses.values, hypotheses.survived
    votes = chain_votes(attributes, len(barrier) - 1, *vectors)

    def predict(first: int, end: int) -> None:
        vote_all(problem._replace(offsets=problem.offsets[first : end + 1]), votes, barrier, out)

    in_shares(predict, len(problem.offsets) - 1, n_jobs)
    return out


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


def nonzero(weights: Any) -> tuple[Ints | Int32s, Ints | Int32s | Ids, Floats]:
    """The attributes, the labels and the values of the weights that are not 0, by attribute, then by label."""
    if isinstance(weights, WeightRows):
        return weights.nonzero()
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
    return f"candidates: {size}" + ("; to choose others: --candidates" if tagger.candidates is None else "")


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
