"""The worked example of a compiled structure learns, and is what its definition in plain Python is."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from swvp import StructuredPerceptron, as_rule
from swvp.structures import operations, run_epochs

EXAMPLE = Path(__file__).parents[2] / "examples" / "compiled_structure.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("compiled_structure", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PlainDocuments:
    """The same structure by its definition: all labels are enumerated."""

    def __init__(self, words, topics):
        self.words, self.topics = words, topics

    def joint_feature(self, x, y):
        words, pairs = np.zeros((self.words, self.topics)), np.zeros((self.topics, self.topics))
        for word, topic in zip(x, y[1:], strict=True):
            words[word, topic] += 1
            pairs[y[0], topic] += 1
        return np.concatenate([words.ravel(), pairs.ravel()])

    def argmax(self, x, w):
        outputs = itertools.product(range(self.topics), repeat=len(x) + 1)
        return max(outputs, key=lambda y: float(w @ self.joint_feature(x, y)))


def as_lists(problem):
    X = [problem.words[a:b].tolist() for a, b in itertools.pairwise(problem.starts)]
    Y = [
        tuple(problem.labels[a + i : b + i + 1].tolist()) for i, (a, b) in enumerate(itertools.pairwise(problem.starts))
    ]
    return X, Y


@pytest.mark.parametrize("rule", ["csp", "a-wm", "b-wmr:single+full", "b-softmin:pairs:impose"])
def test_it_learns_the_weights_of_its_definition(example, rule):
    problem = example.documents(12, np.random.default_rng(4), most=4)
    model = example.new_model(example.WORDS, example.TOPICS, example.longest(problem))
    history = list(run_epochs(problem, model, as_rule(rule), examples=12, epochs=3))
    X, Y = as_lists(problem)
    plain = StructuredPerceptron(
        PlainDocuments(example.WORDS, example.TOPICS), rule=rule, epochs=3, shuffle=False, average=True
    ).fit(X, Y)
    assert [epoch.mistakes for epoch in history] == [epoch.mistakes for epoch in plain.history_]
    np.testing.assert_array_equal(operations.averaged_weights(model, 12 * len(history)), plain.coef_)


def test_it_learns(example):
    rng = np.random.default_rng(0)
    train, test = example.documents(200, rng), example.documents(100, rng)
    model = example.new_model(example.WORDS, example.TOPICS, max(example.longest(train), example.longest(test)))
    before = example.accuracy(test, model)
    list(run_epochs(train, model, as_rule("a-wm"), examples=200, epochs=5))
    assert before < 0.5 < 0.7 < example.accuracy(test, model)
