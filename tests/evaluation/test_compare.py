"""The paired tests against every sample there is, and what must hold of them."""

import itertools
import json
import math

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.evaluation import paired as module
from swvp.evaluation.counts import evaluate_phrases, token_accuracy
from swvp.evaluation.tags import compare_tags, paired_bootstrap, paired_permutation, sentence_counts

SAMPLES = 20_000


def random_counts(rng, sentences, *, same_total):
    """(right, of) of two predictions: of accuracy (the same tokens), or of F1 (other phrases)."""
    totals = [rng.integers(1, 9, sentences)] * 2 if same_total else rng.integers(0, 9, (2, sentences))
    chances = zip(totals, (0.5, 0.8), strict=True)
    return [np.stack([rng.binomial(total, chance), total], axis=1) for total, chance in chances]


def difference(first, second):
    """score(second) - score(first), in plain Python."""
    (a, of_a), (b, of_b) = (map(sum, zip(*counts, strict=True)) for counts in (first, second))
    return (b / of_b if of_b else 0.0) - (a / of_a if of_a else 0.0)


def every_swap(first, second):
    """The exact p-value: all 2^n ways to swap."""
    observed = abs(difference(first, second))
    large = 0
    for swaps in itertools.product([False, True], repeat=len(first)):
        a = [second[k] if swap else first[k] for k, swap in enumerate(swaps)]
        b = [first[k] if swap else second[k] for k, swap in enumerate(swaps)]
        large += abs(difference(a, b)) >= observed - 1e-12
    return large / 2 ** len(first)


def every_bootstrap(first, second):
    """The differences of all n^n samples."""
    n = len(first)
    return np.array(
        [difference([first[k] for k in drawn], [second[k] for k in drawn])
         for drawn in itertools.product(range(n), repeat=n)]
    )  # fmt: skip


def near(p, exact, samples=SAMPLES):
    """Within five standard deviations of the drawing."""
    return abs(p - exact) <= 5 * math.sqrt(exact * (1 - exact) / samples) + 1.5 / samples


@pytest.mark.parametrize("same_total", [True, False], ids=["accuracy", "f1"])
@pytest.mark.parametrize("seed", range(4))
def test_the_permutation_test_nears_the_exact_p_value(same_total, seed):
    first, second = random_counts(np.random.default_rng(seed), 9, same_total=same_total)
    exact = every_swap(first.tolist(), second.tolist())
    assert near(paired_permutation(first, second, samples=SAMPLES, seed=seed), exact)


def test_equal_sentences_are_swapped_one_by_one():
    first, second = np.array([[1, 4]] * 8), np.array([[2, 4]] * 8)
    exact = every_swap(first.tolist(), second.tolist())
    assert exact == 2 / 2**8
    assert near(paired_permutation(first, second, samples=SAMPLES), exact)


@pytest.mark.parametrize("same_total", [True, False], ids=["accuracy", "f1"])
@pytest.mark.parametrize("seed", range(3))
def test_the_bootstrap_nears_all_samples_there_are(same_total, seed):
    first, second = random_counts(np.random.default_rng(seed), 5, same_total=same_total)
    every = every_bootstrap(first.tolist(), second.tolist())
    observed = difference(first.tolist(), second.tolist())
    p, (low, high) = paired_bootstrap(first, second, samples=SAMPLES, seed=seed)
    assert near(p, np.mean(np.abs(every - observed) >= abs(observed) - 1e-12))
    assert np.quantile(every, 0.02) <= low <= np.quantile(every, 0.03)
    assert np.quantile(every, 0.97) <= high <= np.quantile(every, 0.98)


def test_the_bootstrap_draws_equal_sentences_as_often_as_others():
    first, second = np.array([[0, 1]] * 6), np.array([[1, 1]] + [[0, 1]] * 5)
    p, (low, high) = paired_bootstrap(first, second, samples=SAMPLES)
    assert low == 0.0
    assert high == pytest.approx(3 / 6)  # of binomial(6, 1/6), the 97.5 % quantile is 3
    assert near(p, 1 - (5 / 6) ** 5)  # the chance that binomial(6, 1/6) is not 1


def test_the_interval_is_that_of_the_normal_distribution_for_many_sentences():
    rng = np.random.default_rng(5)
    ones = np.ones(4000, np.int64)
    first, second = (np.stack([rng.binomial(1, chance, 4000), ones], axis=1) for chance in (0.6, 0.63))
    gain = (second - first)[:, 0]
    deviation = 1.96 * gain.std() / math.sqrt(4000)
    _, interval = paired_bootstrap(first, second)
    assert interval == pytest.approx((gain.mean() - deviation, gain.mean() + deviation), abs=0.05 * deviation)


def test_p_values_are_fair_if_there_is_no_difference():
    rng = np.random.default_rng(6)
    low = []
    for trial in range(300):
        of = rng.integers(5, 20, 40)
        first, second = (np.stack([rng.binomial(of, 0.8), of], axis=1) for _ in range(2))
        low.append(
            [
                paired_bootstrap(first, second, samples=400, seed=trial)[0] <= 0.1,
                paired_permutation(first, second, samples=400, seed=trial) <= 0.1,
            ]
        )
    assert np.all(np.abs(np.mean(low, axis=0) - 0.1) < 0.045)


