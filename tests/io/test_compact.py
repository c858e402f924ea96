"""Arrays in fewer bytes: nothing is lost, and recipes of others are refused."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.compact import compact, restored, rounded

ARRAYS = [
    np.array([3, 300, 70000], np.int64),
    np.array([70000, 3, 300], np.uint32),
    np.arange(12, dtype=np.int32).reshape(3, 4),
    np.array([-1, 5], np.int64),
    np.array([0, 2**40], np.int64),
    np.array([2**63 - 1], np.int64),
    np.array([0.5, -2.0, 0.0]),
    np.array([0.5, 1e-7], np.float32),
    np.array([1.5, 70000.0]),
    np.array([0.1, 1e99]),
    np.array([1, 2], np.uint8),
    np.zeros(0, np.int64),
]


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_an_array_comes_back_as_it_was(array):
    smaller, recipe = compact(array)
    again = restored(smaller, recipe)
    assert again.dtype == array.dtype
    assert np.array_equal(again, array)
    assert smaller.nbytes < array.nbytes if recipe else smaller is array


def test_rounded_weights_take_two_bytes_unless_one_is_too_large():
    weights = np.random.default_rng(0).normal(size=100)
    assert compact(rounded(weights))[0].dtype.itemsize == 2
    assert np.allclose(rounded(weights), weights, rtol=1e-3)
    assert compact(rounded(np.append(weights, 1e6)))[0].dtype.itemsize == 4


def test_places_of_weights_take_a_quarter_of_their_bytes():
    places = np.flatnonzero(np.random.default_rng(0).random(10_000) < 0.01)
    assert compact(places)[0].dtype.itemsize <= 2


@pytest.mark.parametrize("recipe", [["<i8"], ["<f8", "differences"], ["|O", "as it is"], "<i8", ["<i8", "other"], {}])
def test_a_recipe_that_is_not_ours_is_refused(recipe):
    with pytest.raises(InputError, match="types of arrays"):
        restored(np.array([1, 2], np.uint8), recipe)
