"""γ over all sub-structures of second-order chains and trees by sums is γ over their list."""

import itertools
from collections import defaultdict

import numpy as np
import pytest

import swvp.learning.groups
from helpers.part_treebanks import KINDS, LINES, Both
from helpers.plain_search import ATTRIBUTES, BARRIERS, LABELS, LONGEST
from helpers.plain_tagger import as_problem
from helpers.slow import without_jit
from swvp import DependencyParser
from swvp.errors import InputError
from swvp.learning.all_subsets import sweep_all_subsets
from swvp.learning.epoch import CONDITION_2_FAILURES, COUNTS, MISTAKES, UPDATES
from swvp.learning.groups import AllOfGroups, Groups
from swvp.learning.perceptron import new_state, prepare, sweep, sweep_of
from swvp.learning.rule import as_rule
from swvp.learning.subset_sums import expectations, least_margin
from swvp.learning.triples import AllOfTriples
from swvp.structures import operations
from swvp.structures.chain.search import as_search, new_search_model
from swvp.structures.tree.reference import parts_of
from swvp.structures.tree.second_order.groups import group_heads

pytestmark = without_jit

FEW_LINES = [LINES[0], "siblings", "h.word & m.word & s.word", "g.word & h.word & m.word"]
RULES = ["b-softmin:all", "b-maxent:all", "b-softmin:all:mira", "b-maxent:all:mira", "b-maxent:all:ada"]


def one_update(run, rule, problem, model, i):
    counts = np.zeros(len(COUNTS), np.int64)
    before = operations.weights(model).copy()
    done = run(problem, model, rule, np.array([i]), 0, 1.0, np.zeros(1), counts)
    return operations.weights(model) - before, counts, done


def prepared(name, model, sums=None):
    rule = as_rule(name, beta=0.7)
    base = prepare(rule, new_state(rule, model).squares)
    return base if sums is None else sums(base, rule.gamma == "maxent")


# ---------------------------------------------------------------- chains


def random_chain(rng, fix="none"):
    X = [
        [[(int(a), float(rng.normal()))] for a in rng.permutation(ATTRIBUTES)[: rng.integers(1, LONGEST + 1)]]
        for _ in range(6)
    ]
    Y = [tuple(rng.integers(LABELS, size=len(x)).tolist()) for x in X]
    return as_search(as_problem(X, Y, valued=True), fix)


def random_model(rng, order, width, scale=1.0):
    model = new_search_model(ATTRIBUTES, LABELS, LONGEST, None, order, width)
    for part in (model.w, model.w_move, model.w_triple):
        part[:] = scale * rng.normal(size=part.shape)
    operations.refresh(model)
    return model


@pytest.mark.parametrize("scale", [1.0, 0.0], ids=["random-start", "from-zero"])
@pytest.mark.parametrize(("order", "width", "fix"), [(2, 0, "none"), (2, 2, "max-violation"), (1, 1, "early")])
@pytest.mark.parametrize("name", RULES)
def test_a_second_order_tagger_is_updated_as_by_the_list(name, order, width, fix, scale):
    rng = np.random.default_rng([order, width])
    mistakes = 0
    for _ in range(5):
        problem, state = random_chain(rng, fix), rng.bit_generator.state
        for i in range(6):
            models = []
            for _ in range(2):
                rng.bit_generator.state = state
                models.append(random_model(rng, order, width, scale))
            listed, _, _ = one_update(sweep, prepared(name, models[0]), problem, models[0], i)
            rule = prepared(name, models[1], AllOfTriples)
            w = operations.weights(models[1]).copy()
            summed, counts, _ = one_update(sweep_all_subsets, rule, problem, models[1], i)
            np.testing.assert_allclose(summed, listed, atol=1e-9)
            mistakes += counts[MISTAKES]
            if "maxent" in name:
                assert counts[CONDITION_2_FAILURES] == 0
                assert w @ summed <= 1e-9 or name.endswith("ada")  # whose step changes the direction
    assert mistakes > 10


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("order", [1, 2])
def test_the_direction_of_an_update_is_what_it_adds(order, barrier):
    """The steps mira and ada take the direction as a sparse vector, the other steps add it at once."""
    rng = np.random.default_rng(order)
    for _ in range(5):
        problem = random_chain(rng, "max-violation")
        model = new_search_model(ATTRIBUTES, LABELS, LONGEST, BARRIERS[barrier], order, 2)
        model.w[:] = rng.normal(size=model.w.shape)
        for i in range(6):
            wrong = np.empty(LONGEST, np.int64)
            k = operations.find_mistakes(problem, model, i, wrong)
            every = [J for size in range(1, k + 1) for J in itertools.combinations(wrong[:k].tolist(), size)]
            if not every:
                continue
            starts = np.cumsum([0, *map(len, every)])
            positions = np.array([p for J in every for p in J], np.int64)
            sets, amounts = rng.permutation(len(every)), rng.normal(size=len(every))
            given = (problem, model, i, starts, positions, sets, len(every), amounts)
            size, features, values = operations.direction(*given)
            mine = np.zeros(len(operations.weights(model)))
            np.add.at(mine, features[:size], values[:size])
            before, steps = operations.weights(model).copy(), model.steps.copy()
            operations.add(*given, 3.0)
            np.testing.assert_allclose(mine, operations.weights(model) - before, atol=1e-9)

            # change adds one feature, to the weights, their sums and the transitions of the search
            after = [part.copy() for part in (operations.weights(model), model.steps, model.delayed_triple)]
            for array in (model.w, model.w_move, model.w_triple):
                array[:] = 0
            for array in (model.delayed, model.delayed_move, model.delayed_triple):
                array[:] = 0
            model.steps[:] = np.where(np.isneginf(steps), -np.inf, 0.0)
            for feature, value in enumerate(after[0]):
                operations.change(model, feature, value, 3.0)
            np.testing.assert_allclose(operations.weights(model), after[0], atol=1e-12)
            np.testing.assert_allclose(model.steps, after[1], atol=1e-9)
            np.testing.assert_allclose(model.delayed_triple, 3 * model.w_triple)
            np.testing.assert_allclose(model.delayed_move, 3 * model.w_move)


