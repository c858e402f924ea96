"""What users see while kernels are compiled: the estimate, a line in a terminal, sparse lines in a log."""

import io
import time

import numba
import pytest

from swvp import compile_events
from swvp.cli import compiling
from swvp.cli.compiling import CompileProgress, Estimate
from swvp.cli.progress import Watch
from swvp.cli.terminal import new_console


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compile_for(observer, clock, kernel, seconds):
    observer.on_start(kernel)
    clock.now += seconds
    observer.on_end(kernel)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def estimate(clock):
    return Estimate(clock)


def test_without_expectations_the_time_so_far_is_shown(estimate, clock):
    compile_for(estimate, clock, "scan", 3.0)
    estimate.on_start("sweep")
    clock.now += 4.0
    assert str(estimate) == "compiling (only the first time): 7 s so far"


def test_the_time_left_follows_the_speed_of_the_machine(estimate, clock):
    estimate.expect([("scan", 2.0), ("sweep", 10.0), ("predict", 5.0)])
    estimate.on_start("scan")
    assert str(estimate) == "compiling (only the first time): about 17 s left"
    clock.now += 4.0  # twice as long as expected
    estimate.on_end("scan")
    estimate.on_start("sweep")
    assert str(estimate) == "compiling (only the first time): about 30 s left"
    clock.now += 15.0
    assert str(estimate) == "compiling (only the first time): about 15 s left"
    clock.now += 15.0  # longer than expected
    assert str(estimate) == "compiling (only the first time): about 10 s left"


def test_kernels_in_the_cache_are_not_counted(estimate, clock):
    estimate.expect([("scan", 2.0), ("sweep", 10.0), ("sweep", 4.0)])
    estimate.on_load("scan")
    estimate.on_load("sweep")
    estimate.on_start("sweep")
    assert str(estimate) == "compiling (only the first time): about 4 s left"


def test_a_kernel_that_nobody_expected_has_no_time_left(estimate, clock):
    estimate.expect([("scan", 2.0)])
    estimate.on_start("of a user")
    clock.now += 3.0
    assert str(estimate) == "compiling (only the first time): 3 s so far"


def test_a_kernel_compiled_within_another_counts_its_seconds_once(estimate, clock):
    estimate.on_start("outer")
    clock.now += 1.0
    compile_for(estimate, clock, "inner", 2.0)
    clock.now += 1.0
    estimate.on_end("outer")
    assert (estimate.finished, estimate.seconds) == (2, 4.0)


def test_after_a_kernel_that_failed_the_next_one_counts(estimate, clock):
    estimate.on_start("failed")
    compile_for(estimate, clock, "scan", 2.0)
    estimate.on_end("failed")
    assert estimate.running == []
    assert estimate.finished == 2


def test_a_log_gets_a_line_after_two_seconds_and_then_one_every_ten_seconds(clock):
    log = io.StringIO()
    progress = CompileProgress(log, clock)
    progress.closed = True  # no thread: the test calls tick
    progress.on_start("sweep")
    progress.closed = False
    for _ in range(20):
        clock.now += 1.0
        progress.tick()
    progress.close()
    assert log.getvalue().splitlines() == [
        "compiling (only the first time): 2 s so far",
        "compiling (only the first time): 12 s so far",
    ]


def test_a_terminal_shows_one_line_and_erases_it(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    progress = CompileProgress(terminal, clock)
    compile_for(progress, clock, "scan", 3.0)
    progress.on_start("sweep")
    progress.on_end("sweep")
    progress.close()
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().split("\r\x1b[K")[-2:] == ["compiling (only the first tim", ""]


def test_the_line_changes_while_a_kernel_is_compiled(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(compiling, "TERMINAL_SECONDS", 0.01)
    terminal = Terminal()
    progress = CompileProgress(terminal)
    progress.on_start("sweep")
    deadline = time.monotonic() + 20
    while "compiling" not in terminal.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)
    progress.close()
    assert terminal.getvalue().endswith("so far\r\x1b[K")
    progress.thread.join(20)
    assert not progress.thread.is_alive()


def test_a_progress_bar_shows_the_line_itself(monkeypatch, clock):
    monkeypatch.setenv("TERM", "xterm")
    progress = CompileProgress(Terminal(), clock)
    monkeypatch.setattr(compiling, "active", [progress])
    console = new_console()
    console._force_terminal = True
    console.file = io.StringIO()
    with Watch(console) as bar:
        bar.show(0, 5)
        progress.next_line = 0.0
        progress.on_start("sweep")
        assert bar.bar.tasks[0].description == "compiling (only the first time): 0 s so far"
        progress.on_end("sweep")
        assert bar.bar.tasks[0].description == "starting"
    progress.close()
    assert progress.stream.getvalue() == ""


def test_lists_of_kernels_are_joined_without_those_that_both_have():
    assert compiling.union([[("a", 1.0), ("b", 2.0)], [("b", 2.0), ("b", 3.0)]]) == [
        ("a", 1.0),
        ("b", 2.0),
        ("b", 3.0),
    ]


def test_the_expected_kernels_exist():
    """A kernel that was renamed would stay among those to come: run `python benchmarks/kernel_times.py`."""
    import importlib

    for name in {kernel for kernels in compiling.kernel_times().values() for kernel, _ in kernels}:
        module, _, function = name.rpartition(".")
        assert hasattr(importlib.import_module(f"swvp.{module}"), function), name


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_the_library_reports_what_it_compiles_and_loads_and_stays_silent(tmp_path, monkeypatch, capfd):
    class Events(compile_events.CompileObserver):
        def __init__(self):
            self.events = []

        def on_load(self, kernel):
            self.events.append(("load", kernel))

        def on_start(self, kernel):
            self.events.append(("start", kernel))

        def on_end(self, kernel):
            self.events.append(("end", kernel))

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "doubling.py").write_text(
        "from swvp.compiled import kernel\n\n@kernel\ndef double(x):\n    return 2 * x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    observer = Events()
    compile_events.add_observer(observer)
    try:
        import doubling

        assert doubling.double(21) == 42
        kernel = doubling.double
        fresh = type(kernel._cache)(kernel.py_func, "x")
        fresh._cache_file = kernel._cache._cache_file
        assert fresh.load_overload(kernel.signatures[0], kernel.targetctx) is not None
    finally:
        compile_events.remove_observer(observer)
    name = "doubling.double"
    assert observer.events == [("start", name), ("end", name), ("load", name)]
    assert capfd.readouterr() == ("", "")
