"""Ties are real: from w = 0, where most trees tie, kernels and definitions agree to the last bit, for every rule."""

import numpy as np
import pytest

from helpers import arc_treebanks, part_treebanks
from helpers.problems import as_chain
from helpers.slow import in_plain_python, slow_except
from swvp.estimators import StructuredPerceptron
from swvp.learning.epoch import COUNTS
from swvp.learning.gamma import round_gamma
from swvp.learning.perceptron import new_state, run_epochs, sweep_of
from swvp.learning.rule import as_rule
from swvp.learning.substructures import MOST_SETS
from swvp.structures import operations
from swvp.structures.chain.indicator import new_model
from swvp.structures.exact import GRID, averaged, grid_of, on_grid
from swvp.structures.generic import PythonModel, PythonProblem
from swvp.structures.tree.reference import parts_of
from swvp.structures.tree.second_order.model import predict_parts

RULES = [rule for rule in arc_treebanks.RULES if rule != "mira:3"]  # with ties, which outputs are the k best is open


class Follower:
    """A problem that predicts what the kernels did, if that is one of the best trees, with exactly their score."""

    def __init__(self, plain, key):
        self.plain, self.key, self.said = plain, key, None
        self.ties = 0

    def joint_feature(self, x, y):
        return self.plain.joint_feature(x, y)

    def argmax(self, x, w):
        keys = {y: self.key(x, w, y) for y in self.plain.outputs(x)}
        best = max(keys.values())
        assert keys[self.said] == best
        self.ties += sum(value == best for value in keys.values()) > 1
        return self.said


def train_in_step(problem, model, follower, X, Y, rule, epochs=3):
    """One example after the other with the kernels, then with the definition; both models, and what was counted."""
    generic, plain_model = PythonProblem(follower, X, Y), PythonModel(np.zeros(len(follower.plain.numbers)))
    sides = (problem, model), (generic, plain_model)
    runs = [(*sweep_of(rule, p, new_state(rule, m).squares), p, m, np.zeros(1)) for p, m in sides]
    counts = np.zeros((2, len(COUNTS)), np.int64)
    for clock in range(epochs * len(X)):
        i = clock % len(X)
        for which, (run, given, examples, learnt, largest) in enumerate(runs):
            assert run(examples, learnt, given, np.array([i]), clock, 1.0, largest, counts[which]) == 1
            follower.said = tuple(model.predicted[: len(X[i])].tolist())
    assert counts[0].tolist() == counts[1].tolist()
    return plain_model, counts[0]


@arc_treebanks.every_pruning
@arc_treebanks.every_kind
@pytest.mark.parametrize("rule", slow_except(RULES, "a-wm"))
def test_first_order_kernels_and_definition_agree_from_zero(rule, projective, one_root, prune):
    rng = np.random.default_rng([RULES.index(rule), projective, one_root, prune, 1])
    exact = "mira" in rule
    both = arc_treebanks.Both(rng, projective=projective, one_root=one_root, prune=prune, exact=exact)
    both.model.w[:] = 0.0

    def key(x, w, y):
        scores = both.plain.allowed_scores(x, w)
        arcs = [scores[h, m] for m, h in enumerate(y, 1)]
        return -sum(s == -np.inf for s in arcs), sum(s for s in arcs if s > -np.inf)

    follower = Follower(both.plain, key)
    given = as_rule(rule, beta=float(rng.uniform(0.3, 3)), C=float(rng.choice([0.03, 0.3, 10])))
    learnt, counts = train_in_step(both.problem, both.model, follower, both.X, both.Y, given)
    assert follower.ties > 0
    assert counts[COUNTS.index("updates")] > 0
    assert both.weights(operations.weights(both.model)).tolist() == learnt.w.tolist()


@pytest.mark.parametrize("share", [1.0, 0.4], ids=["all-heads", "candidates"])
@pytest.mark.parametrize("kind", in_plain_python(part_treebanks.KINDS, rare=lambda kind: "projective" in kind))
@pytest.mark.parametrize("rule", slow_except(part_treebanks.RULES, "a-wm", rare=lambda rule: "ada" in rule))
def test_second_order_kernels_and_definition_agree_from_zero(rule, kind, share):
    seed = [part_treebanks.RULES.index(rule), share < 1, 2]
    check_second_order(np.random.default_rng(seed), rule, share=share, **part_treebanks.KINDS[kind])


@pytest.mark.parametrize("kind", ["any", "roots"])
def test_second_order_kernels_with_hashed_weights_agree_with_the_definition(kind):
    """With the types of a parser with default options; no two features share a weight in so large a table."""
    options = {"exact": False, "size": 2**22, **part_treebanks.KINDS[kind]}
    both, learnt, follower = check_second_order(np.random.default_rng([0, 3]), "b-wm:mira", **options)
    heads = np.empty(sum(map(len, both.X)), np.int32)
    predict_parts(both.problem, both.model, 0, len(both.X), heads)
    for x, predicted in zip(both.X, np.split(heads, np.cumsum([len(x) for x in both.X])[:-1]), strict=True):
        follower.said = tuple(predicted.tolist())
        follower.argmax(x, learnt.w)


