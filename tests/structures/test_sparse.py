"""The chain of taggers with many labels: against the dense chain, and its candidates against their definition."""

import itertools

import numpy as np
import pytest

from helpers.plain_tagger import ATTRIBUTES, BARRIERS, LABELS, LONGEST, PlainTagger, as_problem, random_examples
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.chain.attributes import new_model
from swvp.structures.chain.likelihood import occurrences, position_scores
from swvp.structures.chain.rows import Rows, rows_of_positions
from swvp.structures.chain.sparse import as_sparse, candidates_of_positions, new_sparse_model, predict_sparse

ALL = Rows(np.arange(ATTRIBUTES + 1) * LABELS, np.tile(np.arange(LABELS), ATTRIBUTES).astype(np.uint32))
FREE = np.zeros((LABELS + 1, LABELS + 1))
COSTS = 1.0 - np.eye(LABELS)
RULES = ["csp", "a-wm:segments:sqrt", "b-wmr", "mira", "csp:ada", "b-maxent:all:ada", "b-uniform:pairs:impose"]


def random_rows(rng):
    """Some of the labels for each attribute, in ascending order."""
    has = rng.random((ATTRIBUTES, LABELS)) < 0.6
    return Rows(np.concatenate([[0], np.cumsum(has.sum(1))]), np.nonzero(has)[1].astype(np.uint32)), has


def sparse_start(rng, rows, barrier=None):
    model = new_sparse_model(rows, LABELS, LONGEST, FREE if barrier is None else barrier)
    model.w[:] = rng.normal(size=model.w.shape)
    model.w_move[:] = rng.normal(size=model.w_move.shape)
    operations.refresh(model)
    return model


def check_same_weights_as_dense(rule, *, valued, costs):
    rng = np.random.default_rng([valued, costs])
    for _ in range(5):
        X, Y = random_examples(rng, valued=valued)
        problem = as_problem(X, Y, valued=valued)
        problem = problem._replace(costs=COSTS) if costs else problem
        dense, few = new_model(ATTRIBUTES, LABELS, LONGEST), new_sparse_model(ALL, LABELS, LONGEST, FREE)
        one = list(run_epochs(problem, dense, as_rule(rule), examples=len(X), epochs=4))
        other = list(run_epochs(as_sparse(problem, ALL, LABELS), few, as_rule(rule), examples=len(X), epochs=4))
        if rule != "softmax":
            assert [epoch.mistakes for epoch in one] == [epoch.mistakes for epoch in other]
        atol = 0.05 if rule == "softmax" else 1e-9  # softmax leaves out small differences: by position, not by sentence
        np.testing.assert_allclose(operations.weights(few), operations.weights(dense), atol=atol)
        averages = [operations.averaged_weights(model, len(one) * len(X)) for model in (few, dense)]
        np.testing.assert_allclose(*averages, atol=atol)


@pytest.mark.parametrize("rule", ["csp", "softmax"])
def test_with_all_pairs_and_all_candidates_the_weights_are_those_of_the_dense_chain(rule):
    check_same_weights_as_dense(rule, valued=False, costs=True)


@pytest.mark.without_jit
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
@pytest.mark.parametrize("costs", [False, True], ids=["free", "costs"])
@pytest.mark.parametrize("rule", [*RULES, "softmax"])
def test_every_rule_learns_the_weights_of_the_dense_chain(rule, valued, costs):
    check_same_weights_as_dense(rule, valued=valued, costs=costs)


class FewPairs(PlainTagger):
    """The plain tagger without the features of some pairs."""

    def __init__(self, has):
        super().__init__()
        self.kept = np.concatenate([has.ravel(), np.ones((LABELS + 1) ** 2, bool)])

    def joint_feature(self, x, y):
        return super().joint_feature(x, y) * self.kept


@pytest.mark.without_jit
@pytest.mark.parametrize("rule", ["csp", "a-wm:segments:sqrt", "b-wmr", "mira"])
def test_with_some_pairs_the_weights_are_those_of_the_generic_learner_with_these_features(rule):
    rng = np.random.default_rng(5)
    for _ in range(5):
        X, Y = random_examples(rng, valued=True)
        rows, has = random_rows(rng)
        model = sparse_start(rng, rows)
        start = np.zeros((ATTRIBUTES, LABELS))
        start[has] = model.w
        start = np.concatenate([start.ravel(), model.w_move.ravel()])
        problem = as_sparse(as_problem(X, Y, valued=True), rows, LABELS)
        list(run_epochs(problem, model, as_rule(rule), examples=len(X), epochs=3))
        generic = StructuredPerceptron(FewPairs(has), rule=rule, epochs=3, shuffle=False).fit(X, Y, initial=start)
        kept = np.concatenate([has.ravel(), np.ones(model.w_move.size, bool)])
        np.testing.assert_allclose(operations.weights(model), generic.last_coef_[kept], atol=1e-9)


