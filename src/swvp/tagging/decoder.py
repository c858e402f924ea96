"""How labels are predicted: exact search or a beam, first or second order, or the vote of many weight vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, unknown_name
from swvp.learning.voting import Hypotheses, Recorder
from swvp.structures.chain import attributes as exact
from swvp.structures.chain import search
from swvp.structures.chain.attributes import AttributeChain, AttributeModel, take_over
from swvp.structures.chain.beam import FIXES
from swvp.structures.chain.voting import chain_votes, changed_weights, most_changes, vote_all
from swvp.structures.operations import refresh
from swvp.training.options import in_shares
from swvp.training.training import SUMS, Weights, weight_names
from swvp.types import Floats, Ids, Ints

__all__ = ["DECODERS", "Decoder", "check_vote", "decoder_of", "recorder_of", "vote_ids"]

DECODERS = ("viterbi", "beam")


class Decoder(NamedTuple):
    """The search for labels; width 0 is exact search."""

    barrier: Floats
    order: int
    width: int
    fix: str

    @property
    def plain(self) -> bool:
        """Whether it is first order and exact: the fastest search, and the one with marginals and k-best labels."""
        return self.order == 1 and not self.width

    def problem(self, chain: AttributeChain) -> Any:
        """The problem that training with this search takes."""
        return chain if self.plain else search.as_search(chain, self.fix)

    def new_model(self, attributes: int, longest: int) -> Any:
        """A model with all weights 0 and buffers for sentences of up to `longest` tokens."""
        labels = len(self.barrier) - 1
        if self.plain:
            return exact.new_model(attributes, labels, longest, self.barrier)
        return search.new_search_model(attributes, labels, longest, self.barrier, self.order, self.width)

    def extended_model(self, old: Weights, labels: int, attributes: int, longest: int) -> Any:
        """A model that starts from old weights, and averaging sums, which are for the first `labels` labels."""
        model = self.new_model(attributes, longest)
        parts = [part for name in weight_names(model) for part in (name, SUMS[name]) if part in old]
        take_over(model, {part: old[part] for part in parts}, labels)
        return model

    def predict(self, chain: AttributeChain, weights: Weights, out: Ids) -> None:
        """Write the best labels under these weights into `out`."""
        model = self.new_model(0, int(np.diff(chain.offsets).max(initial=0)))._replace(**weights)
        refresh(model)
        if self.plain:
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
    search.check_search(decoder.order, decoder.width, decoder.fix)
    return decoder


def check_vote(decoder: Decoder, *, crf: bool) -> None:
    """Raise InputError if the weight vectors of training cannot be recorded or replayed."""
    if crf:
        raise InputError("rule 'crf' has one weight vector: nothing to vote with; leave out vote, or use another rule")
    if not decoder.plain:
        raise InputError("vote is for order 1 and exact search: leave it out, or a beam and order 2")


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