def test_second_order_taggers_and_parsers_take_their_own_sums():
    rng = np.random.default_rng(0)
    assert isinstance(sweep_of(as_rule("b-maxent:all"), random_chain(rng))[1], AllOfTriples)
    assert isinstance(sweep_of(as_rule("b-maxent:all"), Both(rng, LINES).problem)[1], AllOfGroups)
    assert not isinstance(sweep_of(as_rule("b-maxent:pairs"), random_chain(rng))[1], AllOfTriples)


# ---------------------------------------------------------------- trees


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RULES)
def test_a_second_order_parser_is_updated_as_by_the_list(name, kind):
    updates = 0
    first, second = (
        Both(np.random.default_rng(0), FEW_LINES, **KINDS[kind], margin=1.0, lengths=(2, 4, 4)) for _ in range(2)
    )
    for i in (0, 1, 2, 1, 2):  # from w = 0
        listed, _, _ = one_update(sweep, prepared(name, first.model), first.problem, first.model, i)
        rule = prepared(name, second.model, AllOfGroups)
        summed, counts, _ = one_update(sweep_all_subsets, rule, second.problem, second.model, i)
        # γ of the list is rounded to 24 bits for each of its sets, of which there are many
        np.testing.assert_allclose(summed, listed, atol=1e-4)
        second.model.w[:] = first.model.w
        updates += counts[UPDATES]
        assert "maxent" not in name or counts[CONDITION_2_FAILURES] == 0
    assert updates >= 3


def test_margins_of_sets_in_different_groups_add_up():
    """With a random score for each part that a choice of heads can have."""
    rng = np.random.default_rng(3)
    several = 0
    for _ in range(150):
        n = int(rng.integers(1, 10))
        scores = defaultdict(rng.normal)
        gold = rng.integers(0, n + 1, size=n)
        predicted = np.where(rng.random(n) < 0.5, rng.integers(0, n + 1, size=n), gold)
        wrong = np.flatnonzero(gold != predicted)
        group = np.empty(len(wrong), np.int64)
        number = group_heads(n, gold, 0, predicted, wrong, len(wrong), np.empty(n, np.int64), group)
        assert sorted(set(group.tolist())) == list(range(number))

        def score(J):
            heads = gold.copy()  # noqa: B023
            heads[J] = predicted[J]  # noqa: B023
            return sum(scores[part] for part in parts_of(tuple(heads.tolist())))  # noqa: B023

        chosen = rng.random(len(wrong)) < 0.7
        parts = [score(wrong[chosen & (group == g)]) - score([]) for g in range(number)]
        np.testing.assert_allclose(sum(parts), score(wrong[chosen]) - score([]), atol=1e-9)
        several += number > 1
    assert several > 25


def test_sums_over_groups_are_those_over_all_non_empty_sets():
    rng = np.random.default_rng(4)
    for multiplier in (0.0, 0.4, 3.0):
        sizes = rng.integers(1, 4, size=3)
        margins = [rng.normal(scale=2, size=2**size - 1) for size in sizes]
        first = np.cumsum([0, *map(len, margins)])
        sums, flat = Groups(np.zeros(0, np.int64), first, np.array([3])), np.concatenate(margins)
        amount = np.empty(len(flat))
        mean = expectations(sums, multiplier, flat, int(sizes.sum()), len(flat), amount)
        every = list(itertools.product(*[range(-1, len(part)) for part in margins]))[1:]  # -1: none of the group
        totals = np.array([sum(part[t] for part, t in zip(margins, J, strict=True) if t >= 0) for J in every])
        gamma = np.exp(-multiplier * totals) / np.exp(-multiplier * totals).sum()
        expected = np.zeros(len(flat))
        for J, weight in zip(every, gamma, strict=True):
            for g, t in enumerate(J):
                if t >= 0:
                    expected[first[g] + t] += weight
        np.testing.assert_allclose(amount, expected, atol=1e-12)
        np.testing.assert_allclose(mean, gamma @ totals)
        np.testing.assert_allclose(least_margin(sums, flat, int(sizes.sum()), len(flat)), totals.min())


def test_too_large_a_group_is_an_error_that_names_a_way_out(monkeypatch):
    monkeypatch.setattr(swvp.learning.groups, "too_many", lambda sets, total: sets > 3)
    parser = DependencyParser(order=2, rule="b-maxent:all", prune=False, features=FEW_LINES, labels=False)
    with pytest.raises(InputError, match=r"wrong heads share parts .* '3xmira\.\.b-maxent:all'"):
        parser.fit([[("a", "N"), ("b", "N"), ("c", "V")]], [[2, 3, 0]])
