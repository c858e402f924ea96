"""γ over all mixed assignments of the K best outputs' labels is γ over their list."""

import itertools

import numpy as np
import pytest

from helpers.margins import gamma_of
from helpers.plain_tagger import (
    ATTRIBUTES,
    BARRIERS,
    LABELS,
    LONGEST,
    PlainTagger,
    as_problem,
    random_examples,
    started,
)
from helpers.slow import without_jit
from swvp import DependencyParser, SequenceTagger, StructuredPerceptron
from swvp.errors import InputError
from swvp.learning.all_subsets import AllSubsets, sweep_all_subsets
from swvp.learning.epoch import CONDITION_2_FAILURES, COUNTS, MISTAKES, WITHOUT_VIOLATION
from swvp.learning.label_lattice import AllOfLattice, sweep_lattice
from swvp.learning.perceptron import new_state, prepare, sweep, sweep_of
from swvp.learning.rule import as_rule
from swvp.structures import PlainChain, operations
from swvp.structures.chain.attributes import new_model

RULES = ["b-softmin:all:3", "b-maxent:all:3", "b-softmin:all:3:mira", "b-maxent:all:3:mira", "b-maxent:all:3:ada"]


def one_update(run, rule, problem, model, i):
    counts, before = np.zeros(len(COUNTS), np.int64), operations.weights(model).copy()
    run(problem, model, rule, np.array([i]), 0, 1.0, np.zeros(1), counts)
    return operations.weights(model) - before, counts


def best_outputs(plain, x, w, costs, y, k):
    """The k best outputs with costs, best first."""
    outputs = [z[::-1] for z in itertools.product(range(LABELS), repeat=len(x)) if plain.allowed(z[::-1])]
    score = {
        z: float(w @ plain.joint_feature(x, z)) + sum(costs[pair] for pair in zip(y, z, strict=True)) for z in outputs
    }
    return sorted(outputs, key=lambda z: -score[z])[:k]


def by_definition(rule, plain, x, y, w, costs):
    """The change of w, by listing every assignment of the lattice but the gold one."""
    best = best_outputs(plain, x, w, costs, y, rule.k_best)
    if best[0] == y:
        return np.zeros(len(w)), False
    choices = [sorted({z[t] for z in [y, *best]}) for t in range(len(x))]
    every = [z for z in itertools.product(*choices) if z != y]
    sizes = np.array([sum(a != b for a, b in zip(y, z, strict=True)) for z in every])
    taken = np.array([sum(costs[pair] for pair in zip(y, z, strict=True)) for z in every])
    deltas = np.array([plain.joint_feature(x, y) - plain.joint_feature(x, z) for z in every])
    margins = deltas @ w - taken
    gamma = gamma_of("maxent" if rule.gamma == "maxent" else "softmin", margins, beta=rule.beta, zero=1e-9)
    d, loss = gamma @ deltas, gamma @ sizes
    if rule.step == "mira":
        norm = d @ d
        return (min(rule.C, max(0.0, loss - gamma @ margins) / norm) * d if norm else 0 * d), True
    if rule.step == "ada":
        g = d * sum(a != b for a, b in zip(y, best[0], strict=True)) / loss
        return rule.C * g / np.sqrt(1 + g * g), True
    return d, True


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
@pytest.mark.parametrize("name", RULES)
@without_jit
def test_a_tagger_is_updated_as_by_the_list_of_all_mixed_assignments(name, valued, barrier):
    rng = np.random.default_rng(3)
    rule, updates = as_rule(name, beta=0.7), 0
    for _ in range(4):
        X, Y = random_examples(rng, valued=valued, barrier=BARRIERS[barrier])
        costs = rng.choice([0.0, 0.5, 2.0], size=(LABELS, LABELS)) * (1 - np.eye(LABELS))
        problem, plain = as_problem(X, Y, valued=valued)._replace(costs=costs), PlainTagger(BARRIERS[barrier])
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            model, w = started(rng, BARRIERS[barrier])
            expected, wrong = by_definition(rule, plain, x, y, w, costs)
            prepared = AllOfLattice(prepare(rule, new_state(rule, model).squares), rule.gamma == "maxent", 3)
            change, counts = one_update(sweep_lattice, prepared, problem, model, i)
            np.testing.assert_allclose(change, expected, atol=1e-5)
            assert counts[MISTAKES] == wrong
            assert counts[CONDITION_2_FAILURES] == 0 or "softmin" in name
            updates += wrong
    assert updates > 10


