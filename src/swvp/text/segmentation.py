"""A text divided into tokens and sentences."""

from __future__ import annotations

from typing import NamedTuple

from swvp.types import Ints

__all__ = ["Segmentation"]


class Segmentation(NamedTuple):
    """Where the tokens of a text begin and end, and which of them are a sentence.

    Parameters
    ----------
    token_starts, token_ends : ndarray of int64, shape (tokens,)
        In characters of the text.
    sentence_offsets : ndarray of int64, shape (sentences + 1,)
        The number of the first token of each sentence, and the number of tokens.
    """

    token_starts: Ints
    token_ends: Ints
    sentence_offsets: Ints
