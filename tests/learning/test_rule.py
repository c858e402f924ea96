"""Rules: short names, their errors, and functions of the users' own."""

import itertools
import re

import numpy as np
import pytest

from helpers.problems import RememberingChain, as_chain, random_sequences
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.gamma import GAMMAS
from swvp.learning.perceptron import run_epochs
from swvp.learning.python_rule import sets_of
from swvp.learning.rule import (
    APPROACHES,
    PAPER_RULES,
    STEPS,
    UpdateRule,
    as_rule,
    register_gamma,
    register_substructures,
    registered_gammas,
    registered_substructures,
)
from swvp.learning.substructures import SUBSTRUCTURES
from swvp.structures import operations
from swvp.structures.chain.indicator import new_model


@pytest.fixture(autouse=True)
def _registries():
    """Every test starts without names of the users' own, and its names are forgotten after it."""
    before = [(registry, registry.copy()) for registry in (registered_gammas, registered_substructures)]
    for registry, _ in before:
        registry.clear()
    yield
    for registry, names in before:
        registry.clear()
        registry.update(names)


EVERY_RULE = [
    UpdateRule(approach=approach, gamma=gamma, substructures=substructures, step=step, impose=impose)
    for approach, gamma, substructures, step, impose in itertools.product(
        APPROACHES, GAMMAS, SUBSTRUCTURES, STEPS, (False, True)
    )
]


MIRA = ["mira", "mira:5", "a-wm:mira", "b-softmin:segments:mira:impose"]


def test_every_rule_can_be_read_back_from_its_short_name():
    assert [as_rule(rule.name) for rule in EVERY_RULE] == EVERY_RULE


def test_different_rules_have_different_short_names():
    assert len({rule.name for rule in EVERY_RULE}) == len(EVERY_RULE)


@pytest.mark.parametrize(
    "name", [*PAPER_RULES, "a-softmin:single+full", "b-wm:pairs:sqrt:impose", "a-worst:count", *MIRA]
)
def test_a_short_name_is_the_name_of_its_rule(name):
    assert as_rule(name).name == name


def test_the_parts_of_a_short_name_may_come_in_any_order():
    assert as_rule("b-wm:impose:sqrt:pairs") == as_rule("b-wm:pairs:sqrt:impose")


def test_csp_is_one_full_sub_structure_of_weight_1():
    assert as_rule("csp") == UpdateRule(substructures="full", gamma="uniform", step="unit")


def test_mira_is_csp_with_the_step_mira():
    assert as_rule("mira") == as_rule("csp", step="mira")
    assert as_rule("mira:1") == as_rule("mira")
    assert as_rule("mira:5", C=0.1) == as_rule("mira", k_best=5, C=0.1)


def test_the_name_leaves_numbers_out():
    assert as_rule("csp", beta=3).name == "csp"
    assert as_rule("a-wm:pairs", beta=3).name == "a-wm:pairs"
    assert as_rule("mira", beta=3, C=0.1).name == "mira"


@pytest.mark.parametrize("name", ["mira:", "mira:five", "mira:-1", "mira:²"])
def test_mira_takes_a_number_only(name):
    with pytest.raises(InputError, match="as in mira:5"):
        as_rule(name)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None])
def test_the_number_of_best_outputs_must_be_a_whole_number(k):
    with pytest.raises(InputError, match="k_best must be a whole number"):
        as_rule("mira", k_best=k)


@pytest.mark.parametrize("change", [{"gamma": "wm"}, {"step": "unit"}, {"substructures": "single"}, {"impose": True}])
def test_only_mira_takes_several_best_outputs(change):
    with pytest.raises(InputError, match="more than one output is for the rule mira"):
        as_rule("mira:5", **change)


def test_fields_given_beside_a_rule_replace_its_own():
    assert as_rule(as_rule("b-wm", beta=2), step="sqrt") == UpdateRule(approach="balanced", beta=2, step="sqrt")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("wm", "csp, csp:ada, mira, mira:K, softmax, a-wm, a-wmr"),
        ("c-wm", "b-softmin, b-worst, b-optimal"),
        ("", "csp, csp:ada, mira, mira:K, softmax, a-wm"),
        ("a-wn", ", ".join(GAMMAS)),
        ("a-wm:segment", ", ".join([*SUBSTRUCTURES, *STEPS, "impose"])),
    ],
)
def test_a_wrong_short_name_is_answered_with_the_right_ones(name, known):
    with pytest.raises(InputError, match="unknown") as caught:
        as_rule(name)
    assert known in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_short_name_is_answered_with_a_guess():
    with pytest.raises(InputError, match="did you mean 'segments'"):
        as_rule("a-wm:segment")