def check_second_order(rng, rule, *, share=1.0, **options):
    both = part_treebanks.Both(rng, part_treebanks.LINES, share=share, **options)

    def key(x, w, y):
        scores = both.plain.scores(x, w)
        return sum(scores[part] for part in parts_of(y))

    follower = Follower(both.plain, key)
    given = as_rule(rule, beta=float(rng.uniform(0.3, 3)), C=float(rng.choice([0.03, 0.3, 10])))
    learnt, counts = train_in_step(both.problem, both.model, follower, both.X, both.Y, given)
    assert follower.ties > 0
    assert counts[COUNTS.index("updates")] > 0 or share < 1
    both.check(both.model.w, learnt.w, atol=0.0)
    return both, learnt, follower


def test_amounts_of_updates_are_multiples_of_the_grid():
    rng = np.random.default_rng(0)
    X = [tuple(rng.integers(3, size=6).tolist()) for _ in range(20)]
    Y = [tuple(rng.integers(3, size=6).tolist()) for _ in range(20)]
    for rule in ("a-wm:sqrt", "b-softmin", "a-wmr:mira"):
        model = new_model(3, 3, 6)
        for _ in run_epochs(as_chain(X, Y), model, as_rule(rule, beta=0.7), examples=20, epochs=3):
            pass
        w = operations.weights(model)
        assert (w / GRID == np.rint(w / GRID)).all()
        assert (w != np.rint(w)).any()


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 1000, 9700, MOST_SETS])
def test_rounded_gamma_sums_to_one_exactly_and_is_never_negative(n, uniform):
    gamma = np.ones(n) if uniform else np.random.default_rng(n).random(n)
    gamma /= gamma.sum()
    before = gamma.copy()
    assert round_gamma(gamma, n) == np.count_nonzero(gamma)
    assert gamma.sum() == 1.0
    assert gamma.min() >= 0
    assert np.abs(gamma - before).max() <= 1.001 * GRID
    assert [on_grid(g, GRID) for g in gamma] == gamma.tolist()


def test_a_violation_whose_weight_is_rounded_away_is_no_back_off():
    """γ = (1, 100)^5: the violation has 1e-10 of the weight, less than the grid, but the formula gives it some."""

    class Switches:
        def joint_feature(self, x, y):
            return [float(y[0]), float(y[1]), float(y[0] and y[1])]

        def argmax(self, x, w):
            return (1, 1)

    learner = StructuredPerceptron(Switches(), rule="b-wm", beta=5, epochs=1, shuffle=False)
    learner.fit([None], [(0, 0)], initial=np.array([1.0, -100.0, 100.0]))
    assert (learner.history_[0].back_offs, learner.history_[0].condition_2_failures) == (0, 1)


@pytest.mark.parametrize("C", [1e-2, 1e-8])
def test_short_steps_of_mira_have_a_finer_grid(C):
    rng = np.random.default_rng(0)
    X = [tuple(rng.integers(3, size=6).tolist()) for _ in range(20)]
    Y = [tuple(rng.integers(3, size=6).tolist()) for _ in range(20)]
    model = new_model(3, 3, 6)
    history = list(run_epochs(as_chain(X, Y), model, as_rule("mira", C=C), examples=20, epochs=2))
    w = operations.weights(model)
    assert history[0].updates > 0
    assert (w / grid_of(C) == np.rint(w / grid_of(C))).all()
    assert np.abs(w).max() >= C * 0.99


def test_averaged_weights_add_up_exactly_in_any_order():
    rng = np.random.default_rng(3)
    mean = averaged(rng.normal(size=1000), rng.normal(size=1000) * 1e5, 77777)
    assert len({float(sum(mean[rng.permutation(1000)])) for _ in range(20)}) == 1


def test_real_features_are_neither_rounded_nor_exact():
    """Steps of MIRA are short where features are large: multiples of the grid would be 0."""

    class Large:
        def joint_feature(self, x, y):
            return [1e5 * x[0] * (y[0] == 0), 1e5 * x[0] * (y[0] == 1)]

        def argmax(self, x, w):
            return max([(0,), (1,)], key=lambda y: float(w @ self.joint_feature(x, y)))

    learner = StructuredPerceptron(Large(), rule="mira", epochs=5, shuffle=False).fit([[0.5], [-0.7]], [(1,), (0,)])
    assert learner.converged_
    assert 0 < np.abs(learner.last_coef_).max() < 1e-4
