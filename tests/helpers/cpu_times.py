"""A pytest plugin that prints the CPU seconds of the slowest tests, with compiling apart, to keep slow marks right.

    PYTHONPATH=tests pytest -n0 -p helpers.cpu_times

Tests with the same name and different parameters are added up. Child processes count too.
"""

import collections
import resource
import time

import pytest
from numba.core import event

MOST = 40
compiling = {"depth": 0, "since": 0.0, "seconds": 0.0}
seconds = collections.defaultdict(lambda: [0.0, 0.0, 0])


class Compiling(event.Listener):
    """Adds up the CPU seconds in which Numba compiles; a kernel compiled within another counts once."""

    def on_start(self, _):
        if compiling["depth"] == 0:
            compiling["since"] = time.process_time()
        compiling["depth"] += 1

    def on_end(self, _):
        compiling["depth"] -= 1
        if compiling["depth"] == 0:
            compiling["seconds"] += time.process_time() - compiling["since"]


event.register("numba:compile", Compiling())


def used():
    """Return the CPU seconds of this process and its children, and those of compiling."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime, compiling["seconds"]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Measure a test with its fixtures."""
    before = used()
    yield
    total, compiled = (now - then for now, then in zip(used(), before, strict=True))
    row = seconds[item.nodeid.partition("[")[0]]
    row[0] += total - compiled
    row[1] += compiled
    row[2] += 1


def pytest_terminal_summary(terminalreporter):
    """Print the tests that take longest."""
    rows = sorted(seconds.items(), key=lambda item: -item[1][0])[:MOST]
    terminalreporter.section("CPU seconds: running, compiling, number of tests")
    for name, (running, compiled, count) in rows:
        terminalreporter.line(f"{running:8.2f} {compiled:8.2f} {count:5} {name}")
