"""Operations find their implementation, and stale machine code is not used."""

import os
import subprocess
import sys
import textwrap
from typing import NamedTuple

import numba
import numpy as np
import pytest

from swvp.compiled import implement, kernel, one_of, operation


class Square(NamedTuple):
    side: np.ndarray


class Disc(NamedTuple):
    radius: np.ndarray


@operation
def area(shape, factor):
    """The area of a shape, times a factor."""


@implement(area, Square)
@kernel
def area_of_square(shape, factor):
    return factor * shape.side[0] ** 2


@implement(area, Disc)
@kernel
def area_of_disc(shape, factor):
    return factor * 3.0 * shape.radius[0] ** 2


@kernel
def twice(shape):
    return area(shape, 2.0)


@pytest.mark.parametrize(("shape", "expected"), [(Square(np.array([3.0])), 9.0), (Disc(np.array([1.0])), 3.0)])
def test_an_operation_is_picked_by_the_type_of_its_first_argument(shape, expected):
    assert area(shape, 1.0) == expected
    assert twice(shape) == 2 * expected


def test_a_type_without_an_implementation_is_told_so():
    with pytest.raises(TypeError, match="float does not implement 'area'"):
        area(1.0, 2.0)


@kernel
def plus(a, b):
    return a + b


@kernel
def times(a, b):
    return a * b


@kernel
def minus(a, b):
    return a - b


calculate = one_of([plus, times, minus])


@kernel
def all_results(a, b):
    return calculate(0, a, b), calculate(1, a, b), calculate(2, a, b)


def test_kernels_choose_one_of_several_functions_by_its_number():
    assert all_results(5.0, 3.0) == (8.0, 15.0, 2.0)
    assert [calculate(number, 5.0, 3.0) for number in range(3)] == [8.0, 15.0, 2.0]


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import swvp.compiled
swvp.compiled.fingerprint = lambda: {stamp!r}
from used import outer
print(outer(1))
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_change_in_another_file_makes_cached_machine_code_stale(tmp_path):
    helper, user = tmp_path / "helper.py", tmp_path / "used.py"
    user.write_text(
        textwrap.dedent("""
        from helper import inner
        from swvp.compiled import kernel

        @kernel
        def outer(x):
            return inner(x)
        """)
    )

    def answer(value, stamp):
        helper.write_text(f"from swvp.compiled import kernel\n\n@kernel\ndef inner(x):\n    return {value}\n")
        program = PROGRAM.format(folder=str(tmp_path), stamp=stamp)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        return int(
            subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True).stdout
        )

    assert answer(1, "a") == 1
    assert answer(2, "a") == 1  # Numba alone does not notice
    assert answer(2, "b") == 2


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_change_in_a_kernel_of_a_user_s_is_noticed(tmp_path):
    def answer(value):
        (tmp_path / "used.py").write_text(
            f"from swvp.compiled import kernel\n\n@kernel\ndef outer(x):\n    return {value}\n"
        )
        program = PROGRAM.format(folder=str(tmp_path), stamp="a")
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True)
        return int(done.stdout)

    assert [answer(1), answer(2)] == [1, 2]
