"""The weights at the beginning of a round: changes on top of what a process keeps, or all of them."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from swvp.learning.perceptron import State
from swvp.structures.chain.attributes import new_model
from swvp.training import round_start
from swvp.training.mixing import packed
from swvp.training.round_start import SQUARES, Sender, weights_at


@pytest.fixture
def training(monkeypatch):
    """A model with random weights and sums of squares, and a sender of them to other processes."""
    monkeypatch.setattr(round_start, "kept", None)
    random = np.random.default_rng(0)
    model = new_model(20, 3, 1)
    for array in (model.w, model.delayed):
        array.reshape(-1)[random.permutation(array.size)[:10]] = random.integers(-5, 5, 10)
    state = State(0, np.zeros(1), random.random(model.w.size).astype(np.float32))

    def sender(shards=1):
        return Sender(model, state, shards=shards, here=False)

    return SimpleNamespace(model=model, state=state, sender=sender, random=random)


def sent(start):
    """A start as another process gets it."""
    return pickle.loads(pickle.dumps(start))


def assert_equal(dense, sender):
    assert dense.keys() == sender.dense.keys()
    for name, array in sender.dense.items():
        assert dense[name].dtype == array.dtype
        assert (dense[name] == array).all()


def change(training):
    """Change some weights, sums and squares; return the changes as a round does."""
    places = np.sort(training.random.permutation(training.model.w.size)[:7])
    arrays = {"w places": places, f"{SQUARES} places": places}
    for name, array in (
        ("w", training.model.w),
        ("delayed", training.model.delayed),
        (SQUARES, training.state.squares),
    ):
        array.reshape(-1)[places] = training.random.integers(1, 9, 7)
        arrays[f"{name} values"] = array.reshape(-1)[places]
    return packed(arrays)


@pytest.mark.parametrize("shards", [1, 2])
def test_changes_on_top_of_the_round_before_are_the_weights_of_the_leader(training, shards):
    sender = training.sender(shards)
    for number in range(1, 5):
        start = sent(sender.start(number, 0.0))
        assert (start.base is None) == (number == 1)
        assert_equal(weights_at(start), sender)
        sender.changed = change(training)


def test_a_process_that_missed_a_round_lacks_weights_until_it_gets_all(training):
    sender = training.sender()
    weights_at(sent(sender.start(1, 0.0)))
    sender.changed = change(training)
    sender.changed = change(training)  # of round 2, in which this process had no shard
    assert weights_at(sent(sender.start(3, 0.0))) is None
    assert_equal(weights_at(sent(sender.start(3, 0.0, whole=True))), sender)
    sender.changed = change(training)
    assert_equal(weights_at(sent(sender.start(4, 0.0))), sender)


def test_two_trainings_on_one_worker_do_not_mix_their_weights(training):
    one, other = training.sender(), training.sender()
    weights_at(sent(one.start(1, 0.0)))
    one.changed = change(training)
    weights_at(sent(other.start(1, 0.0)))
    assert weights_at(sent(one.start(2, 0.0))) is None
    assert_equal(weights_at(sent(one.start(2, 0.0, whole=True))), one)


def test_threads_of_the_leader_read_its_own_arrays(training):
    sender = Sender(training.model, training.state, shards=1, here=True)
    assert np.shares_memory(weights_at(sender.start(1, 0.0))["w"], training.model.w)
    assert round_start.kept is None
