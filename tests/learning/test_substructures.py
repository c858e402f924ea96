"""The families of sub-structures are what their definitions say, and users' own functions are kept in bounds."""

from itertools import chain, combinations, groupby

import numpy as np
import pytest

from helpers.problems import as_chain
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import run_epochs
from swvp.learning.python_rule import sets_of
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.substructures import OF_POSITIONS
from swvp.structures.chain.indicator import new_model


def runs(wrong):
    """Neighbours have the same difference between position and index."""
    grouped = groupby(enumerate(wrong), key=lambda pair: pair[1] - pair[0])
    return [tuple(position for _, position in group) for _, group in grouped]


DEFINITIONS = {
    "single": lambda wrong: combinations(wrong, 1),
    "full": lambda wrong: combinations(wrong, len(wrong)),
    "segments": runs,
    "pairs": lambda wrong: combinations(wrong, min(2, len(wrong))),
    "triples": lambda wrong: combinations(wrong, min(3, len(wrong))),
    "prefixes": lambda wrong: (tuple(wrong[:k]) for k in range(1, len(wrong) + 1)),
    "single+full": lambda wrong: {*combinations(wrong, 1), tuple(wrong)},
    "all": lambda wrong: chain.from_iterable(combinations(wrong, k) for k in range(1, len(wrong) + 1)),
}


def labels_with(wrong, size):
    gold = np.zeros(size, int)
    predicted = gold.copy()
    predicted[list(wrong)] = 1
    return gold.tolist(), predicted.tolist()


class Votes:
    """Every position is decided by itself: y_k = 1 where w_k > 0. φ is y."""

    def joint_feature(self, x, y):
        return np.array(y, float)

    def argmax(self, x, w):
        return [int(v > 0) for v in w[: len(x)]]


def fit(rule, *, size=4):
    """One pass over one example whose positions are all wrong at w = 0."""
    return StructuredPerceptron(Votes(), rule=rule, epochs=1, shuffle=False).fit([[0] * size], [[1] * size])


@pytest.mark.parametrize("name", OF_POSITIONS)
def test_a_family_has_the_sets_of_its_definition_each_once(name):
    rng = np.random.default_rng(1)
    for _ in range(60):
        size = int(rng.integers(1, 13))
        wrong = sorted(rng.choice(size, size=rng.integers(1, min(size, 8) + 1), replace=False).tolist())
        assert sorted(sets_of(name, *labels_with(wrong, size))) == sorted(DEFINITIONS[name](wrong))


@pytest.mark.parametrize("name", OF_POSITIONS)
def test_one_wrong_position_makes_one_set(name):
    assert sets_of(name, *labels_with([3], 7)) == [(3,)]


@pytest.mark.parametrize("name", OF_POSITIONS)
def test_equal_labels_have_no_sets(name):
    assert sets_of(name, [2, 0, 1], [2, 0, 1]) == []


def test_triples_of_two_wrong_positions_are_both_together():
    assert sets_of("triples", *labels_with([1, 4], 6)) == [(1, 4)]


def test_labels_may_be_of_any_kind():
    assert sets_of("segments", ["N", "V", "N"], ("V", "N", "N")) == [(0, 1)]


def test_full_has_no_limit_on_the_length_of_a_label():
    size = 3000
    assert sets_of("full", *labels_with(range(size), size)) == [tuple(range(size))]


def test_all_is_allowed_for_sixteen_wrong_positions():
    assert len(sets_of("all", *labels_with(range(16), 16))) == 2**16 - 1


@pytest.mark.parametrize("wrong", [17, 64, 2000])
def test_all_is_refused_for_too_many_wrong_positions(wrong):
    with pytest.raises(InputError, match=f"'all' of {wrong} wrong positions"):
        sets_of("all", *labels_with(range(wrong), wrong))


def test_training_the_compiled_chain_refuses_all_and_names_the_example():
    lengths = (2, 17)
    X, Y = [(0,) * n for n in lengths], [(1,) * n for n in lengths]
    model = new_model(1, 2, max(lengths))
    model.w_label[0] = 1e6  # stays ahead, whatever the first example teaches
    with pytest.raises(InputError, match="substructures 'all' of example 1 ") as caught:
        list(run_epochs(as_chain(X, Y), model, as_rule("a-uniform:all"), examples=2, epochs=1))
    assert "\n" not in str(caught.value)