@pytest.mark.parametrize(
    ("field", "known"),
    [("substructures", SUBSTRUCTURES), ("gamma", GAMMAS), ("approach", APPROACHES), ("step", STEPS)],
)
def test_a_wrong_field_is_answered_with_the_right_names(field, known):
    with pytest.raises(InputError, match=f"unknown {field} 'nonsense'") as caught:
        UpdateRule(**{field: "nonsense"})
    assert str(caught.value).endswith("known: " + ", ".join(known))


@pytest.mark.parametrize("field", ["beta", "C"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "1", None])
def test_beta_and_c_must_be_positive_numbers(field, value):
    with pytest.raises(InputError, match=f"{field} must be a number > 0"):
        UpdateRule(**{field: value})


@pytest.mark.parametrize("beta", [2, 0.5, np.float32(0.5), np.int64(2)])
def test_beta_may_be_any_kind_of_number(beta):
    assert UpdateRule(beta=beta).beta == beta


def weights_after_training(rule):
    X, Y = random_sequences(np.random.default_rng(11), examples=12, symbols=5, labels=3, longest=5)
    return StructuredPerceptron(RememberingChain(5, 3), rule=rule, epochs=3, shuffle=False).fit(X, Y).last_coef_


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("substructures", ["single", "full", "prefixes"])
def test_beta_matters_just_where_a_rule_says_so(gamma, substructures):
    rule = UpdateRule(gamma=gamma, substructures=substructures, approach="balanced")
    same = np.allclose(weights_after_training(as_rule(rule, beta=0.5)), weights_after_training(as_rule(rule, beta=4)))
    assert rule.uses_beta == (not same)


def test_a_registered_gamma_is_part_of_short_names():
    register_gamma("squared", lambda margins, beta: margins**2 + 1e-6)
    rule = as_rule("b-squared:pairs")
    assert (rule.gamma, rule.name) == ("squared", "b-squared:pairs")


def test_a_registered_gamma_sets_the_weights():
    seen = []

    def first(margins, beta):
        seen.append(beta)
        return [1.0] + [0.0] * (len(margins) - 1)

    register_gamma("first", first)
    np.testing.assert_array_equal(fit_votes(as_rule("a-first", beta=3)).last_coef_, [1, 0, 0])
    assert seen == [3]


def test_a_registered_gamma_is_scaled_to_sum_1():
    register_gamma("five", lambda margins, beta: np.full(len(margins), 5))
    np.testing.assert_allclose(fit_votes("a-five").last_coef_, [1 / 3] * 3, atol=1e-7)


def test_registered_substructures_are_part_of_short_names():
    register_substructures("ends", lambda gold, predicted: [[0], [len(gold) - 1]])
    assert as_rule("a-wm:ends").name == "a-wm:ends"
    np.testing.assert_array_equal(fit_votes("a-uniform:ends").last_coef_, [0.5, 0, 0.5])


def test_registered_substructures_are_families_like_the_others():
    register_substructures("ends", lambda gold, predicted: [[0], [len(gold) - 1]])
    assert sets_of("ends", [0, 0, 0], [1, 1, 0]) == [(0,)]


def test_errors_list_registered_names_too():
    register_gamma("squared", lambda margins, beta: margins**2)
    register_substructures("ends", lambda gold, predicted: [[0]])
    with pytest.raises(InputError, match="maxent, squared"):
        as_rule("a-cubed")
    with pytest.raises(InputError, match="components, ends"):
        UpdateRule(substructures="middle")


@pytest.mark.parametrize("name", ["wm", "unit", "impose", "", "a-b", "a:b", "a b", "a,b"])
def test_a_name_that_short_names_could_not_tell_apart_is_refused(name):
    with pytest.raises(InputError, match="cannot name gamma"):
        register_gamma(name, lambda margins, beta: margins)


@pytest.mark.parametrize("name", ["pairs", "sqrt", "impose", "", "a:b"])
def test_a_name_of_a_family_that_is_taken_is_refused(name):
    with pytest.raises(InputError, match="cannot name substructures"):
        register_substructures(name, lambda gold, predicted: [[0]])


class Votes:
    """Every position is decided by itself: y_k = 1 where w_k > 0. φ is y."""

    def joint_feature(self, x, y):
        return np.array(y, float)

    def argmax(self, x, w):
        return [int(v > 0) for v in w]


def fit_votes(rule):
    """One update, on an example whose three positions are all wrong at w = 0."""
    return StructuredPerceptron(Votes(), rule=rule, epochs=1, shuffle=False).fit([None], [[1, 1, 1]])


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        ([1, float("nan"), 1], "NaN or infinite weights"),
        ([1, float("inf"), 1], "NaN or infinite weights"),
        ([1, -0.5, 1], "negative weights"),
        ([0, 0, 0], "only zeros"),
        ([1, 1], "an array of shape (2,) for 3 margins"),
        ([1, 1, 1, 1], "an array of shape (4,) for 3 margins"),
        (1.0, "an array of shape () for 3 margins"),
        ([[1], [1], [1]], "an array of shape (3, 1) for 3 margins"),
        (["a", "b", "c"], "or no numbers"),
        ([[1], [1, 1], [1]], "or no numbers"),
    ],
    ids=str,
)
def test_a_gamma_function_that_returns_nonsense_is_named_in_one_line(returned, complaint):
    def my_gamma(margins, beta):
        return returned

    with pytest.raises(InputError, match="gamma function my_gamma returned .*" + re.escape(complaint)) as caught:
        fit_votes(UpdateRule(gamma=my_gamma))
    assert "\n" not in str(caught.value)


