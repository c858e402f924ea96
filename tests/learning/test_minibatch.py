"""Minibatches: the weights of a plain definition, whatever the number of threads."""

import numpy as np
import pytest

from helpers import twin
from helpers.arc_treebanks import Both as BothArcs
from helpers.part_treebanks import LINES
from helpers.part_treebanks import Both as BothParts
from swvp.errors import InputError
from swvp.learning.minibatch import Batches
from swvp.learning.perceptron import run_epochs, sweep_of
from swvp.learning.rule import as_rule
from swvp.parsing.parser import Parser
from swvp.structures import operations

LENGTHS = (1, 2, 3, 4, 4, 4, 3, 2)
X = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], [("Rex", "PROPN"), ("sleeps", "VERB")]] * 4
Y = [[2, 3, 0], [2, 0]] * 2 + [[0, 1, 2], [0, 1]] * 2  # contradictions: every epoch has mistakes


def arcs(seed=0):
    return BothArcs(np.random.default_rng(seed), projective=True, one_root=True, prune=False, lengths=LENGTHS)


def parts(seed=0):
    both = BothParts(np.random.default_rng(seed), LINES, lengths=LENGTHS, margin=1.0, exact=False)
    both.shake()
    return both


every_order = pytest.mark.parametrize("treebank", [arcs, parts], ids=["order-1", "order-2"])


def trained(both, rule, **options):
    """The weights and averages after three epochs, as bytes, and the counts."""
    history = list(run_epochs(both.problem, both.model, as_rule(rule), examples=len(both.X), epochs=3, **options))
    assert sum(epoch.updates for epoch in history) > 0
    counts = [epoch.as_dict() | {"seconds": 0} for epoch in history]
    return both.model.w.tobytes(), both.model.delayed.tobytes(), counts


@every_order
def test_any_number_of_threads_gives_the_same_bytes(treebank):
    rule = "a-uniform:components:mira"
    one, *others = [trained(treebank(), rule, batch_size=3, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert all(other == one for other in others)


@every_order
def test_batches_of_one_sentence_are_the_plain_algorithm(treebank):
    """With the machinery of batches, too, which `run_epochs` leaves out."""
    rule = "a-uniform:components:mira"
    plain, options = trained(treebank(), rule), {"batch_size": 1, "n_jobs": 2}
    assert trained(treebank(), rule, **options) == plain
    both, clock, largest = treebank(), 0, np.zeros(1)
    run, prepared = sweep_of(as_rule(rule), both.problem)
    run = Batches(both.problem, both.model, examples=len(both.X), size=1, n_jobs=2).sweep(run)
    for _ in plain[2]:
        counts = np.zeros(9, np.int64)
        run(both.problem, both.model, prepared, np.arange(len(both.X)), clock, 1.0, largest, counts)
        clock += len(both.X)
    assert (both.model.w.tobytes(), both.model.delayed.tobytes()) == plain[:2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["csp", "a-wm:single:mira"])
@pytest.mark.parametrize("size", [3, 100])
def test_batches_learn_what_the_definition_learns(name, size, seed):
    both, rule = arcs(seed), as_rule(name, beta=0.7)
    list(run_epochs(both.problem, both.model, rule, examples=len(both.X), epochs=3, batch_size=size, n_jobs=2))
    fields = ("substructures", "gamma", "approach", "beta", "step", "impose")
    last, mean, history = twin.train(
        both.plain,
        both.X,
        both.Y,
        both.start,
        epochs=3,
        batch=size,
        **{field: getattr(rule, field) for field in fields},
    )
    np.testing.assert_allclose(both.weights(operations.weights(both.model)), last, atol=1e-6)
    averaged = operations.averaged_weights(both.model, len(both.X) * len(history))
    np.testing.assert_allclose(both.weights(averaged), mean, atol=1e-6)


def test_interrupted_training_in_batches_resumes_to_the_same_weights(tmp_path):
    def parser(epochs):
        return Parser(epochs=epochs, batch_size=3, n_jobs=2, random_state=0, labels=False, hashed=2**12)

    whole = parser(4).fit(X, Y)

    def interrupt(progress):
        if progress.epoch.epoch == 2:
            raise KeyboardInterrupt

    checkpoint = tmp_path / "p.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        parser(4).fit(X, Y, checkpoint=checkpoint, watch=interrupt)
    with pytest.raises(InputError, match="another training"):
        Parser(epochs=4, batch_size=2, random_state=0, labels=False, hashed=2**12).fit(X, Y, checkpoint=checkpoint)
    resumed = parser(4).fit(X, Y, checkpoint=checkpoint)
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    assert len(resumed.history_) == 4


def test_a_model_file_says_how_large_batches_were(tmp_path):
    parser = Parser(epochs=1, batch_size=3, random_state=0, labels=False, hashed=2**12).fit(X, Y)
    parser.save(tmp_path / "p.swvp")
    assert Parser.load(tmp_path / "p.swvp").batch_size == 3
    assert "batch_size" not in Parser().options()  # as in files of older versions


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None, 1025])
def test_other_sizes_are_refused(size):
    with pytest.raises(InputError, match="batch_size must be a whole number from 1 to 1024"):
        Parser(batch_size=size).check()


def test_rules_and_structures_that_cannot_are_refused():
    with pytest.raises(InputError, match="rule 'mira:3' cannot learn from batches"):
        Parser(rule="mira:3", batch_size=8).check()
    both = parts()
    with pytest.raises(InputError, match="batch_size is for parsers, not for WithMargin"):
        list(run_epochs(both.generic, both.learnt, as_rule("csp"), examples=8, epochs=1, batch_size=2))
