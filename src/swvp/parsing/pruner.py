"""The pruner: a log-linear model of arcs that leaves each word a few heads, trained before a second-order model.

Its kernels are in `swvp.structures.tree.pruner`; its templates are few. A word keeps the heads that are not much less
probable than its best one, and always its head in the pruner's best tree, so that the heads left contain a tree.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_power_of_two
from swvp.features.parser_templates import parse_arc_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.io.model_files import Memory, filled, require, sparse, sparse_names, strings
from swvp.structures.tree.encoding import Nodes, Slot, Tables, tables_of
from swvp.structures.tree.first_order.features import ArcBuffers, new_arc_buffers
from swvp.structures.tree.first_order.model import Heads
from swvp.structures.tree.pruner import SMALL, keep_heads, learn
from swvp.structures.tree.second_order.parts import Candidates
from swvp.structures.tree.tag_pruning import Pruned, all_allowed
from swvp.training.options import in_shares
from swvp.types import Floats, Ints

__all__ = ["DEFAULT_HEADS", "EPOCHS", "Pruner", "check_pruning", "pruned_candidates"]

SIZE = 2**19
MOST_WEIGHTS = 2**28
MOST_HEADS = 1000
EPOCHS = 2
DEFAULT_HEADS = 16
"""Mostly the threshold decides: fewer heads and a lower threshold lose more gold arcs for the same number of parts."""

THRESHOLD, PROJECTIVE_THRESHOLD = 3e-3, 3e-4
"""Probabilities of projective trees are sharper: with these two, about the same number of heads is left."""
RATE = 0.15

LossObserver = Callable[[int, float], object]
"""Called after each epoch with its number, from 1, and its log-loss per word."""


class Pruner:
    """Leaves each word a few heads: `fit` learns from trees, `candidates` prunes.

    Parameters
    ----------
    projective, one_root : bool
        The kind of trees: one of them is always among the heads left.
    features : sequence of str
        Templates of arcs.
    most : int
        A word keeps at most so many heads, besides its head in the best tree.
    threshold : float, optional
        A head is kept if it is at least so many times as probable as the best one.
    size : int
        The hash size: the number of weights that the features share, a power of 2.
    """

    ARRAYS = frozenset(sparse_names("weights"))
    """The names of its arrays in a model file."""

    kernel = staticmethod(learn)

    w: Floats
    squares: Floats | None = None  # sums of squared gradients; not in model files

    def __init__(
        self,
        projective: bool = False,
        one_root: bool = True,
        *,
        features: Sequence[str] = PRESETS["light"],
        most: int = DEFAULT_HEADS,
        threshold: float | None = None,
        size: int = SIZE,
    ):
        if not is_power_of_two(size, 2, MOST_WEIGHTS):
            raise InputError(f"size must be a power of 2 from 2 to {MOST_WEIGHTS}, not {size!r}")
        check_pruning(most, threshold)
        if threshold is None:
            threshold = PROJECTIVE_THRESHOLD if projective else THRESHOLD
        self.projective, self.one_root = bool(projective), bool(one_root)
        self.most, self.threshold, self.size = int(most), float(threshold), size
        self.templates, self.tables = tables_of(parse_arc_templates(features, "pruner"))

    def use_slots(self, slots: Sequence[Slot], longest: NDArray[np.int32]) -> Self:
        """Expect nodes that are encoded with these slots, and consider only arcs that `longest` allows."""
        self.tables = tables_of(self.templates, slots)[1]._replace(longest=longest)
        return self

    def fit(
        self,
        nodes: Nodes,
        heads: Heads,
        *,
        orders: np.random.Generator,
        epochs: int = EPOCHS,
        watch: LossObserver | None = None,
        warm_start: bool = False,
    ) -> Self:
        """Learn from trees in `epochs` epochs, each in a new random order.

        With `warm_start`, learning continues from the weights so far.
        """
        w, buffers = self.w.copy() if warm_start else np.zeros(self.size), self._buffers(nodes)
        squares = self.squares.copy() if warm_start and self.squares is not None else np.ones(self.size)
        unpruned, kind = self._unpruned_tables(), self._kind()
        for epoch in range(1, epochs + 1):
            order = orders.permutation(len(nodes.starts) - 1)
            loss = learn(nodes, self.tables, unpruned, heads, order, *kind, w, squares, buffers, RATE, SMALL)
            if watch is not None:
                watch(epoch, float(loss) / max(len(heads), 1))
        self.w, self.squares = w, squares
        return self

    def candidates(self, nodes: Nodes, gold: Heads | None = None, n_jobs: int = 1) -> Candidates:
        """Return the heads that words keep; with `gold`, also their gold heads."""
        words = int(nodes.starts[-1]) - len(nodes.starts) + 1
        gold_heads = np.zeros(0, np.int32) if gold is None else gold
        heads, counts = np.zeros((words, self.most + 2), np.int32), np.zeros(words, np.int32)
        tables, kind, limits = (self.tables, self._unpruned_tables()), self._kind(), (self.most, self.threshold)

        def fill(first: int, end: int) -> None:
            buffers = self._buffers(nodes)
            keep_heads(nodes, *tables, gold_heads, first, end, *kind, self.w, buffers, *limits, heads, counts)

        in_shares(fill, len(nodes.starts) - 1, n_jobs)
        first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return Candidates(first, heads[np.arange(self.most + 2) < counts[:, None]])

    def for_trees(self, projective: bool, one_root: bool) -> Self:
        """Return the same pruner for trees of this kind: one of them is among the heads it leaves."""
        pruner = copy(self)
        pruner.projective, pruner.one_root = projective, one_root
        return pruner

    def meta(self) -> dict[str, Any]:
        """Return its description for a model file."""
        return {
            "templates": [template.text for template in self.templates],
            "projective": self.projective,
            "one_root": self.one_root,
            "most": self.most,
            "threshold": self.threshold,
            "size": self.size,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return its weights for a model file."""
        return sparse("weights", self.w)

    @classmethod
    def rebuild(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], memory: Memory) -> Self:
        """Return the pruner of a model file; call `use_slots` before it is used."""
        require(type(meta["projective"]) is bool and type(meta["one_root"]) is bool, "kind of trees")
        require(type(meta["threshold"]) is float, "threshold")
        options = {name: meta[name] for name in ("projective", "one_root", "most", "threshold", "size")}
        pruner = cls(features=strings(meta["templates"]), **options)
        require([template.text for template in pruner.templates] == meta["templates"], "templates of the pruner")
        pruner.w = filled(memory, pruner.size, arrays, "weights")
        return pruner

    def _kind(self) -> tuple[bool | None, bool]:
        """Return the kind of trees for the kernels; None instead of False saves compiling projective decoders."""
        return self.projective or None, self.one_root

    def _buffers(self, nodes: Nodes) -> ArcBuffers:
        return new_arc_buffers(self.tables, nodes, int(np.diff(nodes.starts).max(initial=1)) - 1)

    def _unpruned_tables(self) -> Tables:
        return self.tables._replace(longest=all_allowed())


def check_pruning(most: Any, threshold: Any) -> None:
    """Raise InputError if the options `prune_heads` or `prune_threshold` of a parser are wrong."""
    if not isinstance(most, numbers.Integral) or isinstance(most, bool) or not 1 <= int(most) <= MOST_HEADS:
        raise InputError(f"prune_heads must be a whole number from 1 to {MOST_HEADS}, not {most!r}")
    real = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
    if threshold is not None and not (real and 0 <= threshold <= 1):
        raise InputError(f"prune_threshold must be a number from 0 to 1, not {threshold!r}")


def pruned_candidates(candidates: Candidates, starts: Ints, heads: Heads) -> Pruned:
    """Return which share of the gold arcs is among the candidates, and how many heads a word has."""
    words = max(len(heads), 1)
    right = candidates.heads == np.repeat(heads, np.diff(candidates.first))
    arcs = int(((np.diff(starts) - 1) ** 2).sum())
    size = len(candidates.heads)
    return Pruned(int(np.count_nonzero(right)) / words, size / words, size / max(arcs, 1))
