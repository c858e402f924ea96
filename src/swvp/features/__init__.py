"""Feature templates of taggers and parsers: the template language, its functions, the presets, and word clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.features.clusters import learn_clusters as learn_clusters
    from swvp.features.parser_templates import parse_arc_templates as parse_arc_templates
    from swvp.features.parser_templates import parse_label_templates as parse_label_templates
    from swvp.features.parser_templates import parse_part_templates as parse_part_templates
    from swvp.features.presets import register_preset as register_preset
    from swvp.features.templates import FUNCTIONS as FUNCTIONS
    from swvp.features.templates import PRESETS as PRESETS
    from swvp.features.templates import parse_templates as parse_templates
    from swvp.features.templates import read_templates as read_templates
    from swvp.features.templates import register_function as register_function

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FUNCTIONS": "swvp.features.templates",
        "PRESETS": "swvp.features.templates",
        "learn_clusters": "swvp.features.clusters",
        "parse_arc_templates": "swvp.features.parser_templates",
        "parse_label_templates": "swvp.features.parser_templates",
        "parse_part_templates": "swvp.features.parser_templates",
        "parse_templates": "swvp.features.templates",
        "read_templates": "swvp.features.templates",
        "register_function": "swvp.features.templates",
        "register_preset": "swvp.features.presets",
    },
)
