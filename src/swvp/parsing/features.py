"""Owns which templates a parser has: those of a preset, or a list of a user's."""

from __future__ import annotations

from collections.abc import Sequence

from swvp.structures.tree.part_templates import PART_PRESETS, PartTemplates, parse_part_templates
from swvp.structures.tree.templates import PRESETS, ArcTemplate, parse_arc_templates
from swvp.training.options import lines_of

__all__ = ["chosen_features", "chosen_parts"]


def chosen_features(features: str | Sequence[str]) -> list[ArcTemplate]:
    """The templates of arcs that a user asked for."""
    return parse_arc_templates(lines_of(features, PRESETS))


def chosen_parts(features: str | Sequence[str]) -> PartTemplates:
    """The templates of arcs, siblings and grandparents that a user asked for."""
    return parse_part_templates(lines_of(features, PRESETS | PART_PRESETS))
