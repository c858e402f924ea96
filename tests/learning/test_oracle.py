"""The compiled chain, the generic learner and an independent twin give the same weights, for every rule."""

import itertools

import numpy as np
import pytest

from helpers.problems import RememberingChain, as_chain, random_sequences
from helpers.slow import slow_except
from helpers.twin import train
from swvp.estimators import StructuredPerceptron
from swvp.learning import perceptron
from swvp.learning.gamma import GAMMAS
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import APPROACHES, STEPS, UpdateRule
from swvp.learning.substructures import OF_POSITIONS
from swvp.structures import operations
from swvp.structures.chain.indicator import new_model

SYMBOLS, LABELS, LONGEST = 6, 3, 5


@pytest.mark.parametrize("from_zero", [False, True], ids=["random-start", "from-zero"])
@pytest.mark.parametrize("approach", APPROACHES)
@pytest.mark.parametrize("gamma", slow_except(GAMMAS, "wm", "uniform"))
@pytest.mark.parametrize("substructures", slow_except(OF_POSITIONS, "single", "segments"))
def test_compiled_generic_and_twin_learn_the_same_weights(substructures, gamma, approach, from_zero, monkeypatch):
    """From w = 0 most scores tie, and each way of adding them up must see it: then the weights are equal, not near."""
    monkeypatch.setattr(perceptron, "sums_of", lambda problem: None)  # sums over all: test_all_subsets.py
    rng = np.random.default_rng([OF_POSITIONS.index(substructures), GAMMAS.index(gamma), APPROACHES.index(approach)])
    for step, flag in itertools.product(STEPS, ("", "impose", "literal")):
        fields = {
            "substructures": substructures,
            "gamma": gamma,
            "approach": approach,
            "beta": float(rng.uniform(0.3, 3)),
            "step": step,
            "C": float(rng.choice([0.03, 0.1, 10])),
            "impose": flag == "impose",
            "literal": flag == "literal",
        }
        X, Y = random_sequences(rng, examples=5, symbols=SYMBOLS, labels=LABELS, longest=LONGEST)
        chain = RememberingChain(SYMBOLS, LABELS)
        start = rng.normal(size=len(chain.joint_feature(X[0], Y[0]))) * (not from_zero)
        start[:SYMBOLS] = 0

        last, mean, history = train(chain, X, Y, start, epochs=3, **fields)
        rule = UpdateRule(**fields)
        generic = StructuredPerceptron(chain, rule=rule, epochs=3, average_power=1, shuffle=False).fit(
            X, Y, initial=start
        )
        model = new_model(SYMBOLS, LABELS, LONGEST, start)
        compiled = list(run_epochs(as_chain(X, Y), model, rule, examples=len(X), epochs=3))

        atol = 0.0 if from_zero else 1e-9
        np.testing.assert_allclose(generic.last_coef_, last, rtol=0, atol=atol)
        np.testing.assert_allclose(generic.averaged_coef_, mean, atol=1e-9)
        np.testing.assert_allclose(operations.weights(model), last, rtol=0, atol=atol)
        np.testing.assert_allclose(operations.averaged_weights(model, len(X) * len(compiled)), mean, atol=1e-9)
        for epochs in (generic.history_, compiled):
            assert [(epoch.mistakes, epoch.back_offs) for epoch in epochs] == history
        assert [counts(epoch) for epoch in generic.history_] == [counts(epoch) for epoch in compiled]


def counts(epoch):
    return {name: value for name, value in epoch.as_dict().items() if name not in ("norm", "seconds")}
