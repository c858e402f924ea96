"""What messages call the kinds of structures: users know taggers and parsers, not classes."""

from __future__ import annotations

__all__ = ["title_of"]

TITLES = {
    "Arcs": "first-order parsers",
    "SecondOrder": "second-order parsers",
    "AttributeChain": "taggers",
    "SearchChain": "taggers with a beam or of order 2",
    "PythonProblem": "structures of your own",
}
"""What messages call the classes of problems that users meet."""


def title_of(structure: type) -> str:
    """Return what messages call a class of problems."""
    return TITLES.get(structure.__name__, structure.__name__)
