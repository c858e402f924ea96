"""The options of a parser: their defaults, their checks, and the rules that `--tune` tries."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from swvp.errors import InputError, is_power_of_two, shown
from swvp.learning.minibatch import check_batches
from swvp.learning.perceptron import check_structure
from swvp.learning.rule import UpdateRule, as_rule
from swvp.parsing.ensemble import check_ensemble
from swvp.parsing.first_order import FirstOrderModel
from swvp.parsing.second_order import SecondOrderModel
from swvp.parsing.tree_model import DEFAULT_HEADS, MOST_WEIGHTS, Pruner, Ranks, TreeKind, TreeModel, check_pruning
from swvp.structures.exact import GRID, on_grid
from swvp.training import tune
from swvp.training.options import TrainingOptions, lines_of

__all__ = [
    "MARGIN",
    "TREE_BETA",
    "TUNED_BETAS",
    "TUNED_RULES",
    "ParserOptions",
    "TreeCounts",
    "candidates",
    "has_one_root",
    "is_projective",
    "label_rule",
    "margin_note",
]

MODELS: dict[int, type[TreeModel]] = {1: FirstOrderModel, 2: SecondOrderModel}
"""The models by `order`. Only `Parser.model_class` chooses among them."""

MARGIN = 1.0
TREE_BETA = 0.5
LABEL_RULE = "softmax"

FEW_ROOTS = 0.05
"""Up to this share of training trees with several roots, predictions have one: that costs nothing."""

FEW_CROSSING = 0.15
"""Up to this share of training trees with crossing arcs, first-order predictions have none; chosen on dev sets."""

TUNED_RULES = (
    "csp",
    "a-wm",
    "b-wm",
    "a-wm:sqrt",
    "a-wmr:sqrt",
    "a-uniform:sqrt",
    "a-uniform:mira",
    "a-wm:mira",
    "a-uniform:components:mira",
    "mira",
)
TUNED_BETAS = (0.25, 0.5, 1.0)


NEWER = ("ensemble", "batch_size")
"""Options that files of older versions lack."""


class TreeCounts(Protocol):
    """Training trees as far as options depend on them: a treebank, or the sums of the counts of several."""

    @property
    def number_of_sentences(self) -> int: ...

    @property
    def several_roots(self) -> int: ...

    def nonprojective_trees(self) -> int: ...


class ParserOptions(TrainingOptions):
    """The options of a parser; `swvp.DependencyParser` documents them."""

    BETA = TREE_BETA

    order: int
    features: str | Sequence[str] | None
    projective: bool | None
    one_root: bool | None
    prune: bool
    prune_heads: int
    prune_threshold: float | None
    margin: float | None
    hashed: int | None
    labels: bool
    ensemble: int
    batch_size: int

    one_root_: bool
    projective_: bool

    def __init__(
        self,
        *,
        rule: str | UpdateRule | None = None,
        substructures: Any = None,
        gamma: Any = None,
        approach: str | None = None,
        beta: float | None = None,
        step: str | None = None,
        C: float | None = None,
        epochs: int = 10,
        average: bool = True,
        average_power: float | None = None,
        order: int = 1,
        features: str | Sequence[str] | None = None,
        projective: bool | None = None,
        one_root: bool | None = None,
        prune: bool = True,
        prune_heads: int = DEFAULT_HEADS,
        prune_threshold: float | None = None,
        margin: float | None = None,
        hashed: int | None = 2**22,
        labels: bool = True,
        ensemble: int = 1,
        batch_size: int = 1,
        patience: int | None = None,
        random_state: Any = None,
        n_jobs: int = 1,
    ):
        self._set_options(locals())

    def options(self) -> dict[str, Any]:
        """Return the arguments of the constructor; without those that are 1 and that files of older versions lack."""
        return {name: value for name, value in super().options().items() if not (name in NEWER and value == 1)}

    @property
    def model_class(self) -> type[TreeModel]:
        """The class of tree models that `order` chooses."""
        if isinstance(self.order, bool) or self.order not in tuple(MODELS):
            raise InputError(f"order must be 1 (arcs) or 2 (arcs, siblings and grandparents), not {shown(self.order)}")
        return MODELS[self.order]

    @property
    def has_one_root(self) -> bool:
        """Whether trees have exactly one root: as given or, once fitted, as the training trees have it."""
        return bool(getattr(self, "one_root_", True) if self.one_root is None else self.one_root)

    @property
    def is_projective(self) -> bool:
        """Whether trees have no crossing arcs: as given or, once fitted, as most training trees have it."""
        return bool(getattr(self, "projective_", False) if self.projective is None else self.projective)

    def check(self) -> UpdateRule:
        """Raise InputError if an option is wrong whatever the data are.

        Returns
        -------
        UpdateRule
            The rule with the parts that were given separately.
        """
        model_class = self.model_class
        rule = self._rule()
        check_structure(rule, model_class.structure)
        check_batches(self.batch_size, rule, model_class.structure)
        if not (self.one_root is None or isinstance(self.one_root, (bool, np.bool_))):
            raise InputError(f"one_root must be True, False or None, not {shown(self.one_root)}")
        if not (self.projective is None or isinstance(self.projective, (bool, np.bool_))):
            raise InputError(f"projective must be True, False or None, not {shown(self.projective)}")
        self._check_whole(["epochs", "n_jobs"], optional=["patience", "hashed"])
        if self.hashed is not None and not is_power_of_two(self.hashed):
            raise InputError(f"hashed must be a power of 2, such as 2**22, not {self.hashed}")
        if self.hashed is not None and self.hashed > MOST_WEIGHTS:
            raise InputError(f"hashed must be at most {MOST_WEIGHTS}, not {shown(self.hashed)}")
        check_pruning(self.prune_heads, self.prune_threshold)
        check_ensemble(self.ensemble)
        if self.margin is not None:
            self._check_real("margin")
        self._average_power(rule)
        return rule

    def _default_rule(self) -> str:
        return self.model_class.default_rule

    def _margin(self, rule: UpdateRule) -> float:
        """Return the margin; warn if the default one changes a rule of the paper."""
        if self.margin is None and (note := margin_note(self.rule, rule)) is not None:
            warnings.warn(note, stacklevel=2)
        margin = MARGIN if self.margin is None else float(self.margin)
        return max(on_grid(margin, GRID), GRID) if margin > 0 else 0.0

    def _for_rule(self, problem: Any, rule: UpdateRule) -> tuple[Any, float]:
        """Return the problem, whose margin is the same for all rules, and the rule's power of averaging."""
        return problem, self._average_power(rule)

    def _kind(self) -> TreeKind:
        return TreeKind(self.is_projective, self.has_one_root)

    def _new_model(self, ranks: Ranks) -> TreeModel:
        """Return the model of these options, for training trees whose values have these ranks."""
        model_class, pruner = self.model_class, None
        if model_class.uses_pruner and self.prune:
            pruner = Pruner(*self._kind(), most=self.prune_heads, threshold=self.prune_threshold)
        features = model_class.default_features if self.features is None else self.features
        return model_class(lines_of(features, model_class.presets), ranks, pruner)


