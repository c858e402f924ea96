"""Agreement of two words: the definition by hand, and the codes of the kernels."""

import numpy as np
import pytest

from swvp.features.agreement import AGREEMENT, CODE_BITS, VALUES, agreement, agreement_bits, agreement_code

FEATS = [
    "_",
    "",
    "Case=Nom",
    "Case=Acc|Number=Sing",
    "Case=Acc,Nom|Gender=Fem,Masc",
    "gen=f|num=s|per=3",
    "Gender=f|Number=s",
    "Number[psor]=Sing|Person=3",
    "Case=|Person",
    "Mood=Ind|Number=Plur|Person=1",
]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("_", "_", ["none"] * 4),
        ("", "Case=Nom", ["second only", "none", "none", "none"]),
        ("Number=Sing|Person=3", "Number=Plur", ["none", "none", "different", "first only"]),
        ("Gender=Fem,Masc", "Gender=Masc", ["none", "same", "none", "none"]),
        ("Gender=Fem,Masc", "Gender=Neut", ["none", "different", "none", "none"]),
        ("gen=f|num=s", "Gender=f|NUMBER=s", ["none", "same", "same", "none"]),
        ("Number[psor]=Sing", "Number=Sing", ["none", "none", "second only", "none"]),
        ("Case=|Person", "Case=Nom|Person=1", ["second only", "none", "none", "second only"]),
    ],
)
def test_the_definition_by_hand(first, second, expected):
    assert agreement(first, second) == expected


def names_of(code):
    return [VALUES[(code >> CODE_BITS * a) & ((1 << CODE_BITS) - 1)] for a in range(len(AGREEMENT))]


def test_codes_are_the_definition():
    bits = agreement_bits(FEATS)
    for a, first in enumerate(FEATS):
        for b, second in enumerate(FEATS):
            assert names_of(int(agreement_code(bits, a, b))) == agreement(first, second)


def test_64_values_are_all_different():
    strings = [f"Case={number}" for number in range(64)]
    bits = agreement_bits(strings)
    assert len(np.unique(bits[:, 0])) == 64
    assert names_of(int(agreement_code(bits, 0, 63)))[0] == "different"


def test_more_than_64_values_do_not_overflow():
    bits = agreement_bits([f"Case={number},x" for number in range(200)])
    assert bits.dtype == np.uint64
    assert names_of(int(agreement_code(bits, 0, 199)))[0] == "same"
