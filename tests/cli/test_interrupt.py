"""Ctrl-C at any moment: one line, no traceback, exit code 130."""

import signal

import pytest

from swvp.cli import main
from swvp.cli.terminal import interruptible
from swvp.training.training import Stopped


def as_numba(error):
    """Raise what a call of a kernel raises if an exception is set before it returns."""
    raise SystemError("CPUDispatcher(<function collect>) returned a result with an exception set") from error


@pytest.fixture
def interrupted(monkeypatch, capsys):
    """Run a command in which an exception is raised: (exit code, standard error)."""
    before = signal.getsignal(signal.SIGINT)

    def run(work):
        monkeypatch.setattr("swvp.pipeline.load_models", lambda paths: work())
        monkeypatch.setattr("sys.argv", ["swvp", "predict", "model", "input"])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, capsys.readouterr().err

    yield run
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stopped])
def test_ctrl_c_in_a_command_is_one_line(interrupted, error):
    def work():
        raise error

    assert interrupted(work) == (130, "swvp: stopped\n")


def test_ctrl_c_while_a_kernel_is_called_is_one_line(interrupted):
    assert interrupted(lambda: as_numba(KeyboardInterrupt())) == (130, "swvp: stopped\n")


def test_other_errors_of_a_kernel_are_not_hidden():
    with pytest.raises(SystemError), interruptible():
        as_numba(ValueError())
