"""The voted perceptron: the recorded weight vectors are those of the training, and the vote is the plain one."""

import numpy as np
import pytest

from helpers.problems import RememberingChain, random_sequences
from helpers.theory_problems import Table, orthogonal_examples
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.voting import Hypotheses, vote

RULES = ["csp", "a-wm", "b-wmr", "a-uniform:segments:sqrt", "mira"]


def data(seed, examples=12):
    rng = np.random.default_rng([60, seed])
    X, Y = random_sequences(rng, examples=examples, symbols=5, labels=3, longest=4)
    return RememberingChain(5, 3), X, Y


def fit(problem, X, Y, **options):
    return StructuredPerceptron(problem, vote=True, shuffle=False, **options).fit(X, Y)


def every_vector(problem, X, Y, *, epochs, **options):
    """The weights after each round, by training again on the first examples of all rounds."""
    rounds = list(zip(X, Y, strict=True)) * epochs
    for t in range(1, len(rounds) + 1):
        first = rounds[:t]
        learner = StructuredPerceptron(problem, epochs=1, shuffle=False, **options)
        yield learner.fit([x for x, _ in first], [y for _, y in first]).last_coef_


def plain_vote(problem, x, vectors):
    """One vote per round, the first of the labels with the most."""
    labels = [tuple(problem.argmax(x, w)) for w in vectors]
    return max(labels, key=lambda label: (labels.count(label), -labels.index(label)))


@pytest.mark.parametrize("rule", RULES)
def test_the_vectors_are_those_after_each_round(rule):
    problem, X, Y = data(0)
    learner = fit(problem, X, Y, rule=rule, epochs=2)
    recorded = [w.copy() for w, rounds in learner.hypotheses_.replay() for _ in range(rounds)]
    vectors = list(every_vector(problem, X, Y, rule=rule, epochs=2))[: len(recorded)]
    np.testing.assert_array_equal(recorded, vectors)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_the_vote_is_that_of_all_rounds(rule, seed):
    problem, X, Y = data(seed)
    learner = fit(problem, X[:9], Y[:9], rule=rule, epochs=2)
    vectors = list(every_vector(problem, X[:9], Y[:9], rule=rule, epochs=2))
    expected = [plain_vote(problem, x, vectors[: sum(learner.hypotheses_.survived)]) for x in X]
    assert [tuple(label) for label in learner.predict(X)] == expected


def test_the_averaged_weights_are_the_mean_of_the_vectors():
    problem, X, Y = data(1)
    learner = fit(problem, X, Y, rule="a-wm", epochs=3)
    mean = sum(w * rounds for w, rounds in learner.hypotheses_.replay()) / learner.hypotheses_.survived.sum()
    np.testing.assert_allclose(mean, learner.averaged_coef_, atol=1e-12)


def test_voting_changes_neither_the_weights_nor_the_history():
    problem, X, Y = data(2)
    voted = StructuredPerceptron(problem, vote=True, epochs=3, random_state=0).fit(X, Y)
    other = StructuredPerceptron(problem, epochs=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(voted.coef_, other.coef_)
    untimed = [{**epoch.as_dict(), "seconds": 0} for epoch in voted.history_]
    assert untimed == [{**epoch.as_dict(), "seconds": 0} for epoch in other.history_]


def test_survived_rounds_are_counted_by_hand():
    """Three orthogonal examples, each a mistake the first time and right the second."""
    problem, X, Y = orthogonal_examples(3)
    hypotheses = fit(problem, X, Y, rule="csp", epochs=2).hypotheses_
    assert hypotheses.survived.tolist() == [0, 1, 1, 4]
    assert [w.tolist() for w, _ in hypotheses.replay()] == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_the_first_vector_is_the_initial_one():
    problem, X, Y = orthogonal_examples(3)
    learner = StructuredPerceptron(problem, rule="csp", vote=True, epochs=1, shuffle=False)
    hypotheses = learner.fit(X, Y, initial=np.array([1.0, 0, 0])).hypotheses_
    assert hypotheses.survived.tolist() == [1, 1, 1]
    assert hypotheses.initial.tolist() == [1, 0, 0]


def two_vectors(first, second):
    """w = (1) for some rounds, then w = (-1)."""
    return Hypotheses(
        np.ones(1), np.array([0, 0, 1]), np.array([0]), np.array([-1.0]), survived=np.array([first, second])
    )


SIGN = {(0,): [1.0], (1,): [-1.0]}


@pytest.mark.parametrize(("first", "second", "winner"), [(2, 1, 0), (1, 2, 1), (1, 1, 0), (0, 1, 1)])
def test_the_most_votes_win_and_of_equals_the_earliest(first, second, winner):
    assert vote(Table(), [SIGN], two_vectors(first, second)) == [(winner,)]


def test_votes_are_for_whole_labels_not_for_positions():
    """Labels (0, 0), (0, 1) and (1, 1) with 2, 2 and 3 votes: by positions (0, 1) would win."""
    x = {(0, 0): [1.0, 0, 0], (0, 1): [0, 1.0, 0], (1, 1): [0, 0, 1.0]}
    hypotheses = Hypotheses(
        np.array([1.0, 0, 0]), np.array([0, 0, 1, 2]), np.array([1, 2]), np.array([2.0, 3.0]), np.array([2, 2, 3])
    )
    assert vote(Table(), [x], hypotheses) == [(1, 1)]


def test_the_vectors_of_the_first_rounds():
    problem, X, Y = data(3)
    hypotheses = fit(problem, X, Y, rule="csp", epochs=2).hypotheses_
    every = [w.copy() for w, rounds in hypotheses.replay() for _ in range(rounds)]
    for rounds in (1, 5, 12, 24):
        first = [w.copy() for w, times in hypotheses.until(rounds).replay() for _ in range(times)]
        np.testing.assert_array_equal(first, every[:rounds])


def test_an_update_takes_16_bytes_for_each_weight_it_changes_and_for_itself():
    problem, X, Y = orthogonal_examples(50)
    hypotheses = fit(problem, X, Y, rule="csp", epochs=1).hypotheses_
    assert hypotheses.nbytes == hypotheses.initial.nbytes + 50 * (16 + 16) + 24


def test_a_learner_fitted_without_vote_must_be_fitted_again():
    problem, X, Y = data(4)
    learner = StructuredPerceptron(problem, epochs=1).fit(X, Y).set_params(vote=True)
    with pytest.raises(InputError, match="fitted without vote: fit it again"):
        learner.predict(X)
