"""Owns the pruner: which heads each word may have, learnt from trees before a parser of many parts is.

It is a log-linear model of arcs (`swvp.structures.tree.pruner`) with few templates. A word keeps the heads that are
not much less probable than its best one, and always those of the pruner's own best tree: so there is a tree among what
is kept.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.arc_templates import PRESETS, parse_arc_templates
from swvp.io.memory import Memory
from swvp.io.model_files import filled, must, sparse, strings
from swvp.structures.tree.encoding import Nodes, Slot, Tables, tables_of
from swvp.structures.tree.first_order.features import ArcBuffers, new_arc_buffers
from swvp.structures.tree.first_order.model import Heads
from swvp.structures.tree.pruner import SMALL, keep_heads, learn
from swvp.structures.tree.second_order.parts import Candidates
from swvp.structures.tree.tag_pruning import Pruned, all_allowed
from swvp.training.options import in_shares
from swvp.types import Floats, Ints

__all__ = ["MOST", "Pruner", "check_pruning", "kept"]

SIZE = 2**19
MOST_WEIGHTS = 2**28
MOST_HEADS = 1000
EPOCHS = 2
MOST = 16
"""Rather a bound than a rule: fewer heads and a lower threshold keep less of the gold trees with as many parts."""

THRESHOLD, PROJECTIVE_THRESHOLD = 3e-3, 3e-4
"""Among projective trees probabilities are surer: with both, about as many heads are kept."""
RATE = 0.15

Loss = Callable[[int, float], object]
"""Is told the number of a pass, from 1, and its log-loss per word."""


class Pruner:
    """Heads for words: `fit` learns, `candidates` prunes.

    `features` are templates of arcs, `size` how many weights they share, a power of 2. A word keeps at most `most`
    heads, each at least `threshold` times as probable as its best one, and those of the best tree.
    """

    w: Floats
    squares: Floats | None = None  # of slopes, Σ over the trees learnt from: not in model files

    def __init__(
        self,
        projective: bool = False,
        one_root: bool = True,
        *,
        features: Sequence[str] = PRESETS["light"],
        most: int = MOST,
        threshold: float | None = None,
        size: int = SIZE,
    ):
        if type(size) is not int or not 2 <= size <= MOST_WEIGHTS or size & (size - 1):
            raise InputError(f"size must be a power of 2 from 2 to {MOST_WEIGHTS}, not {size!r}")
        check_pruning(most, threshold)
        if threshold is None:
            threshold = PROJECTIVE_THRESHOLD if projective else THRESHOLD
        self.projective, self.one_root = bool(projective), bool(one_root)
        self.most, self.threshold, self.size = int(most), float(threshold), size
        self.templates, self.tables = tables_of(parse_arc_templates(features, "pruner"))

    def look_at(self, slots: Sequence[Slot], longest: NDArray[np.int32]) -> Self:
        """From now on nodes have these slots, and arcs are looked at that `longest` allows."""
        self.tables = tables_of(self.templates, slots)[1]._replace(longest=longest)
        return self

    def fit(
        self,
        nodes: Nodes,
        heads: Heads,
        *,
        orders: np.random.Generator,
        epochs: int = EPOCHS,
        watch: Loss | None = None,
        more: bool = False,
    ) -> Self:
        """Learn from the trees of nodes, in `epochs` passes, each in an order of its own; with `more`, go on."""
        w, buffers = self.w.copy() if more else np.zeros(self.size), self._room(nodes)
        squares = self.squares.copy() if more and self.squares is not None else np.ones(self.size)
        mode = self.projective or None, self.one_root  # None has nothing compiled for projective trees
        for epoch in range(1, epochs + 1):
            order = orders.permutation(len(nodes.starts) - 1)
            loss = learn(nodes, self.tables, self._every(), heads, order, *mode, w, squares, buffers, RATE, SMALL)
            if watch is not None:
                watch(epoch, float(loss) / max(len(heads), 1))
        self.w, self.squares = w, squares
        return self

    def candidates(self, nodes: Nodes, gold: Heads | None = None, n_jobs: int = 1) -> Candidates:
        """The heads that words keep; the gold ones among them, if given."""
        words = int(nodes.starts[-1]) - len(nodes.starts) + 1
        heads = np.zeros(0, np.int32) if gold is None else gold
        found, counts = np.zeros((words, self.most + 2), np.int32), np.zeros(words, np.int32)
        mode = self.projective or None, self.one_root  # None has nothing compiled for projective trees

        def fill_in(first: int, end: int) -> None:
            buffers, rule = self._room(nodes), (self.most, self.threshold)
            keep_heads(
                nodes, self.tables, self._every(), heads, first, end, *mode, self.w, buffers, *rule, found, counts
            )

        in_shares(fill_in, len(nodes.starts) - 1, n_jobs)
        first = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return Candidates(first, found[np.arange(self.most + 2) < counts[:, None]])

    def of_trees(self, projective: bool, one_root: bool) -> Self:
        """The same pruner for this kind of trees: there is one of them among what it keeps."""
        found = copy(self)
        found.projective, found.one_root = projective, one_root
        return found

    def meta(self) -> dict[str, Any]:
        """What a model file says of it beside the arrays."""
        return {
            "templates": [template.text for template in self.templates],
            "projective": self.projective,
            "one_root": self.one_root,
            "most": self.most,
            "threshold": self.threshold,
            "size": self.size,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its weights, for a model file."""
        return sparse("weights", self.w)

    @classmethod
    def rebuild(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], memory: Memory) -> Self:
        """The pruner of a model file; `look_at` says what its nodes are like."""
        must(type(meta["projective"]) is bool and type(meta["one_root"]) is bool, "kind of trees")
        must(type(meta["threshold"]) is float, "threshold")
        options = {name: meta[name] for name in ("projective", "one_root", "most", "threshold", "size")}
        found = cls(features=strings(meta["templates"]), **options)
        must([template.text for template in found.templates] == meta["templates"], "templates of the pruner")
        found.w = filled(memory, found.size, arrays, "weights")
        return found

    def _room(self, nodes: Nodes) -> ArcBuffers:
        return new_arc_buffers(self.tables, nodes, int(np.diff(nodes.starts).max(initial=1)) - 1)

    def _every(self) -> Tables:
        return self.tables._replace(longest=all_allowed())


def check_pruning(most: Any, threshold: Any) -> None:
    """Refuse what is no number of heads or no threshold, by the names users know them by."""
    if not isinstance(most, numbers.Integral) or isinstance(most, bool) or not 1 <= int(most) <= MOST_HEADS:
        raise InputError(f"prune_heads must be a whole number from 1 to {MOST_HEADS}, not {most!r}")
    real = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
    if threshold is not None and not (real and 0 <= threshold <= 1):
        raise InputError(f"prune_threshold must be a number from 0 to 1, not {threshold!r}")


def kept(candidates: Candidates, starts: Ints, heads: Heads) -> Pruned:
    """What is left of the trees of a treebank, and how many heads a word has."""
    words = max(len(heads), 1)
    right = candidates.heads == np.repeat(heads, np.diff(candidates.first))
    arcs = int(((np.diff(starts) - 1) ** 2).sum())
    size = len(candidates.heads)
    return Pruned(int(np.count_nonzero(right)) / words, size / words, size / max(arcs, 1))
