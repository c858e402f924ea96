"""Readings of the paper that a rule may choose, and what is refused with its reason."""

import warnings

import numpy as np
import pytest

from helpers.margins import gamma_of
from helpers.problems import as_chain, random_sequences
from helpers.trees import toy
from swvp import DependencyParser, SequenceTagger
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import new_state, run_epochs
from swvp.learning.rule import UpdateRule, as_rule
from swvp.structures import operations
from swvp.structures.chain.indicator import new_model


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [("wmr", [32 / 33, 1 / 33]), ("wmr-printed", [1 / (1 + (7 / 8) ** 5), (7 / 8) ** 5 / (1 + (7 / 8) ** 5)])],
)
def test_wmr_takes_the_wrong_positions_or_all_eight_for_jj(scheme, expected):
    """Two wrong positions of a label of eight, β = 5."""
    np.testing.assert_allclose(gamma_of(scheme, [-2.0, 1.0], beta=5, right=6), expected)


def test_wmr_as_printed_and_wmr_are_one_where_everything_is_wrong_or_violations_only_count():
    np.testing.assert_allclose(gamma_of("wmr-printed", [-2, 1, 3]), gamma_of("wmr", [-2, 1, 3]))
    X, Y = random_sequences(np.random.default_rng(0), examples=20, symbols=6, labels=3, longest=6)
    for rules, equal in ((("a-wmr", "a-wmr-printed"), True), (("b-wmr", "b-wmr-printed"), False)):
        weights = [trained(rule, X, Y) for rule in rules]
        assert (weights[0].tolist() == weights[1].tolist()) == equal


def trained(rule, X, Y, epochs=3):
    model = new_model(6, 3, 6)
    for _ in run_epochs(as_chain(X, Y), model, as_rule(rule), examples=len(X), epochs=epochs):
        pass
    return operations.weights(model)


class Switches:
    """Two switches, each with a weight for on."""

    def joint_feature(self, x, y):
        return [float(y[0]), float(y[1]), float(y[0] and y[1])]

    def argmax(self, x, w):
        return x  # a search that finds what it is told


def learn(rule, *, found, gold, start, epochs=1):
    learner = StructuredPerceptron(Switches(), rule=rule, epochs=epochs, shuffle=False)
    return learner.fit([found], [gold], initial=np.array(start, float))


def test_a_literal_csp_updates_where_the_prediction_is_no_violation():
    given = {"found": (1, 0), "gold": (0, 0), "start": [-1, 0, 0]}
    assert learn("csp", **given).history_[0].without_violation == 1
    assert learn("csp", **given).last_coef_.tolist() == [-1, 0, 0]
    assert learn("csp:literal", **given).last_coef_.tolist() == [-2, 0, 0]


def test_a_literal_balanced_rule_weighs_non_violations_where_nothing_is_violated():
    given = {"found": (1, 1), "gold": (0, 0), "start": [-1, -3, 9]}  # each alone is no violation, both are
    backed_off, literal = learn("b-wm", **given), learn("b-wm:literal", **given)
    assert backed_off.history_[0].back_offs == 1
    assert backed_off.last_coef_.tolist() == [-2, -4, 8]
    assert literal.history_[0].back_offs == 0
    assert literal.history_[0].condition_2_failures == 1
    assert literal.last_coef_.tolist() == [-1.25, -3.75, 9]


def test_a_balanced_gamma_without_weight_on_a_violation_backs_off():
    """One violation of margin 0, one non-violation: wm would put all weight on the latter."""
    given = {"found": (1, 1), "gold": (0, 0), "start": [0, -3, 4]}
    backed_off, literal = learn("b-wm", **given), learn("b-wm:literal", **given)
    assert backed_off.history_[0].back_offs == 1
    assert backed_off.last_coef_.tolist() == [-1, -4, 3]
    assert literal.last_coef_.tolist() == [0, -4, 4]
    assert learn("b-wmr", **given).history_[0].back_offs == 0


