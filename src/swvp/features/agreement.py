"""Agreement of two words: whether they have the same Case, Gender, Number and Person.

The value of each of the four is one of `VALUES`. A feature may have several values, as in Gender=Fem,Masc: two words
agree if they share one. Names are those of UD or, in any case of letters, the short ones of older treebanks (gen=f,
num=s). A name in brackets is another feature: Number[psor] is not Number.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from swvp.compiled import inlined
from swvp.types import Keys

__all__ = ["AGREEMENT", "VALUES", "agreement", "agreement_bits", "agreement_code"]

AGREEMENT = ("Case", "Gender", "Number", "Person")
VALUES = ("none", "same", "different", "first only", "second only")
"""What a feature of agreement can be: its index is its code, of `CODE_BITS` bits."""

CODE_BITS = 3
MOST_VALUES = 64
SHORT_NAMES = {"case": 0, "cas": 0, "gender": 1, "gen": 1, "number": 2, "num": 2, "person": 3, "per": 3}


@functools.lru_cache(2**14)
def values_by_name(feats: str) -> list[set[str]]:
    """The values of each feature of agreement that a string such as Case=Nom|Number=Sing has.

    They are remembered, because the blocks of a file repeat most strings.
    """
    values: list[set[str]] = [set() for _ in AGREEMENT]
    for part in feats.split("|"):
        name, _, value = part.partition("=")
        number = SHORT_NAMES.get(name.lower())
        if number is not None:
            values[number].update(filter(None, value.split(",")))
    return values


def agreement(first: str, second: str) -> list[str]:
    """The agreement of two words, given their morphological features.

    >>> agreement("Case=Nom|Number=Sing", "Gender=Fem|Number=Plur,Sing")
    ['first only', 'second only', 'same', 'none']
    """
    values = []
    for a, b in zip(values_by_name(first), values_by_name(second), strict=True):
        if a and b:
            values.append("same" if a & b else "different")
        else:
            values.append("first only" if a else "second only" if b else "none")
    return values


def agreement_bits(strings: Sequence[str]) -> Keys:
    """The values of each feature of agreement as bits, [k, a] for string k and feature a; 0 without a value.

    If a feature has more than 64 different values in these strings, some of them count as equal.
    """
    bits = np.zeros((len(strings), len(AGREEMENT)), np.uint64)
    table = [values_by_name(string) for string in strings]
    for a in range(len(AGREEMENT)):
        ordered = sorted(set().union(*(values[a] for values in table)))
        numbers = {value: number % MOST_VALUES for number, value in enumerate(ordered)}
        for k, values in enumerate(table):
            bits[k, a] = sum(1 << number for number in {numbers[value] for value in values[a]})
    return bits


@inlined
def agreement_code(bits, first, second):
    """The agreement of two nodes: the codes of the four features, `CODE_BITS` bits each."""
    code = 0
    for a in range(bits.shape[1]):
        x, y = bits[first, a], bits[second, a]
        both = 1 if x & y else 2
        code |= (both if x and y else 3 if x else 4 if y else 0) << (CODE_BITS * a)
    return code
