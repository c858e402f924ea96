"""Owns the k best outputs of a tagger's example, as `learning` asks for them."""

from __future__ import annotations

import numpy as np

from swvp.compiled import implement, kernel
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain, score_positions
from swvp.structures.chain.paths import k_best
from swvp.structures.chain.sequences import compare

__all__ = ["best_outputs", "keep"]


@implement(operations.best_outputs, AttributeChain)
@kernel
def best_outputs(problem, model, i, k):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    paths, scores, turns = np.empty((k, n), np.uint32), np.empty(k), np.empty((k, 3), np.int64)
    score_positions(problem.attributes, problem.values, problem.starts, start, n, model.w, model.node)
    found = k_best(n, model.node, model.moves, k, model.value, paths, scores, turns)
    return found, paths


@implement(operations.keep, AttributeChain)
@kernel
def keep(problem, model, i, outputs, r, wrong):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    for t in range(n):
        model.predicted[t] = outputs[r, t]
    return compare(problem.y, start, n, model.predicted, model.mixed, wrong)
