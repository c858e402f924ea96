"""Owns the check that two treebanks hold the same words, and where they part if not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.parsing.treebank import Treebank

__all__ = ["check_same_words"]


def check_same_words(gold: Treebank, predicted: Treebank) -> None:
    """An error that names the first place where words, lengths or numbers of sentences differ."""
    a, b = words_of(gold), words_of(predicted)
    if np.array_equal(a, b) and np.array_equal(gold.offsets, predicted.offsets):
        return
    fewer = min(gold.number_of_sentences, predicted.number_of_sentences)
    for number in range(fewer):
        of_gold, of_predicted = gold.sentence(number), predicted.sentence(number)
        if np.array_equal(a[of_gold], b[of_predicted]):
            continue
        for x, y in zip(range(of_gold.start, of_gold.stop), range(of_predicted.start, of_predicted.stop), strict=False):
            if a[x] != b[y]:
                raise InputError(f"{predicted.place(y)}: the word is '{b[y]}', at {gold.place(x)} '{a[x]}'")
        raise InputError(
            f"{predicted.place(of_predicted.start)}: a sentence of {counted(b[of_predicted].size, 'token')}, "
            f"at {gold.place(of_gold.start)} of {counted(a[of_gold].size, 'token')}"
        )
    less, more = sorted((gold, predicted), key=lambda treebank: treebank.number_of_sentences)
    raise InputError(
        f"{more.place(int(more.offsets[fewer]))}: sentence {fewer + 1} of {more.number_of_sentences}, "
        f"but {less.place(less.tokens - 1)} is the end of its {counted(fewer, 'sentence')}"
    )


def words_of(treebank: Treebank) -> NDArray[np.object_]:
    result: NDArray[np.object_] = np.array(treebank.words.strings, object)[treebank.words.ids]
    return result


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