def best_of_candidates(node, moves, most):
    """The best labels whose each is among the `most` best of its position, ties to the smaller labels."""
    chosen = [sorted(sorted(range(LABELS), key=lambda y: (-row[y], y))[:most]) for row in node]
    best = None
    for labels in itertools.product(*chosen):
        path = [LABELS, *labels, LABELS]
        score = sum(row[y] for row, y in zip(node, labels, strict=True)) + moves[path[:-1], path[1:]].sum()
        if best is None or score > best[0]:
            best = score, labels
    return best


@pytest.mark.parametrize("most", range(1, LABELS + 1))
def test_prediction_is_the_best_sequence_of_candidates(most):
    rng = np.random.default_rng(most)
    for _ in range(20):
        X, Y = random_examples(rng, valued=False)
        rows, _ = random_rows(rng)
        model = sparse_start(rng, rows)
        problem = as_sparse(as_problem(X, Y, valued=False), rows, most)
        node, out = np.zeros((len(problem.y), LABELS)), np.empty(len(problem.y), np.uint32)
        position_scores(problem, 0, len(node), model.w, node)
        predict_sparse(problem, model, out)
        for first, last in itertools.pairwise(problem.offsets):
            assert tuple(out[first:last]) == best_of_candidates(node[first:last], model.moves, most)[1]


def test_all_labels_are_candidates_where_a_constraint_allows_no_sequence_of_few():
    rng, barrier = np.random.default_rng(3), BARRIERS["barred"]
    for _ in range(20):
        X, Y = random_examples(rng, valued=False, barrier=barrier)
        model = sparse_start(rng, ALL, barrier)
        out = np.empty(sum(map(len, X)), np.uint32)
        problem = as_sparse(as_problem(X, Y, valued=False), ALL, 1)
        predict_sparse(problem, model, out)
        for first, last in itertools.pairwise(problem.offsets):
            path = [LABELS, *out[first:last], LABELS]
            assert np.isfinite(model.moves[path[:-1], path[1:]]).all()


@pytest.mark.without_jit
@pytest.mark.parametrize("most", range(1, LABELS + 1))
def test_the_expected_difference_is_that_of_all_sequences_of_candidates(most):
    rng = np.random.default_rng(most)
    for _ in range(10):
        X, Y = random_examples(rng, valued=True)
        rows, has = random_rows(rng)
        model, plain = sparse_start(rng, rows), FewPairs(has)
        problem = as_sparse(as_problem(X, Y, valued=True), rows, most)
        kept = np.concatenate([has.ravel(), np.ones(model.w_move.size, bool)])
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            operations.find_mistakes(problem, model, i, np.empty(LONGEST, np.int64))
            chosen = [model.candidates[k, : model.counts[k]] for k in range(len(x))]
            assert all(gold in labels for gold, labels in zip(y, chosen, strict=True))
            outputs = [plain.joint_feature(x, labels)[kept] for labels in itertools.product(*chosen)]
            scores = np.array(outputs) @ operations.weights(model)
            p = np.exp(scores - scores.max())
            expected = plain.joint_feature(x, y)[kept] - (p / p.sum()) @ np.array(outputs)
            size, features, values = operations.expected_difference(problem, model, i)
            got = np.bincount(features[:size], values[:size], minlength=len(expected))
            largest = max(1.0, np.abs(problem.values).max())
            np.testing.assert_allclose(got, expected, atol=0.05 * largest)  # small differences are left out


def test_candidates_are_the_best_labels_and_the_gold_one():
    rng = np.random.default_rng(1)
    X, Y = random_examples(rng, valued=False, examples=20)
    model, problem = sparse_start(rng, ALL), as_sparse(as_problem(X, Y, valued=False), ALL, 1)
    node, found = np.zeros((len(problem.y), LABELS)), np.empty((len(problem.y), 2), np.int32)
    position_scores(problem, 0, len(node), model.w, node)
    candidates_of_positions(problem, model, found)
    for row, gold, labels in zip(node, problem.y, found, strict=True):
        expected = sorted({int(row.argmax()), int(gold)})
        assert [label for label in labels.tolist() if label >= 0] == expected


def test_rows_are_the_labels_of_the_positions_of_an_attribute_or_all_if_most_are():
    rng = np.random.default_rng(2)
    X, Y = random_examples(rng, valued=False, examples=12)
    problem = as_problem(X, Y, valued=False)
    of_positions = rng.integers(-1, 7, size=(len(problem.y), 2)).astype(np.int32)
    rows = rows_of_positions(occurrences(problem.attributes, problem.values, problem.starts, 9), of_positions, 7)
    position = np.repeat(np.arange(len(problem.y)), np.diff(problem.starts))
    for attribute in range(9):
        labels = [of_positions[t] for t in position[problem.attributes == attribute]]
        few = {int(y) for first, second in labels for y in (first, second if first >= 0 else -1) if y >= 0}
        expected = sorted(few) if 2 * len(few) <= 7 else list(range(7))
        assert rows.labels[rows.starts[attribute] : rows.starts[attribute + 1]].tolist() == expected