@pytest.mark.parametrize("from_zero", [False, True])
@pytest.mark.parametrize("name", ["b-softmin:all", "b-maxent:all:mira", "b-maxent:all:ada"])
@without_jit
def test_with_one_output_the_mixed_assignments_are_those_of_all_sub_structures(name, from_zero):
    rng = np.random.default_rng(4)
    rule = as_rule(name, beta=0.7)
    for _ in range(4):
        X, Y = random_examples(rng, valued=False)
        problem = as_problem(X, Y, valued=False)
        for i in range(len(X)):
            state, changes = rng.bit_generator.state, []
            for kind in (AllSubsets, AllOfLattice):
                rng.bit_generator.state = state
                model, _ = started(rng)
                if from_zero:
                    model.w[:] = model.w_move[:] = model.moves[:] = 0
                base, maxent = prepare(rule, new_state(rule, model).squares), rule.gamma == "maxent"
                if kind is AllSubsets:
                    changes.append(one_update(sweep_all_subsets, AllSubsets(base, maxent), problem, model, i))
                else:
                    changes.append(one_update(sweep_lattice, AllOfLattice(base, maxent, 1), problem, model, i))
            np.testing.assert_allclose(changes[1][0], changes[0][0], atol=1e-5)
            assert changes[0][1][MISTAKES] == changes[1][1][MISTAKES]


@without_jit
def test_maxent_is_csp_if_the_prediction_ties_with_gold_and_is_the_only_violation():
    """Gold labels 0, 0; the prediction 1, 1 has the same score, and other labels have less."""
    problem = as_problem([[[(0, 1.0)], [(1, 1.0)]]], [(0, 0)], valued=False)
    changes = []
    for rule in (AllOfLattice(prepare(as_rule("b-maxent:all")), True, 2), prepare(as_rule("csp"))):
        model = new_model(ATTRIBUTES, LABELS, LONGEST, None)
        model.w_move[1, 1], model.w[:, 1], model.w[:, 2] = 2.0, -1.0, -9.0
        model.moves[:] = model.w_move
        model.moves[0, 0] = -(2.0**-24)  # the search predicts 1, 1
        run = sweep_lattice if isinstance(rule, AllOfLattice) else sweep
        change, counts = one_update(run, rule, problem, model, 0)
        changes.append(change)
        assert counts[MISTAKES] == 1
        assert counts[CONDITION_2_FAILURES] == 0
    assert changes[1].any()
    np.testing.assert_array_equal(*changes)


@without_jit
def test_there_is_no_update_without_a_violation():
    """Search that cannot reach the gold labels, because a transition is forbidden, may predict something worse."""
    barrier = np.zeros((LABELS + 1, LABELS + 1))
    barrier[0, 0] = -np.inf
    problem = as_problem([[[(0, 1.0)], [(1, 1.0)]]], [(0, 0)], valued=False)
    model = new_model(ATTRIBUTES, LABELS, LONGEST, barrier)
    model.w[:, 0] = 5.0
    rule = AllOfLattice(prepare(as_rule("b-maxent:all")), True, 2)
    change, counts = one_update(sweep_lattice, rule, problem, model, 0)
    assert counts[WITHOUT_VIOLATION] == 1
    assert not change.any()


def test_a_tagger_learns_with_the_labels_of_several_outputs():
    X = [["a", "b"], ["b", "c", "a"], ["c"], ["a", "c", "b", "b"]] * 3
    y = [["X", "Y"], ["Y", "Z", "X"], ["Z"], ["X", "Z", "Y", "Y"]] * 3
    tagger = SequenceTagger(rule="b-maxent:all:3:ada", epochs=5, random_state=0).fit(X, y)
    assert tagger.score(X, y) == 1.0
    assert tagger.history_[0].condition_2_failures == 0


def test_names_with_several_outputs_are_read_back():
    for name in ("b-maxent:all:5", "b-softmin:all:10:mira", "b-maxent:all:3:ada"):
        assert as_rule(name).name == name
    assert as_rule("b-maxent:all:1").name == "b-maxent:all"
    assert as_rule("b-maxent:all:5").respects_conditions()
    assert not as_rule("b-softmin:all:5").respects_conditions()


@pytest.mark.parametrize("name", ["a-wm:5", "softmax:5", "b-maxent:5", "b-maxent:all:5:sqrt", "b-maxent:all:5:impose"])
def test_other_rules_take_one_output_only(name):
    with pytest.raises(InputError, match="more than one output is for the rule mira"):
        as_rule(name)


@pytest.mark.parametrize(
    "learner",
    [
        SequenceTagger(order=2, rule="b-maxent:all:5"),
        DependencyParser(rule="b-maxent:all:5", labels=False),
        StructuredPerceptron(PlainChain(2, 2), rule="b-maxent:all:5"),
    ],
    ids=["order-2", "parser", "generic"],
)
def test_other_structures_refuse_several_outputs(learner):
    X, y = ([["a", "b"]], [["X", "Y"]]) if isinstance(learner, SequenceTagger) else ([(0, 1)], [(1, 0)])
    if isinstance(learner, DependencyParser):
        X, y = [[("a", "N"), ("b", "N")]], [[0, 1]]
    with pytest.raises(InputError, match=r"rule 'b-maxent:all:5' is not offered|is for order 1"):
        learner.fit(X, y)


def test_the_sweep_is_that_of_the_lattice():
    problem = as_problem([[[(0, 1.0)]]], [(0,)], valued=False)
    assert isinstance(sweep_of(as_rule("b-maxent:all:5"), problem)[1], AllOfLattice)
    assert isinstance(sweep_of(as_rule("b-maxent:all"), problem)[1], AllSubsets)