def test_a_schedule_takes_its_rules_one_after_the_other():
    X, Y = random_sequences(np.random.default_rng(1), examples=20, symbols=6, labels=3, longest=6)
    assert as_rule("1xcsp..2xa-wm..b-wm", beta=2).name == "1xcsp..2xa-wm..b-wm"
    assert [rule.beta for rule in as_rule("1xcsp..a-wm", beta=2).stages] == [2, 2]
    model = new_model(6, 3, 6)
    problem = as_chain(X, Y)
    state = new_state(as_rule("csp"), model)
    first = list(run_epochs(problem, model, as_rule("csp"), examples=20, epochs=1, state=state))
    both = first + list(run_epochs(problem, model, as_rule("a-wm"), examples=20, epochs=2, state=state, first=2))
    assert state.clock == 60
    scheduled = new_model(6, 3, 6)
    history = list(run_epochs(problem, scheduled, as_rule("1xcsp..a-wm"), examples=20, epochs=3))
    assert operations.weights(scheduled).tolist() == operations.weights(model).tolist()
    assert [epoch.mistakes for epoch in history] == [epoch.mistakes for epoch in both]
    assert history[0].back_offs == 0 < history[1].violating


def test_a_tagger_takes_a_schedule():
    X, y = [["a", "b"], ["b", "a", "c"]], [["x", "y"], ["y", "x", "x"]]
    tagger = SequenceTagger(rule="1xcsp..a-wm:segments", epochs=3, random_state=0).fit(X, y)
    assert [list(labels) for labels in tagger.predict(X)] == y


@pytest.mark.parametrize("text", ["csp..a-wm", "0xcsp..a-wm", "2xcsp..", "axcsp..a-wm"])
def test_a_schedule_that_is_not_one_is_explained(text):
    with pytest.raises(InputError, match="write a schedule as 2xcsp"):
        as_rule(text)


def test_a_passive_rule_is_refused_with_the_proof():
    with pytest.raises(InputError, match=r"passive.*condition \(2\).*condition \(1\).*use 'a-wm' or 'b-wm'"):
        as_rule("p-wm")


def test_imposing_and_ignoring_a_condition_exclude_each_other():
    with pytest.raises(InputError, match="cannot both impose"):
        UpdateRule(impose=True, literal=True)


class Spelling:
    """Labels of any length: x is a word, y the letters of it that are kept."""

    variable_length = True

    def joint_feature(self, x, y):
        counts = [0.0] * 27
        for letter in y:
            counts[ord(letter) - ord("a")] += 1
        return [*counts[:26], len(y)]

    def argmax(self, x, w):
        return tuple(letter for letter in x if w[ord(letter) - ord("a")] + w[26] > 0)


@pytest.mark.parametrize("rule", ["csp", "a-wm", "b-uniform:all", "a-uniform:segments:mira", "b-wmr-printed"])
def test_labels_may_differ_in_length_where_the_problem_says_so(rule):
    X = [tuple(word) for word in ("banana", "cabbage", "ebb", "deaf")]
    y = [tuple(letter for letter in x if letter in "aeiou") for x in X]
    learner = StructuredPerceptron(Spelling(), rule=rule, epochs=50, random_state=0).fit(X, y)
    assert learner.converged_
    assert learner.score(X, y) == 1.0
    assert learner.history_[0].mistakes > 0


def test_another_length_is_an_error_that_names_the_way_out():
    class Fixed(Spelling):
        variable_length = False

    with pytest.raises(InputError, match="variable_length = True"):
        StructuredPerceptron(Fixed()).fit([("b", "a")], [("a",)])


def test_a_parser_says_that_a_rule_of_the_paper_has_a_margin_unless_told():
    X, y = toy(count=5)
    with pytest.warns(
        UserWarning, match="rule csp is trained with a margin of 1; margin 0 is the algorithm of the pap"
    ):
        DependencyParser(rule="csp", epochs=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        DependencyParser(rule="csp", margin=0, epochs=1).fit(X, y)
        DependencyParser(epochs=1).fit(X, y)
