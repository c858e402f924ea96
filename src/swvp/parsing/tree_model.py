"""Tree models: the interface that first and second order share, their common helpers, and the pruner of heads.

`swvp.parsing.first_order` and `swvp.parsing.second_order` implement the interface. `Parser` chooses one of them by its
option `order` and never asks again which one it has.

The pruner is a log-linear model of arcs that leaves each word a few heads, trained before a second-order model. Its
kernels are in `swvp.structures.tree.first_order.probabilities`; its templates are few. A word keeps the heads that are
not much less probable than its best one, and always its head in the pruner's best tree, so that the heads left contain
a tree.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_power_of_two
from swvp.features.context import Columns, with_context
from swvp.features.parser_templates import parse_arc_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.features.templates import Slot
from swvp.io.model_files import Memory, filled, require, sparse, sparse_names, strings
from swvp.io.treebank import Treebank
from swvp.structures.tree.encoding import Nodes, Pruned, Tables, all_allowed, longest_arcs, tables_of, widened
from swvp.structures.tree.first_order.features import ArcBuffers, SentenceColumns, new_arc_buffers
from swvp.structures.tree.first_order.model import Arcs
from swvp.structures.tree.first_order.probabilities import SMALL, keep_heads, learn
from swvp.structures.tree.second_order.parts import Candidates
from swvp.tables import WeightTable
from swvp.training.options import in_shares
from swvp.types import Floats, Heads, Ints, Keys

__all__ = [
    "DEFAULT_HEADS",
    "MOST_WEIGHTS",
    "NO_HEADS",
    "PRUNER_EPOCHS",
    "FeatureWeights",
    "Pruner",
    "RankedTree",
    "Ranks",
    "TreeKind",
    "TreeModel",
    "check_pruning",
    "columns_of",
    "node_names",
    "pruned_candidates",
    "seen_arcs",
    "sentence_columns",
]

Ranks = dict[str, dict[str, int]]
"""The values of the columns `pos`, `tag` and `feats` in training, numbered from the most frequent one."""

RankedTree = tuple[NDArray[np.int32], float]
"""The heads of a tree and its score."""

NO_HEADS = np.zeros(0, np.int32)
"""The gold heads of a problem from which nothing is learnt."""

MOST_WEIGHTS = 2**28
ROOT = "0 (root)"


class FeatureWeights(NamedTuple):
    """The weights of all features.

    `owners` is empty if features are hashed and may share a weight. In exact mode it holds, for each place of `w`, the
    key of the feature that owns it, or 0.
    """

    w: Floats
    owners: Keys


class TreeKind(NamedTuple):
    """The trees among which a prediction is chosen."""

    projective: bool
    one_root: bool


class TreeModel(Protocol):
    """A model of trees without its weights: templates, pruning, and the searches for trees.

    A model makes a *problem* of a treebank (`encode`, `problem`): arrays that the compiled kernels of its order read.
    All other methods take such a problem.
    """

    order: ClassVar[int]
    description: ClassVar[str]
    structure: ClassVar[type]
    """The class of its problems, for which the operations of `learning` are implemented."""
    default_rule: ClassVar[str]
    default_features: ClassVar[str]
    presets: ClassVar[Mapping[str, Sequence[str]]]
    """The presets of templates by name."""
    uses_pruner: ClassVar[bool]
    """Whether pruning needs a trained `Pruner`."""
    searches_exactly: ClassVar[bool]
    """Whether a predicted tree is always the best one of the model."""

    ranks: Ranks
    longest: NDArray[np.int32]
    """The longest arc allowed between two tags; see `swvp.structures.tree.encoding`."""
    pruner: Pruner | None

    @property
    def templates(self) -> Sequence[Any]:
        """The templates in the order of their features."""

    def __init__(self, templates: Sequence[str], ranks: Ranks, pruner: Pruner | None = None) -> None: ...

    @classmethod
    def check_templates(cls, templates: Sequence[str], where: str) -> None:
        """Raise InputError, with the line in `where`, if a template cannot be used by this model."""

    def encode(self, treebank: Treebank) -> Nodes:
        """Return the words of a treebank as hashed numbers."""

    def learn_pruning(self, nodes: Nodes, heads: Heads, *, prune: bool, warm_start: bool, random_state: Any) -> Self:
        """Learn from gold trees which arcs are considered; with `warm_start`, from one more batch of trees."""

    def prune_by(self, longest: NDArray[np.int32]) -> Self:
        """Consider only arcs that are not longer than this table allows."""

    def problem(self, nodes: Nodes, heads: Heads, kind: TreeKind, *, margin: float = 0.0, n_jobs: int = 1) -> Any:
        """Return the problem of predicting these trees, or of learning from them if `heads` are the gold ones."""

    def new_weights(self, problem: Any, size: int, *, exact: bool, parts: bool) -> Any:
        """Return the weights for training, all 0, with the buffers of the kernels.

        `parts` is for rules whose sub-structures consist of the parts of words.
        """

    def predict(self, problem: Any, weights: FeatureWeights, n_jobs: int) -> Heads:
        """Return the heads of all words."""

    def certified_share(self, problem: Any, weights: FeatureWeights, n_jobs: int) -> float:
        """Return the share of sentences whose predicted tree is proved to be the best one."""

    def pruned(self, problem: Any, heads: Heads) -> Pruned:
        """Return how many of these arcs pruning leaves, and how many heads for a word."""

    def k_best(self, problem: Any, weights: FeatureWeights, k: int, n_jobs: int) -> list[list[RankedTree]]:
        """Return the k best trees of each sentence, best first; fewer if there are fewer."""

    def arc_model(self, problem: Any, weights: FeatureWeights) -> tuple[Arcs, FeatureWeights]:
        """Return the arcs and weights that define the probabilities of arcs."""

    def explain(
        self, treebank: Treebank, problem: Any, weights: FeatureWeights, words: Iterable[int], n: int
    ) -> WeightTable:
        """Return, for words of the first sentence, the n features that speak most for or against the head."""

    def top_features(self, treebank: Treebank, problem: Any, weights: FeatureWeights, n: int) -> WeightTable:
        """Return the n features with the largest weights that occur in the sentences."""


def columns_of(treebank: Treebank) -> Columns:
    """Return the columns that templates can name, with those computed from the context."""
    return with_context(treebank.columns(), treebank.offsets)


def sentence_columns(treebank: Treebank, i: int, columns: Columns | None = None) -> SentenceColumns:
    """Return the strings of sentence i by column; `columns` are those of the treebank, if already computed."""
    tokens = treebank.sentence(i)
    columns = columns_of(treebank) if columns is None else columns
    return {name: [strings[k] for k in ids[tokens].tolist()] for name, (strings, ids) in columns.items()}


def node_names(columns: SentenceColumns) -> list[str]:
    """Return the root and the words of a sentence as an explanation prints them."""
    return [ROOT, *(f"{k} {word}" for k, word in enumerate(columns["word"], 1))]


def seen_arcs(
    nodes: Nodes, heads: Heads, ranks: Ranks, *, prune: bool, before: NDArray[np.int32] | None
) -> NDArray[np.int32]:
    """Return the longest arc between each two tags in these trees and in those of `before`, the table so far.

    Without `prune`, all arcs are allowed.
    """
    if not prune:
        return all_allowed()
    longest = longest_arcs(nodes.kinds, nodes.starts, heads, len(ranks["pos"]))
    return longest if before is None else widened(before, longest)


# ---------------------------------------------------------------- the pruner

PRUNER_SIZE = 2**19
MOST_HEADS = 1000
PRUNER_EPOCHS = 2
DEFAULT_HEADS = 16
"""Mostly the threshold decides: fewer heads and a lower threshold lose more gold arcs for the same number of parts."""

THRESHOLD, PROJECTIVE_THRESHOLD = 3e-3, 3e-4
"""Probabilities of projective trees are sharper: with these two, about the same number of heads is left."""
PRUNER_RATE = 0.15

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
        size: int = PRUNER_SIZE,
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
        epochs: int = PRUNER_EPOCHS,
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
            loss = learn(nodes, self.tables, unpruned, heads, order, *kind, w, squares, buffers, PRUNER_RATE, SMALL)
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
