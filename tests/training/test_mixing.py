"""Mixing: means of the weights of shards, in their order, against a plain version."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.learning.rule import as_rule
from swvp.structures.exact import GRID, averaged
from swvp.training.mixing import Mixture, Sparse, change_of, grid_for, packed, share_of, unpacked

SHARES = [1.0, 3.0, 2.0]


def walks(rng, shards=3, size=20, steps=7):
    """A common start, and the weights of each shard after each of its examples; multiples of the grid, mostly zero."""
    start = rng.integers(-3, 4, size) * (rng.random(size) < 0.5) * 1.0
    moves = rng.integers(-2, 3, (shards, steps, size)) * (rng.random((shards, steps, size)) < 0.1)
    return start, start + np.cumsum(moves, axis=1)


def mixed(start, ends, shares=SHARES, **options):
    grid = options.pop("grid", 0.0)
    old = start.copy()
    mixture = Mixture(old, **options)
    for share, end in zip(shares, ends, strict=False):
        mixture.add(share, change_of(start, end))
    mixture.write(grid)
    return old


def test_mixing_is_the_mean_of_the_weights_by_their_shares():
    start, walk = walks(np.random.default_rng(0))
    ends = walk[:, -1]
    expected = sum(share * end for share, end in zip(SHARES, ends, strict=True)) / 6
    assert mixed(start, ends) == pytest.approx(expected, abs=1e-12)


def test_mixed_weights_are_multiples_of_the_grid():
    start, walk = walks(np.random.default_rng(1))
    found = mixed(start, walk[:, -1], grid=GRID)
    assert (found / GRID == np.rint(found / GRID)).all()
    assert np.abs(found - mixed(start, walk[:, -1])).max() <= GRID / 2


def test_a_single_shard_keeps_its_weights_to_the_last_bit():
    rng = np.random.default_rng(2)
    start, end = rng.random(9), rng.random(9)
    assert (mixed(start, [end], [0.3], grid=GRID) == end).all()


def test_the_mean_of_changed_weights_leaves_out_shards_that_did_not_change_them():
    start = np.array([1.0, 1.0, 1.0])
    ends = [np.array([3.0, 1.0, 1.0]), np.array([1.0, 2.0, 1.0]), np.array([5.0, 1.0, 1.0])]
    assert mixed(start, ends, [1.0, 1.0, 1.0], changed=True).tolist() == [4.0, 2.0, 1.0]


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_mixed_sums_average_all_weights_of_all_shards(power):
    """Two rounds; w - D / (rN)^p is the mean over shards of Σ (t^p - (t-1)^p) w_t / (r N_s)^p."""
    rng = np.random.default_rng(3)
    sizes = [4, 7, 5]
    total = sum(sizes)
    w, delayed = np.zeros(20), np.zeros(20)
    expected = np.zeros(20)
    for round in range(2):
        mixture, sums = Mixture(w.copy()), Mixture(delayed)
        for size in sizes:
            moves = rng.integers(-2, 3, (size, 20)) * (rng.random((size, 20)) < 0.3)
            walk = w + np.cumsum(moves, axis=0)
            times = round * size + np.arange(size)
            own = (moves * times[:, None] ** power).sum(axis=0)
            mixture.add(1.0, change_of(w, walk[-1]))
            sums.add_to(1.0, Sparse(np.arange(20), own), (total / size) ** power)
            weight = ((times + 1.0) ** power - times**power)[:, None] / (2 * size) ** power
            expected += (weight * walk).sum(axis=0) / len(sizes)
        mixture.write()
        sums.write()
        w = mixture.old
    assert averaged(w, delayed, (2.0 * total) ** power) == pytest.approx(expected, abs=1e-9)


def test_shares_by_mistakes_are_positive_even_without_mistakes():
    assert share_of("uniform", 17) == 1.0
    assert share_of("mistakes", 17) == pytest.approx(17)
    assert share_of("mistakes", 0) > 0
    with pytest.raises(InputError, match="mixing"):
        share_of("best", 1)


@pytest.mark.parametrize(("rule", "steps"), [("csp", 1), ("softmax", 4), ("mira", 1)])
def test_the_grid_is_that_of_the_rule(rule, steps):
    assert grid_for(as_rule(rule)) == GRID / steps


def test_packing_loses_nothing():
    rng = np.random.default_rng(4)
    arrays = {
        "w places": np.flatnonzero(rng.random(500) < 0.2),
        "w values": rng.random(7),
        "halves": np.array([0.5, -2.25]),
        "empty": np.zeros(0, np.int64),
        "squares": rng.random(5).astype(np.float32),
    }
    found = unpacked(packed(arrays))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert (found[name] == array).all()
