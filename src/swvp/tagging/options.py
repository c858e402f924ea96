"""The options of a tagger: their defaults, their checks, and what depends on the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from swvp.errors import InputError, is_whole, shown
from swvp.features.clusters import check_clusters
from swvp.learning.perceptron import check_structure
from swvp.learning.rule import UpdateRule, as_rule
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.search import SearchChain
from swvp.structures.chain.sparse import SparseChain
from swvp.tagging.crf import check_l2
from swvp.tagging.decoder import Constraint, Decoder, barrier, check_vote, costs_of, decoder_of
from swvp.tagging.defaults import AUTO, Choice
from swvp.training.options import TrainingOptions

__all__ = ["TaggerOptions"]

DEFAULT_RULE, SECOND_ORDER_RULE, SWVP_RULE = "softmax", "csp:ada", "a-wm:segments:sqrt"
"""The default rules of first and second order, chosen on dev sets of chunking, named entities and tags; and that of a
beam, and of users who give parts of a rule."""
SOFTMAX_MARGIN, ADAPTIVE_MARGIN = 5.0, 8.0
"""The default margins of the rule `softmax` and of other rules with the step `ada`, chosen on dev sets."""
MOST_HASHED = 2**32 - 1
"""The numbers of attributes have 32 bits."""


class TaggerOptions(TrainingOptions):
    """The options of a tagger; `swvp.SequenceTagger` documents them."""

    BETA = 0.5  # better for tagging than 1

    margin: float | None
    cost: Mapping[Any, float] | None
    vote: bool
    features: str | Sequence[str] | None
    columns: Sequence[str] | None
    constraint: Constraint | None
    order: int
    decoder: str
    width: int
    fix: str
    minimum_count: int
    hashed: int | None
    clusters: int | Mapping[str, str] | None
    candidates: int | None
    l2: float

    classes_: list[Any]
    chosen_: Choice

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
        margin: float | None = None,
        cost: Mapping[Any, float] | None = None,
        vote: bool = False,
        features: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        constraint: Constraint | None = AUTO,
        order: int = 1,
        decoder: str = "viterbi",
        width: int = 8,
        fix: str = "max-violation",
        minimum_count: int = 1,
        hashed: int | None = None,
        clusters: int | Mapping[str, str] | None = None,
        candidates: int | None = None,
        l2: float = 1.0,
        patience: int | None = None,
        random_state: Any = None,
        n_jobs: int = 1,
    ):
        self._set_options(locals())

    def check(self) -> UpdateRule:
        """Raise InputError if options are wrong whatever the data are; return the rule (CSP stands for a CRF)."""
        crf = self.rule == "crf"
        rule = as_rule("csp") if crf else self._rule()
        self._check_whole(["epochs", "minimum_count", "n_jobs"], optional=["patience", "hashed"])
        self._check_real("l2")
        if self.hashed is not None and self.minimum_count > 1:
            raise InputError("hashed attributes are not counted: leave out minimum_count")
        if self.hashed is not None and self.hashed > MOST_HASHED:
            raise InputError(f"hashed must be at most {MOST_HASHED}, not {self.hashed}")
        check_clusters(self.clusters)
        decoder = self._decoder_options()
        if (crf or any(stage.k_best > 1 or stage.all_labels for stage in rule.stages)) and not decoder.plain:
            name = "crf" if crf else rule.name
            raise InputError(f"rule '{name}' is for order 1 and exact search: use another rule with a beam or order 2")
        check_structure(rule, AttributeChain if decoder.plain else SearchChain)
        self._average_power(rule)
        if self.margin is not None:
            self._check_real("margin")
        if (self.margin or self.cost) and crf:
            raise InputError("margin and cost are for other rules than crf: leave them out")
        self._check_candidates(rule, decoder)
        if self.vote:
            check_vote(decoder, crf=crf)
        if crf:
            check_l2(self.l2)
        if not self._auto_constraint():
            barrier(self.constraint, [])
        return rule

    def _needs_dense(self, rule: UpdateRule, decoder: Decoder) -> bool:
        """Whether only taggers with all labels as candidates have what the options ask for."""
        lists_outputs = any(stage.k_best > 1 for stage in rule.stages)
        return self.rule == "crf" or self.vote or lists_outputs or not decoder.plain

    def _check_candidates(self, rule: UpdateRule, decoder: Decoder) -> None:
        if self.candidates is None:
            return
        if not is_whole(self.candidates, 0):
            raise InputError(f"candidates must be a whole number of at least 0, not {shown(self.candidates)}")
        if self.candidates and self._needs_dense(rule, decoder):
            raise InputError(
                "candidates are for order 1, exact search, no vote, and other rules than crf and mira:K: leave it out"
            )

    def _default_rule(self) -> str:
        parts = (self.substructures, self.gamma, self.approach, self.step)
        if self.decoder != "viterbi" or any(part is not None for part in parts):
            return SWVP_RULE
        return DEFAULT_RULE if self.order == 1 else SECOND_ORDER_RULE

    def _for_rule(self, problem: Any, rule: UpdateRule) -> tuple[Any, float]:
        """The problem with the margin of a rule, and the rule's power of averaging."""
        if isinstance(problem, (AttributeChain, SearchChain, SparseChain)):
            problem = problem._replace(costs=costs_of(self._margin(rule), self.cost, self.classes_))
        return problem, self._average_power(rule)

    def _margin(self, rule: UpdateRule) -> float:
        """The margin: the given one, or that of the rule, 0 unless its step is `ada`."""
        if self.margin is not None:
            return float(self.margin)
        if rule.compares_all_outputs:
            return SOFTMAX_MARGIN
        return ADAPTIVE_MARGIN if rule.adapts else 0.0

    def _constraint(self) -> Constraint | None:
        """The constraint that was given, or the chosen one."""
        return self.chosen_.constraint if self._auto_constraint() else self.constraint

    def _auto_constraint(self) -> bool:
        return isinstance(self.constraint, str) and self.constraint == AUTO

    def _decoder_options(self) -> Decoder:
        """The decoder, before the labels are known."""
        return decoder_of(self.decoder, np.zeros((1, 1)), self.order, self.width, self.fix)
