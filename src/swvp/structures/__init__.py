"""Structures: what a label is made of, how it is predicted, and the margins and updates of its mixed assignments.

examples/compiled_structure.py shows how to write one of your own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.compiled import implement as implement
    from swvp.compiled import inlined as inlined
    from swvp.compiled import kernel as kernel
    from swvp.learning.perceptron import run_epochs as run_epochs
    from swvp.structures import operations as operations
    from swvp.structures.chain.reference import PlainChain as PlainChain
    from swvp.structures.exact import averaged as averaged

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "PlainChain": "swvp.structures.chain.reference",
        "averaged": "swvp.structures.exact",
        "implement": "swvp.compiled",
        "inlined": "swvp.compiled",
        "kernel": "swvp.compiled",
        "operations": "swvp.structures.operations",
        "run_epochs": "swvp.learning.perceptron",
    },
)
