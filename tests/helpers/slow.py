"""Marks for tests that take long."""

import pytest


def slow_except(values, *quick):
    """Return the values for `parametrize`: those in `quick` always run, the others are marked slow."""
    assert set(quick) <= set(values)
    return [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in values]
