"""Training by likelihood: the objective and its gradient, where it ends, and L-BFGS."""

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from helpers.plain_tagger import ATTRIBUTES, BARRIERS, LABELS, LONGEST, PlainTagger, as_problem, random_examples
from swvp.errors import InputError
from swvp.structures import operations
from swvp.structures.chain.attributes import new_model
from swvp.tagging.crf import Objective, maximise_likelihood

L2 = 0.3
NO_BARRIER = np.zeros((LABELS + 1, LABELS + 1))


def written_out(X, Y, barrier, w):
    plain = PlainTagger(barrier)
    total = L2 / 2 * w @ w
    for x, y in zip(X, Y, strict=True):
        outputs = [z for z in itertools.product(range(LABELS), repeat=len(x)) if plain.allowed(z)]
        total += logsumexp([w @ plain.joint_feature(x, z) for z in outputs]) - w @ plain.joint_feature(x, y)
    return total


def as_objective(X, Y, barrier=None, *, valued=False, **options):
    bars = NO_BARRIER if barrier is None else barrier
    return Objective(as_problem(X, Y, valued=valued), ATTRIBUTES, bars, L2, **options)


def gradient(objective, w):
    result = np.empty_like(w)
    objective(w, result)
    return result


def value(objective, w):
    return objective(w, np.empty_like(w))


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
def test_the_objective_and_its_gradient(valued, barrier):
    rng = np.random.default_rng([valued, barrier is None])
    X, Y = random_examples(rng, valued=valued, barrier=barrier, examples=40)
    objective = as_objective(X, Y, barrier, valued=valued)
    for spread in (0.0, 1.0, 100.0):  # the last by logarithms
        w = rng.normal(size=ATTRIBUTES * LABELS + (LABELS + 1) ** 2) * spread
        assert value(objective, w) == pytest.approx(written_out(X, Y, barrier, w), rel=1e-10)
        steps = np.eye(len(w)) * 1e-5
        differences = [(value(objective, w + step) - value(objective, w - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose(gradient(objective, w), differences, rtol=1e-5, atol=1e-5)


def trained(X, Y, barrier=None, **options):
    model = new_model(ATTRIBUTES, LABELS, LONGEST, barrier)
    settings = {"l2": L2, "tolerance": 1e-12} | options
    history = []
    maximise_likelihood(as_problem(X, Y, valued=False), model, watch=history.append, **settings)
    return model, history


def test_it_ends_where_another_method_ends():
    X, Y = random_examples(np.random.default_rng(1), valued=False, examples=40)
    objective = as_objective(X, Y)
    size = ATTRIBUTES * LABELS + (LABELS + 1) ** 2
    best = minimize(
        lambda w: value(objective, w),
        np.zeros(size),
        jac=lambda w: gradient(objective, w),
        method="BFGS",
        options={"gtol": 1e-7},
    )
    model, history = trained(X, Y)
    assert history[-1].objective == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(operations.weights(model), best.x, atol=1e-3)


def test_it_ends_where_crfsuite_ends():
    """CRFsuite has no transitions from and to the boundary: attributes of the first and the last token stand in."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    X, Y = random_examples(np.random.default_rng(2), valued=False, examples=60)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": L2 / 2,
            "feature.possible_states": True,
            "feature.possible_transitions": True,
            "max_iterations": 1000,
            "epsilon": 1e-10,
            "delta": 1e-14,
        }
    )
    for x, y in zip(X, Y, strict=True):
        tokens = [[f"a{a}" for a, _ in position] for position in x]
        tokens[0].append("first")
        tokens[-1].append("last")
        trainer.append(tokens, [str(label) for label in y])
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
        tagger = pycrfsuite.Tagger()
        tagger.open(str(Path(folder) / "model"))
        theirs = tagger.info()
        tagger.close()
    model, _ = trained(X, Y)
    for a, y in itertools.product(range(ATTRIBUTES), range(LABELS)):
        assert model.w[a, y] == pytest.approx(theirs.state_features.get((f"a{a}", str(y)), 0.0), abs=2e-3)
    for a, b in itertools.product(range(LABELS), repeat=2):
        assert model.w_move[a, b] == pytest.approx(theirs.transitions.get((str(a), str(b)), 0.0), abs=2e-3)
    for y in range(LABELS):
        assert model.w_move[LABELS, y] == pytest.approx(theirs.state_features.get(("first", str(y)), 0.0), abs=2e-3)
        assert model.w_move[y, LABELS] == pytest.approx(theirs.state_features.get(("last", str(y)), 0.0), abs=2e-3)
    assert len(theirs.state_features) > ATTRIBUTES * LABELS / 2


def test_each_iteration_is_better_and_the_model_is_at_it():
    X, Y = random_examples(np.random.default_rng(3), valued=False, examples=40)
    problem, objective = as_problem(X, Y, valued=False), as_objective(X, Y)
    model = new_model(ATTRIBUTES, LABELS, LONGEST)
    seen = []

    def look(iteration):
        w = operations.weights(model)
        assert iteration.iteration == len(seen) + 1
        assert iteration.examples == 40
        assert iteration.objective < (seen[-1].objective if seen else np.inf)
        assert value(objective, w) == pytest.approx(iteration.objective, rel=1e-12)
        assert iteration.log_likelihood == pytest.approx(L2 / 2 * w @ w - iteration.objective)
        assert iteration.gradient_norm == pytest.approx(np.linalg.norm(gradient(objective, w)))
        assert iteration.norm == pytest.approx(np.linalg.norm(w))
        assert objective.wrong.tolist() == [iteration.mistakes, iteration.wrong_positions]
        np.testing.assert_array_equal(model.moves, model.w_move)
        seen.append(iteration)
        if len(seen) == 4:  # early stop: the model stays where it is
            raise StopIteration

    maximise_likelihood(problem, model, l2=L2, tolerance=1e-9, watch=look)
    assert len(seen) == 4
    assert value(objective, operations.weights(model)) == pytest.approx(seen[-1].objective, rel=1e-12)
    assert len(trained(X, Y, limit=3)[1]) == 3
    assert list(seen[0].as_dict())[:3] == ["iteration", "examples", "objective"]


def test_wrong_tokens_are_counted():
    X, Y = random_examples(np.random.default_rng(4), valued=False, examples=12)
    objective = as_objective(X, Y)
    w = np.zeros(ATTRIBUTES * LABELS + (LABELS + 1) ** 2)
    w[: ATTRIBUTES * LABELS : LABELS] = 1.0  # label 0 everywhere
    value(objective, w)
    assert objective.wrong[1] == sum(label != 0 for y in Y for label in y)
    assert objective.wrong[0] == sum(any(y) for y in Y)


def test_training_goes_on_from_the_weights_of_the_model():
    X, Y = random_examples(np.random.default_rng(5), valued=False, examples=40)
    model, history = trained(X, Y)
    again = []
    maximise_likelihood(as_problem(X, Y, valued=False), model, l2=L2, watch=again.append)
    assert all(iteration.objective <= history[-1].objective for iteration in again)


def test_threads_change_no_weight():
    X, Y = random_examples(np.random.default_rng(6), valued=False, examples=40)
    one, two = (trained(X, Y, n_jobs=jobs, limit=5)[0] for jobs in (1, 2))
    assert operations.weights(one).tobytes() == operations.weights(two).tobytes()


def test_a_barrier_is_no_weight_and_must_allow_the_gold_labels():
    barrier = BARRIERS["barred"]
    X, Y = random_examples(np.random.default_rng(7), valued=False, barrier=barrier, examples=40)
    model, _ = trained(X, Y, barrier)
    assert np.isneginf(model.moves[np.isneginf(barrier)]).all()
    assert not model.w_move[np.isneginf(barrier)].any()
    assert model.w_move[np.isfinite(barrier)].any()
    X, Y = random_examples(np.random.default_rng(7), valued=False, examples=40)
    with pytest.raises(InputError, match="forbids the labels of a training sentence"):
        trained(X, Y, barrier)


@pytest.mark.parametrize("options", [{"l2": -1.0}, {"l2": np.nan}, {"limit": 0}, {"n_jobs": 0}])
def test_bad_settings_are_one_clear_line(options):
    X, Y = random_examples(np.random.default_rng(8), valued=False)
    with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
        trained(X, Y, **options)