def test_a_gamma_function_may_change_the_margins_it_gets():
    def spoil(margins, beta):
        margins[:] = -1000
        return np.ones(len(margins))

    X, Y = random_sequences(np.random.default_rng(12), examples=8, symbols=5, labels=3, longest=5)
    spoilt, plain = (
        StructuredPerceptron(RememberingChain(5, 3), rule=rule, epochs=3, shuffle=False).fit(X, Y)
        for rule in (UpdateRule(gamma=spoil, approach="balanced", impose=True), "b-uniform:impose")
    )
    np.testing.assert_array_equal(spoilt.last_coef_, plain.last_coef_)


@pytest.mark.parametrize("approach", APPROACHES)
def test_a_users_gamma_equal_to_wm_learns_the_same_on_the_compiled_chain(approach):
    def my_wm(margins, beta):
        return np.abs(margins) ** beta

    rng = np.random.default_rng(13)
    X, Y = random_sequences(rng, examples=20, symbols=6, labels=3, longest=6)
    own, built_in = (new_model(6, 3, 6, rng.normal(size=6 + 3 + 4 + 18 + 12 + 72)) for _ in range(2))
    built_in.w[:] = own.w
    rule = UpdateRule(gamma=my_wm, approach=approach, beta=1.5, substructures="pairs", step="sqrt")
    list(run_epochs(as_chain(X, Y), own, rule, examples=20, epochs=5))
    list(run_epochs(as_chain(X, Y), built_in, as_rule(rule, gamma="wm"), examples=20, epochs=5))
    np.testing.assert_allclose(own.w, built_in.w, atol=1e-10)


def test_contradictory_parts_of_a_rule_are_refused():
    with pytest.raises(InputError, match="more than one part for its step"):
        as_rule("a-wm:sqrt:count")


def test_what_is_no_function_cannot_be_registered():
    with pytest.raises(InputError, match="gamma 'three' must be a function, not a int"):
        register_gamma("three", 3)


@pytest.mark.parametrize("returned", [[0, 1], None, ["a"], [[0.5]]])
def test_substructures_that_are_no_sets_of_positions_are_one_clear_line(returned):
    def mine(gold, predicted):
        return returned

    with pytest.raises(InputError, match="substructures function mine must return sets of positions"):
        sets_of(mine, [0, 0], [1, 1])


def test_a_gamma_that_returns_none_backs_off():
    X, Y = random_sequences(np.random.default_rng(0), examples=10, symbols=6, labels=3, longest=5)

    def weights_of(rule):
        model = new_model(6, 3, 5)
        history = list(run_epochs(as_chain(X, Y), model, rule, examples=10, epochs=2))
        return operations.weights(model), sum(epoch.back_offs for epoch in history), sum(e.updates for e in history)

    silent, back_offs, updates = weights_of(UpdateRule(gamma=lambda margins, beta: None))
    np.testing.assert_array_equal(silent, weights_of(as_rule("csp"))[0])
    assert back_offs == updates > 0


def test_the_scale_of_a_gamma_function_does_not_matter():
    X, Y = random_sequences(np.random.default_rng(0), examples=10, symbols=6, labels=3, longest=5)

    def weights_of(scale):
        model = new_model(6, 3, 5)
        rule = UpdateRule(gamma=lambda margins, beta: np.full(len(margins), scale))
        list(run_epochs(as_chain(X, Y), model, rule, examples=10, epochs=2))
        return operations.weights(model)

    np.testing.assert_array_equal(weights_of(1e308), weights_of(1.0))


def test_unknown_rules_are_found_in_any_letters():
    with pytest.raises(InputError, match=r"unknown rule 'CSP' \(did you mean 'csp'\?\)"):
        as_rule("CSP")
    with pytest.raises(InputError, match="rule 'mira:0': K in mira:K must be at least 1"):
        as_rule("mira:0")


def test_another_function_of_the_same_name_is_told(monkeypatch):
    from swvp.learning import rule as module

    monkeypatch.setattr(module, "registered_gammas", {})

    def first(margins, beta):
        return margins

    def second(margins, beta):
        return margins

    module.register_gamma("mine", first)
    module.register_gamma("mine", first)
    with pytest.warns(UserWarning, match="gamma 'mine' of .*first is replaced by another function"):
        module.register_gamma("mine", second)
