"""Kernels that count no references and check no index run here as plain Python, where NumPy checks each."""

from test_fuzz import run


def test_every_borrowing_kernel_runs_with_checked_indices():
    done = run("tests.fuzz.kernels")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "borrowing kernels executed" in done.stdout
