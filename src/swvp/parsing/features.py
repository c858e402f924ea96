"""Owns which templates a parser has: those of a preset, or a list of a user's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from swvp.errors import InputError, unknown_name
from swvp.structures.tree.part_templates import PART_PRESETS, PartTemplates, parse_part_templates
from swvp.structures.tree.templates import PRESETS, ArcTemplate, parse_arc_templates

__all__ = ["chosen_features", "chosen_parts"]


def chosen_features(features: str | Sequence[str]) -> list[ArcTemplate]:
    """The templates of arcs that a user asked for."""
    return parse_arc_templates(lines_of(features, PRESETS))


def chosen_parts(features: str | Sequence[str]) -> PartTemplates:
    """The templates of arcs, siblings and grandparents that a user asked for."""
    return parse_part_templates(lines_of(features, PRESETS | PART_PRESETS))


def lines_of(features: str | Sequence[str], presets: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """A preset by name, or templates."""
    if isinstance(features, str):
        if features not in presets:
            raise unknown_name("features", features, presets)
        return presets[features]
    if not isinstance(features, Collection) or not all(isinstance(text, str) for text in features):
        raise InputError(f"features must be the name of a preset or a list of templates, not {features!r}")
    return features
