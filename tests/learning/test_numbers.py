"""Numbers that are none, or that nothing can hold, are refused in one short line, whoever gives them."""

import numpy as np
import pytest

from swvp import DependencyParser, SequenceTagger, UpdateRule
from swvp.errors import InputError, is_power_of_two, is_real, is_whole, shown
from swvp.evaluation.paired import compare_counts

X, Y = [["the", "dog"]], [["D", "N"]]
TREE = [[2, 0]]
HUGE = 10**400
BEYOND = 10**5000
"""More digits than Python prints."""


@pytest.mark.parametrize("value", [HUGE, BEYOND, 2**63, -HUGE, True, np.True_, 1.0, "1", None], ids=shown)
def test_what_is_no_whole_number(value):
    assert not is_whole(value)


@pytest.mark.parametrize("value", [HUGE, -BEYOND, True, np.nan, np.inf, "1", None, 1j], ids=shown)
def test_what_is_no_number(value):
    assert not is_real(value)


@pytest.mark.parametrize("value", [1, 2**63 - 1, np.int8(3), np.uint64(5)], ids=shown)
def test_what_is_a_whole_number(value):
    assert is_whole(value)
    assert is_real(value)


def test_powers_of_two():
    assert [value for value in range(-4, 70) if is_power_of_two(value)] == [1, 2, 4, 8, 16, 32, 64]
    assert is_power_of_two(np.int64(2**40))
    assert not any(map(is_power_of_two, [True, 2.0, "2", None, 2**64, HUGE]))
    assert [value for value in range(70) if is_power_of_two(value, least=2, most=32)] == [2, 4, 8, 16, 32]


@pytest.mark.parametrize("value", [HUGE, BEYOND, -BEYOND, "x" * 10**6, ["x"] * 10**5], ids=shown)
def test_values_in_messages_are_short(value):
    assert len(shown(value)) < 100


@pytest.mark.parametrize(
    "options",
    [
        {name: value}
        for name in ("epochs", "minimum_count", "hashed", "patience", "n_jobs")
        for value in (True, HUGE, BEYOND, 2**63)
    ]
    + [{name: value} for name in ("beta", "C", "l2") for value in (True, HUGE, BEYOND, -1, np.nan)]
    + [{"random_state": value} for value in (HUGE, -1, -HUGE)],
    ids=lambda options: f"{next(iter(options))} {shown(next(iter(options.values())))}",
)
def test_a_tagger_refuses_numbers_that_are_none(options):
    (name,) = options
    with pytest.raises(InputError, match=f"^{name} must be ") as refused:
        SequenceTagger(**({"epochs": 1, "rule": "csp"} | options)).fit(X, Y)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "options",
    [
        {"epochs": BEYOND},
        {"hashed": True},
        {"hashed": HUGE},
        {"margin": HUGE},
        {"margin": True},
        {"order": True},
        {"order": BEYOND},
        {"beta": HUGE},
        {"random_state": HUGE},
    ],
    ids=lambda options: f"{next(iter(options))} {shown(next(iter(options.values())))}",
)
def test_a_parser_refuses_numbers_that_are_none(options):
    (name,) = options
    with pytest.raises(InputError, match=f"^{name} must be ") as refused:
        DependencyParser(**({"epochs": 1, "hashed": 64} | options)).fit(X, TREE)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("field", ["beta", "C", "k_best"])
@pytest.mark.parametrize("value", [HUGE, BEYOND, True], ids=shown)
def test_a_rule_refuses_numbers_that_are_none(field, value):
    with pytest.raises(InputError, match=f"^{field} must be "):
        UpdateRule(**{field: value})


@pytest.mark.parametrize("n", [HUGE, BEYOND], ids=shown)
def test_more_rows_than_there_are_is_all_of_them(n):
    tagger = SequenceTagger(epochs=1, random_state=0).fit(X, Y)
    assert len(tagger.top_features(n=n).rows) == np.count_nonzero(tagger.coef_)
    assert tagger.top_transitions(n=n).rows
    assert tagger.explain(X[0], n=n).rows


def test_a_seed_of_128_bits_is_one(tmp_path):
    SequenceTagger(epochs=1, random_state=2**128 - 1).fit(X, Y).save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").random_state == 2**128 - 1


@pytest.mark.parametrize("samples", [0, HUGE, 10_000_001, True], ids=shown)
def test_a_test_has_a_bound_of_samples(samples):
    with pytest.raises(InputError, match=r"samples must be at (least 1|most 10,000,000), not"):
        compare_counts("accuracy", np.array([[1, 2]]), np.array([[1, 2]]), samples=samples)


@pytest.mark.parametrize("option", ["--epochs", "--hashed", "--min-count", "--patience"])
@pytest.mark.parametrize("text", [str(2**63), str(HUGE)], ids=["2^63", "10^400"])
def test_the_command_line_refuses_them_too(refused, tmp_path, option, text):
    (tmp_path / "train.txt").write_text("the D\ndog N\n\n")
    options = ["--dev", "train.txt"] if option == "--patience" else []
    line = refused("train", "tagger", "train.txt", *options, "-m", "model", option, text)
    assert "must be " in line
    assert len(line) < 200
