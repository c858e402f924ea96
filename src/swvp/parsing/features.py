"""Owns what a parser looks at: the columns of a treebank, and templates of a preset or a list of a user's."""

from __future__ import annotations

from collections.abc import Sequence

from swvp.features.arc_templates import PRESETS, ArcTemplate, parse_arc_templates
from swvp.features.context import Columns, with_context
from swvp.features.part_templates import PART_PRESETS, PartTemplates, parse_part_templates
from swvp.parsing.treebank import Treebank
from swvp.training.options import lines_of

__all__ = ["chosen_features", "chosen_parts", "columns_of"]


def columns_of(treebank: Treebank) -> Columns:
    """A treebank's columns by the names of templates."""
    return with_context(treebank.columns(), treebank.offsets)


def chosen_features(features: str | Sequence[str]) -> list[ArcTemplate]:
    """The templates of arcs that a user asked for."""
    return parse_arc_templates(lines_of(features, PRESETS))


def chosen_parts(features: str | Sequence[str]) -> PartTemplates:
    """The templates of arcs, siblings and grandparents that a user asked for."""
    return parse_part_templates(lines_of(features, PRESETS | PART_PRESETS))