def test_the_same_prediction_twice_differs_by_nothing():
    gold = [["a", "b"], ["b"]]
    found = compare_tags(gold, [["a", "a"], ["b"]], [["a", "a"], ["b"]], samples=100)
    assert found.difference == 0.0
    assert found.interval == (0.0, 0.0)
    assert found.bootstrap_p == found.permutation_p == 1.0


def test_p_is_never_0_and_never_above_1():
    first, second = np.array([[0, 5]] * 200), np.array([[5, 5]] * 200)
    assert paired_permutation(first, second, samples=99) == 1 / 100
    assert paired_bootstrap(first, second, samples=99) == (1 / 100, (1.0, 1.0))
    assert paired_permutation(first[:1], second[:1], samples=99) == 1.0  # one sentence says nothing


def test_the_order_of_the_two_changes_the_sign_only():
    first, second = random_counts(np.random.default_rng(7), 60, same_total=False)
    p, (low, high) = paired_bootstrap(first, second, samples=SAMPLES)
    q, (other_low, other_high) = paired_bootstrap(second, first, samples=SAMPLES)
    assert near(p, q, SAMPLES / 2)
    assert (other_low, other_high) == pytest.approx((-high, -low), abs=0.01)
    assert near(paired_permutation(first, second), paired_permutation(second, first), 5000)


def test_scores_are_those_of_the_whole_prediction():
    rng = np.random.default_rng(8)
    labels = ["O", "B-X", "I-X", "B-Y"]
    gold, first, second = ([[str(x) for x in rng.choice(labels, 6)] for _ in range(30)] for _ in range(3))
    by_f1 = compare_tags(gold, first, second, measure="f1", samples=50)
    assert by_f1.first == pytest.approx(evaluate_phrases(gold, first).total.f1)
    assert by_f1.second == pytest.approx(evaluate_phrases(gold, second).total.f1)
    by_tokens = compare_tags(gold, first, second, samples=50)
    assert by_tokens.first == pytest.approx(token_accuracy(gold, first))
    assert by_tokens.difference == pytest.approx(token_accuracy(gold, second) - token_accuracy(gold, first))
    assert by_tokens.first != by_f1.first
    assert by_tokens.interval[0] < by_tokens.difference < by_tokens.interval[1]


def test_the_seed_decides():
    gold = [["a"] * 5] * 12
    rng = np.random.default_rng(9)
    first, second = ([[str(x) for x in rng.choice(["a", "b"], 5)] for _ in gold] for _ in range(2))
    once = compare_tags(gold, first, second, samples=500, seed=3)
    assert compare_tags(gold, first, second, samples=500, seed=3) == once
    other = compare_tags(gold, first, second, samples=500, seed=4)
    assert (other.bootstrap_p, other.permutation_p) != (once.bootstrap_p, once.permutation_p)


def test_many_samples_are_drawn_in_portions(monkeypatch):
    first, second = random_counts(np.random.default_rng(10), 9, same_total=True)
    exact = every_swap(first.tolist(), second.tolist())
    monkeypatch.setattr(module, "CELLS", 1000)
    p = paired_permutation(first, second, samples=SAMPLES)
    assert near(p, exact)
    assert p * (SAMPLES + 1) == pytest.approx(round(p * (SAMPLES + 1)))
    assert sum(module.portions(SAMPLES, 7)) == SAMPLES


def test_phrases_of_a_sentence_are_counted():
    gold, predicted = [["B-X", "I-X", "O"], ["O"]], [["B-X", "O", "B-X"], ["O"]]
    assert sentence_counts(gold, predicted, "f1").tolist() == [[0, 3], [0, 0]]
    assert sentence_counts(gold, gold, "f1").tolist() == [[2, 2], [0, 0]]
    assert sentence_counts(gold, predicted).tolist() == [[1, 3], [1, 1]]


def test_nothing_to_find_is_no_error():
    found = compare_tags([["O"]] * 3, [["O"]] * 3, [["O"]] * 3, measure="f1", samples=10)
    assert found.first == found.second == 0.0


def test_a_comparison_is_json_and_a_table():
    gold = [["a"], ["a"], ["a"], ["a"]]
    found = compare_tags(gold, [["b"], ["a"], ["a"], ["a"]], gold, samples=10, seed=2)
    content = json.loads(json.dumps(found.as_dict()))
    assert (content["first"], content["second"], content["difference"]) == (0.75, 1.0, 0.25)
    assert content["interval"] == list(found.interval)
    assert (content["samples"], content["seed"], content["sentences"]) == (10, 2, 4)
    assert "<caption>Compared by token accuracy</caption>" in found._repr_html_()
    assert "<th>second - first</th><td>+25.00</td>" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples must be at least 1, not 0"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"measure": "f2"}, "unknown measure 'f2'"),
    ],
)
def test_bad_options_are_told(options, message):
    with pytest.raises(InputError, match=message):
        compare_tags([["a"]], [["a"]], [["a"]], **options)


def test_there_must_be_sentences_and_the_same():
    with pytest.raises(InputError, match="no sentence to compare"):
        compare_tags([], [], [])
    with pytest.raises(InputError, match="1 sentences with gold labels and 2"):
        compare_tags([["a"]], [["a"]], [["a"], ["a"]])
    with pytest.raises(InputError, match="1 sentences in the first prediction, 2 in the second"):
        paired_permutation(np.array([[1, 1]]), np.array([[1, 1], [1, 1]]))
