"""Marks for tests that take long."""

import pytest

without_jit = pytest.mark.without_jit
"""For tests of kernels with rare types, on small problems: plain Python is faster than compiling (conftest.py)."""


def in_plain_python(values, rare):
    """Return the values for `parametrize`; those for which rare(value) holds run without the JIT."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=without_jit) if rare(value) else value
        for value in values
    ]


def slow_except(values, *quick, rare=lambda value: False):
    """Return the values for `parametrize`: those in `quick` always run, the others are marked slow.

    Those for which rare(value) holds run without the JIT.
    """
    assert set(quick) <= set(values)
    return [
        pytest.param(value, marks=[pytest.mark.slow] * (value not in quick) + [without_jit] * rare(value))
        for value in values
    ]
