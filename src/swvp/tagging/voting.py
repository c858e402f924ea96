"""Owns the voted tagger: what its training records, and its labels by vote."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.learning.voting import Hypotheses, Recorder
from swvp.structures.chain.attributes import AttributeChain, AttributeModel
from swvp.structures.chain.voting import chain_votes, changed_weights, most_changes, vote_all
from swvp.tagging.decoder import Decoder
from swvp.training.options import in_shares
from swvp.types import Floats, Ints

__all__ = ["check_vote", "recorder_of", "vote_ids"]


def check_vote(decoder: Decoder, *, crf: bool) -> None:
    """Refuse to vote where the weight vectors cannot be recorded or replayed."""
    if crf:
        raise InputError("rule 'crf' has one weight vector: nothing to vote with; leave out vote, or use another rule")
    if not decoder.plain:
        raise InputError("vote is for order 1 and exact search: leave it out, or a beam and order 2")


def recorder_of(problem: AttributeChain, model: AttributeModel) -> Recorder:
    """Records the weight vectors of a training that begins with all weights 0."""
    seen, seen_move = np.zeros_like(model.w), np.zeros_like(model.w_move)
    room = most_changes(problem, model.w.shape[1])
    features, values = np.empty(room, np.int64), np.empty(room)

    def changes(i: int) -> tuple[Ints, Floats]:
        size = changed_weights(problem, model, i, seen, seen_move, features, values)
        return features[:size], values[:size]

    return Recorder(np.zeros(0), changes)


def vote_ids(
    problem: AttributeChain, hypotheses: Hypotheses, attributes: int, barrier: Floats, n_jobs: int
) -> NDArray[np.uint32]:
    """The labels of all sequences as numbers, by vote, in `n_jobs` threads."""
    out = np.empty(len(problem.starts) - 1, np.uint32)
    found = hypotheses.starts, hypotheses.features, hypotheses.values, hypotheses.survived
    votes = chain_votes(attributes, len(barrier) - 1, *found)

    def predict(first: int, end: int) -> None:
        vote_all(problem._replace(offsets=problem.offsets[first : end + 1]), votes, barrier, out)

    in_shares(predict, len(problem.offsets) - 1, n_jobs)
    return out
