"""The words of a script without blanks, such as Chinese: those of a treebank, and where they lie in other texts.

Three columns of a character say how long the longest known words are, LONGEST at most, or nothing if there are none:

    ends     those whose last character it is
    begins   those that begin after it
    spans    those that have it and the next character inside

In training, words that occur in one piece of text only count as unknown in that piece. Otherwise all of its words would
be known, which is true of no other text, and the tokenizer would trust the columns too much.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from swvp.text.boundaries import WITHOUT_BLANKS, script_of

__all__ = ["LONGEST", "WORD_COLUMNS", "WORD_TEMPLATES", "count_words", "lengths_of_words"]

WORD_COLUMNS = ("ends", "begins", "spans")
WORD_TEMPLATES = [
    "ends[0]",
    "begins[0]",
    "spans[0]",
    "ends[0] & begins[0]",
    "ends[0] & spans[0]",
    "begins[0] & spans[0]",
    "ends[0] & begins[0] & spans[0]",
    "ends[0] & char[0]",
    "spans[0] & char[0]",
    "begins[0] & char[1]",
    "spans[0] & char[0] & char[1]",
    "ends[-1] & ends[0]",
    "ends[0] & ends[1]",
    "begins[-1] & begins[0]",
    "begins[0] & begins[1]",
    "spans[-1] & spans[0] & spans[1]",
]
"""The features of known words, chosen on the dev set of a Chinese treebank."""

LONGEST = 8
"""Known words have at most so many characters."""
LEAST_SHARE = 0.1
"""Words are remembered if at least this share of all tokens are of a script without blanks."""


def count_words(texts: Iterable[tuple[str, Sequence[Sequence[tuple[int, int]]]]]) -> Counter[str]:
    """Return how often each word of a script without blanks occurs in texts, given the tokens of their sentences.

    Parameters
    ----------
    texts : iterable of (str, sentences)
        Each sentence has the (begin, end) of its tokens.

    Returns
    -------
    Counter
        Empty if the texts are mostly of other scripts.
    """
    words: Counter[str] = Counter()
    total = 0
    for text, sentences in texts:
        tokens = [text[begin:end] for spans in sentences for begin, end in spans]
        total += len(tokens)
        words.update(token for token in tokens if len(token) <= LONGEST and is_without_blanks(token))
    return words if words.total() >= LEAST_SHARE * total else Counter()


def is_without_blanks(token: str) -> bool:
    """Return whether all characters of a token are letters of scripts without blanks.

    >>> [is_without_blanks(token) for token in ("中文", "word", "。")]
    [True, False, False]
    """
    return all(map(has_no_blanks, token))


@functools.lru_cache(2**16)
def has_no_blanks(character: str) -> bool:
    return script_of(character) in WITHOUT_BLANKS


def lengths_of_words(
    chunk: str, words: AbstractSet[str], hidden: AbstractSet[str] = frozenset()
) -> tuple[list[int], list[int], list[int]]:
    """Return the columns `ends`, `begins` and `spans` of the characters of a chunk; 0 where there is no word.

    Parameters
    ----------
    chunk : str
    words : set of str
        The known words.
    hidden : set of str
        Words that are left out.

    Returns
    -------
    list of int, list of int, list of int

    Examples
    --------
    >>> lengths_of_words("abcd", {"ab", "b", "bcd"})
    ([0, 2, 0, 3], [3, 0, 0, 0], [2, 3, 3, 0])
    """
    size = len(chunk)
    ends, begins, spans = [0] * size, [0] * (size + 1), [0] * size
    for begin in range(size):
        for end in range(begin + 1, min(begin + LONGEST, size) + 1):
            word = chunk[begin:end]
            if word not in words or word in hidden:
                continue
            length = end - begin
            begins[begin] = length  # the longest one comes last
            ends[end - 1] = max(ends[end - 1], length)
            for inner in range(begin, end - 1):
                spans[inner] = max(spans[inner], length)
    return ends, begins[1:], spans