def test_training_the_generic_learner_refuses_all_and_names_the_example():
    with pytest.raises(InputError, match="substructures 'all' of example 0 "):
        fit("a-uniform:all", size=17)


def test_an_unknown_family_is_an_input_error():
    with pytest.raises(InputError, match="segments"):
        sets_of("segment", [0], [1])


def test_sets_of_the_users_are_cut_down_to_wrong_positions():
    gold, predicted = labels_with([1, 2], 4)
    assert sets_of(lambda gold, predicted: [[0, 1], [3, 2, 1]], gold, predicted) == [(1,), (1, 2)]


def test_sets_of_the_users_that_become_the_same_count_once():
    gold, predicted = labels_with([1, 2], 4)
    assert sets_of(lambda gold, predicted: [[1], [1, 0], [1, 1], [2]], gold, predicted) == [(1,), (2,)]


def test_sets_of_the_users_without_a_wrong_position_are_left_out():
    gold, predicted = labels_with([1, 2], 4)
    assert sets_of(lambda gold, predicted: [[], [0, 3], [2]], gold, predicted) == [(2,)]


@pytest.mark.parametrize("position", [-1, 4])
def test_positions_outside_the_label_are_refused(position):
    def outside(gold, predicted):
        return [[0, position]]

    with pytest.raises(InputError, match=r"substructures function outside .* from 0 to 3") as caught:
        fit(UpdateRule(substructures=outside, gamma="uniform"))
    assert "\n" not in str(caught.value)


def test_a_users_function_sees_the_gold_label_and_the_prediction():
    seen = []

    def watch(gold, predicted):
        seen.append((list(gold), list(predicted)))
        return [[0]]

    fit(UpdateRule(substructures=watch, gamma="uniform"))
    assert seen == [([1, 1, 1, 1], [0, 0, 0, 0])]


def test_training_uses_the_sets_of_the_users_function():
    learner = fit(UpdateRule(substructures=lambda gold, predicted: [[0, 1], [3]], gamma="uniform"))
    np.testing.assert_array_equal(learner.last_coef_, [0.5, 0.5, 0, 0.5])


def test_the_compiled_chain_uses_the_sets_of_the_users_function_too():
    X, Y = [(0, 1, 2, 3), (3, 1, 0)], [(1, 2, 1, 1), (2, 1, 1)]

    def by_hand(gold, predicted):
        return [[k] for k in range(len(gold))]

    own, named = new_model(4, 3, 4), new_model(4, 3, 4)
    list(run_epochs(as_chain(X, Y), own, UpdateRule(substructures=by_hand), examples=2, epochs=3))
    list(run_epochs(as_chain(X, Y), named, UpdateRule(substructures="single"), examples=2, epochs=3))
    np.testing.assert_array_equal(own.w, named.w)


@pytest.mark.parametrize("sets", [[], [[]]])
def test_no_sets_at_all_back_off_to_csp_and_are_counted(sets):
    learner = fit(UpdateRule(substructures=lambda gold, predicted: sets, gamma="uniform"))
    np.testing.assert_array_equal(learner.last_coef_, [1, 1, 1, 1])
    assert (learner.history_[0].updates, learner.history_[0].back_offs) == (1, 1)


def test_no_sets_at_all_back_off_on_the_compiled_chain_too():
    X, Y = [(0, 1, 2)], [(1, 2, 1)]
    own, csp = new_model(3, 3, 3), new_model(3, 3, 3)
    rule = UpdateRule(substructures=lambda gold, predicted: [], gamma="uniform")
    (epoch,) = run_epochs(as_chain(X, Y), own, rule, examples=1, epochs=1)
    list(run_epochs(as_chain(X, Y), csp, as_rule("csp"), examples=1, epochs=1))
    np.testing.assert_array_equal(own.w, csp.w)
    assert epoch.back_offs == 1
