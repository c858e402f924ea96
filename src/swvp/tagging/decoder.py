"""Owns the choice of a search: exact or a beam, first or second order, and the arrays each of them works in.

Owns learning batch by batch: weights that keep their place while labels and attributes are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.structures.chain import attributes as exact
from swvp.structures.chain import search
from swvp.structures.chain.attributes import AttributeChain, take_over
from swvp.structures.chain.beam import FIXES
from swvp.structures.chain.sequences import Ids
from swvp.structures.operations import refresh
from swvp.training.training import Weights, sum_of, weight_names
from swvp.types import Floats

__all__ = ["DECODERS", "Decoder", "decoder_of", "grown", "with_new_labels"]

DECODERS = ("viterbi", "beam")


class Decoder(NamedTuple):
    """How labels are searched; width 0 is exact search."""

    barrier: Floats
    order: int
    width: int
    fix: str

    @property
    def plain(self) -> bool:
        """First order and exact: the fastest, and the one with marginals and k-best labels."""
        return self.order == 1 and not self.width

    def problem(self, chain: AttributeChain) -> Any:
        """The sequences as training takes them."""
        return chain if self.plain else search.as_search(chain, self.fix)

    def new_model(self, attributes: int, room: int) -> Any:
        """A model with all weights 0."""
        labels = len(self.barrier) - 1
        if self.plain:
            return exact.new_model(attributes, labels, room, self.barrier)
        return search.new_search_model(attributes, labels, room, self.barrier, self.order, self.width)

    def predict(self, chain: AttributeChain, weights: Weights, out: Ids) -> None:
        """Write the best labels under some weights."""
        model = self.new_model(0, int(np.diff(chain.offsets).max(initial=0)))._replace(**weights)
        refresh(model)
        if self.plain:
            exact.predict_all(chain, model, out)
        else:
            search.predict_all(search.as_search(chain), model, out)


def decoder_of(name: str, barrier: Floats, order: int, width: int, fix: str) -> Decoder:
    """The decoder of a tagger's parameters."""
    if name not in DECODERS:
        raise unknown_name("decoder", name, DECODERS)
    if fix not in FIXES:
        raise unknown_name("fix", fix, FIXES)
    beam = name == "beam"
    if beam and width == 0:
        raise InputError("width must be a whole number of at least 1, not 0")
    found = Decoder(barrier, order, width if beam else 0, fix if beam else "none")
    search.check_search(found.order, found.width, fix if beam else "none")
    return found


def with_new_labels(known: Sequence[Any], found: Sequence[Any]) -> list[Any]:
    """The known labels, then those that are new, sorted.

    >>> with_new_labels(["N", "V"], ["V", "D", "A"])
    ['N', 'V', 'A', 'D']
    """
    try:
        return [*known, *sorted(set(found) - set(known))]
    except TypeError:
        kinds = sorted({type(label).__name__ for label in found})
        raise InputError(
            f"labels must be of one kind that can be sorted, such as strings, not {', '.join(kinds)}"
        ) from None


def grown(old: Weights, labels: int, decoder: Decoder, attributes: int, room: int) -> Any:
    """A new model with the weights, and the sums for averaging, of one for the first `labels` labels."""
    model = decoder.new_model(attributes, room)
    parts = [part for name in weight_names(model) for part in (name, sum_of(name)) if part in old]
    take_over(model, {part: old[part] for part in parts}, labels)
    return model
