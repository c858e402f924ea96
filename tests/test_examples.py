"""The worked examples run as a reader would run them, and do what they say."""

import importlib.util
import itertools
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from swvp import StructuredPerceptron, UpdateRule, theory

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def matching():
    spec = importlib.util.spec_from_file_location("matching", EXAMPLES / "matching.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table():
    """What matching.py prints: {rule: (accuracy, updates, back-offs), …}; percents as numbers."""
    command = [sys.executable, str(EXAMPLES / "matching.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert printed.stderr == ""
    _, *lines = printed.stdout.splitlines()
    rows = [re.split("  +", line, maxsplit=1) for line in lines]
    return {name: [float(number.rstrip("%")) for number in numbers.split()] for name, numbers in rows}


def test_matching_prints_csp_and_other_rules(table):
    assert list(table) == ["csp", "a-wm", "b-wm", "a-wm:pairs", "b-uniform:pairs", "a-wm:cycles", "the chair, no moods"]


def test_every_rule_of_matching_learns_more_than_chance_and_less_than_the_chair_knows(table):
    *rules, ceiling = (accuracy for accuracy, *_ in table.values())
    chance = 100 / 8
    assert 4 * chance < min(rules) <= max(rules) < ceiling


def test_wm_backs_off_at_the_first_update_of_matching_only(table):
    """The features of a matching add up over its pairs, so that one position at least is a violation."""
    for rule in ("a-wm", "b-wm", "a-wm:pairs", "a-wm:cycles"):
        _, updates, back_offs = table[rule]
        assert back_offs == round(100 / updates, 1)
    assert table["csp"][2] == table["b-uniform:pairs"][2] == 0


def test_cycles_divide_the_papers(matching):
    rng = np.random.default_rng(50)
    for _ in range(20):
        gold, predicted = rng.permutation(8), rng.permutation(8)
        assert sorted(k for cycle in matching.cycles(gold, predicted) for k in cycle) == list(range(8))


def test_cycles_swap_reviewers_among_their_papers(matching):
    gold, predicted = (0, 1, 2, 3, 4), (1, 0, 2, 4, 3)
    assert [sorted(cycle) for cycle in matching.cycles(gold, predicted)] == [[0, 1], [2], [3, 4]]


def test_mixed_assignments_of_cycles_are_matchings(matching):
    class Listed(matching.Assignment):
        def outputs(self, x):
            return itertools.permutations(range(len(x)))

    x, y = np.zeros((5, 5, 1)), (3, 1, 4, 0, 2)
    assert theory.closed_under_mixing(Listed(), [x], [y], substructures=matching.cycles)
    assert not theory.closed_under_mixing(Listed(), [x], [y], substructures="single")


def test_cycles_weighed_alike_and_added_up_are_the_collins_perceptron(matching):
    X, Y = matching.sessions(10, np.random.default_rng(51))
    rule = UpdateRule(substructures=matching.cycles, gamma="uniform", step="count")
    cycles, csp = (
        StructuredPerceptron(matching.Assignment(), rule=r, epochs=3, random_state=0).fit(X, Y) for r in (rule, "csp")
    )
    np.testing.assert_allclose(cycles.last_coef_, csp.last_coef_, atol=1e-9)


# ---------------------------------------------------------------- bounds.py


@pytest.fixture(scope="module")
def bounds():
    """What bounds.py prints: {(features, rule, n): (mistakes, back-offs, error, bound, mixed), …}."""
    command = [sys.executable, str(EXAMPLES / "bounds.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert printed.stderr == ""
    rows = [line.split() for line in printed.stdout.splitlines()[1:]]
    return {(row[0], row[1], int(row[2])): [float(number) for number in row[3:]] for row in rows}


def test_every_bound_is_above_the_error_and_the_mixed_one_is_not_larger(bounds):
    assert len(bounds) == 12
    for _, _, error, bound, mixed in bounds.values():
        assert 0 < error <= mixed <= bound <= 2


def test_swvp_on_positions_never_backs_off_and_has_a_smaller_bound_than_csp(bounds):
    for n in (10, 40, 160):
        _, back_offs, _, bound, _ = bounds["Positions", "a-uniform", n]
        assert back_offs == 0
        assert bound < bounds["Positions", "csp", n][3] / 2


def test_the_bounds_say_something_where_there_are_enough_examples(bounds):
    assert bounds["Positions", "csp", 160][3] < 1
    assert bounds["Positions", "a-uniform", 160][3] < 0.5


# ---------------------------------------------------------------- from_crfsuite.py


@pytest.fixture(scope="module")
def ported():
    """What from_crfsuite.py prints: {"swvp ap": [line, …], …}."""
    command = [sys.executable, str(EXAMPLES / "from_crfsuite.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert printed.stderr == ""
    parts = re.split(r"\n(?=\w)", printed.stdout.rstrip("\n"))
    return {part.split(":")[0]: part.splitlines() for part in parts}


@pytest.mark.parametrize("algorithm", ["ap", "lbfgs"])
def test_a_program_for_sklearn_crfsuite_runs_with_swvp(ported, algorithm):
    first, labels, tags, *_ = ported[f"swvp {algorithm}"]
    assert float(re.search(r"([\d.]+) % right", first)[1]) > 98
    assert labels == "  labels: B-LOC, B-PER, I-PER, O"
    assert tags == "  of the first sentence: O O O B-LOC O B-PER I-PER O"


@pytest.mark.parametrize("algorithm", ["ap", "lbfgs"])
def test_it_says_the_same_as_sklearn_crfsuite(ported, algorithm):
    pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")
    mine, theirs = ported[f"swvp {algorithm}"], ported[f"sklearn_crfsuite {algorithm}"]
    assert mine[1:3] == theirs[1:3]