def candidates(rules: Sequence[str] | None, betas: Sequence[float] | None, C: float | None = None) -> list[UpdateRule]:
    """Return each rule with each β, by default those above; see `swvp.training.tune.candidates`."""
    return tune.candidates(rules or TUNED_RULES, betas or TUNED_BETAS, C)


def label_rule() -> UpdateRule:
    """Return the rule that labels are trained with."""
    return as_rule(LABEL_RULE)


def has_one_root(treebank: TreeCounts) -> bool:
    """Return whether predictions have one root by default; a few training trees with several count as mistakes."""
    return treebank.several_roots <= FEW_ROOTS * treebank.number_of_sentences


def is_projective(treebank: TreeCounts, order: int) -> bool:
    """Return whether predictions are projective by default: in first order, if few training trees have crossing arcs.

    Few arcs are lost then, and more are right because the search cannot cross them. Second order knows better.
    """
    return order == 1 and treebank.nonprojective_trees() <= FEW_CROSSING * treebank.number_of_sentences


def margin_note(given: str | UpdateRule | None, rule: UpdateRule) -> str | None:
    """Return a note if the default margin changes a rule of the paper that the user asked for."""
    if given is None or all(stage.step == "mira" for stage in rule.stages):
        return None
    return f"rule {rule.name} is trained with a margin of {MARGIN:g}; margin 0 is the algorithm of the paper"
