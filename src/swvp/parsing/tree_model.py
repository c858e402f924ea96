"""The interface of a tree model, which first-order and second-order models share, and their common helpers.

`swvp.parsing.first_order` and `swvp.parsing.second_order` implement it. `Parser` chooses one of them by its option
`order` and never asks again which one it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from swvp.features.context import Columns, with_context
from swvp.parsing.pruner import Pruner
from swvp.parsing.treebank import Treebank
from swvp.structures.tree.encoding import Keys, Nodes
from swvp.structures.tree.first_order.model import Arcs, Heads
from swvp.structures.tree.first_order.names import SentenceColumns
from swvp.structures.tree.tag_pruning import Pruned, all_allowed, longest_arcs, widened
from swvp.tables import WeightTable
from swvp.types import Floats

__all__ = [
    "MOST_WEIGHTS",
    "NO_HEADS",
    "FeatureWeights",
    "RankedTree",
    "Ranks",
    "TreeKind",
    "TreeModel",
    "columns_of",
    "node_names",
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

    `owners` is None if features are hashed and may share a weight. In exact mode it holds, for each place of `w`, the
    key of the feature that owns it, or 0.
    """

    w: Floats
    owners: Keys | None


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
    prediction_kernel: ClassVar[Any]
    uses_pruner: ClassVar[bool]
    """Whether pruning needs a trained `Pruner`."""
    searches_exactly: ClassVar[bool]
    """Whether a predicted tree is always the best one of the model."""

    ranks: Ranks
    longest: NDArray[np.int32]
    """The longest arc allowed between two tags; see `swvp.structures.tree.tag_pruning`."""
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
