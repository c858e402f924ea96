"""Figure 1 of the paper: J = {2, 5} on "Some mistakes are worse than others"."""

import pytest

from swvp import DependencyTree
from swvp.errors import InputError
from swvp.learning.python_rule import sets_of
from swvp.structures.generic import mixed_assignment, wrong_positions

WORDS = ["Some", "mistakes", "are", "worse", "than", "others"]
GOLD = (2, 3, 0, 3, 4, 5)
PREDICTED = (2, 4, 4, 0, 6, 4)
BOTTOM = (2, 4, 0, 3, 6, 5)
J = {2 - 1, 5 - 1}  # the paper counts from 1


def test_the_mixed_assignment_is_the_bottom_tree():
    assert mixed_assignment(GOLD, PREDICTED, J) == BOTTOM


def test_only_the_heads_of_mistakes_and_than_differ_from_the_gold_tree():
    assert [WORDS[k] for k in wrong_positions(GOLD, BOTTOM)] == ["mistakes", "than"]


def test_the_predicted_tree_has_a_uas_of_0_2():
    assert round(1 - len(wrong_positions(GOLD, PREDICTED)) / len(WORDS), 1) == 0.2


def test_the_roots_are_are_and_worse():
    assert [WORDS[DependencyTree(WORDS, heads).root - 1] for heads in (GOLD, PREDICTED)] == ["are", "worse"]


def test_the_bottom_tree_has_a_cycle():
    with pytest.raises(InputError, match="cycle"):
        DependencyTree(WORDS, BOTTOM)


def test_the_single_differences_are_one_for_each_wrong_arc():
    mixed = [mixed_assignment(GOLD, PREDICTED, J) for J in sets_of("single", GOLD, PREDICTED)]
    assert mixed == [
        (2, 4, 0, 3, 4, 5),
        (2, 3, 4, 3, 4, 5),
        (2, 3, 0, 0, 4, 5),
        (2, 3, 0, 3, 6, 5),
        (2, 3, 0, 3, 4, 4),
    ]
