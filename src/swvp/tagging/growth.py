"""Owns learning batch by batch: weights that keep their place while labels and attributes are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swvp.errors import InputError
from swvp.structures.chain.growth import take_over
from swvp.tagging.decoder import Decoder
from swvp.training.training import Weights, sum_of, weight_names

__all__ = ["grown", "with_new_labels"]


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
