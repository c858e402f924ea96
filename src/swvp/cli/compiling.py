"""What users see while kernels are compiled: "compiling (only the first time): about 20 s left".

The first start of a command compiles its kernels. In a terminal one line shows the progress, every half second, and is
erased at the end. In a log there is a line after two seconds of compiling, then one every ten seconds.
kernel_times.json lists the kernels that common commands compile in an empty cache, with the CPU seconds they took once;
`python benchmarks/kernel_times.py` measures them. The time left is the sum of those still to come, times the ratio of
the seconds that the finished kernels took to those in the list. A kernel that is not in the list has no such estimate:
then the time so far is shown.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from swvp.compile_events import CompileObserver, add_observer, remove_observer

__all__ = ["CompileProgress", "Estimate", "expect_kernels", "kernel_times", "show_in", "watch_compiler"]

TERMINAL_SECONDS = 0.5
"""How long compiling takes before a terminal shows it, and how often the line changes."""
LOG_SECONDS, LATER_LOG_SECONDS = 2.0, 10.0
"""How long compiling takes before a log gets a line, and then between lines."""


class Estimate(CompileObserver):
    """Kernels compiled so far, kernels and seconds to come."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.expected: list[tuple[str, float]] | None = None
        self.running: list[tuple[str, float | None]] = []  # with expected seconds; the last one is being compiled
        self.finished = 0
        self.seconds = 0.0  # of finished kernels
        self.compared = [0.0, 0.0]  # seconds of finished kernels that have expected ones: as measured, as expected
        self.started = 0.0

    def expect(self, kernels: list[tuple[str, float]]) -> None:
        """Set the kernels that will be loaded or compiled, with seconds, in this order."""
        self.expected = list(kernels)

    def on_load(self, kernel: str) -> None:
        self._take(kernel)

    def on_start(self, kernel: str) -> None:
        if not self.running:
            self.started = self.clock()
        self.running.append((kernel, self._take(kernel)))

    def on_end(self, kernel: str) -> None:
        while self.running:  # those above it have failed
            name, expected = self.running.pop()
            if name == kernel:
                break
        else:
            return
        self.finished += 1
        if not self.running:
            seconds = self.clock() - self.started
            self.seconds += seconds
            if expected is not None:
                self.compared[0] += seconds
                self.compared[1] += expected

    def _take(self, kernel: str) -> float | None:
        """Remove a kernel from those to come; return its expected seconds."""
        for place, (name, seconds) in enumerate(self.expected or ()):
            if name == kernel:
                del (self.expected or [])[place]
                return seconds
        return None

    @property
    def so_far(self) -> float:
        """Seconds of compiling until now."""
        return self.seconds + (self.clock() - self.started if self.running else 0.0)

    @property
    def left(self) -> float | None:
        """Seconds of compiling to come; None if they are unknown."""
        if self.expected is None or any(seconds is None for _, seconds in self.running):
            return None
        measured, listed = self.compared
        ratio = measured / listed if listed >= 1.0 else 1.0
        now = ratio * sum(seconds or 0.0 for _, seconds in self.running)
        if self.running:
            now -= self.clock() - self.started
        return max(now, 0.0) + ratio * sum(seconds for _, seconds in self.expected)

    def __str__(self) -> str:
        left = self.left
        if left is not None and left >= 1.0:
            return f"compiling (only the first time): about {left:.0f} s left"
        return f"compiling (only the first time): {self.so_far:.0f} s so far"


class CompileProgress(CompileObserver):
    """Shows the estimate on a stream, in a thread of its own, because a kernel may take a minute."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic):
        self.stream = stream
        self.terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.estimate = Estimate(clock)
        self.show: Callable[[str], None] = self._show_line  # in a terminal; an empty text erases the line
        self.next_line = TERMINAL_SECONDS if self.terminal else LOG_SECONDS
        self.lock = threading.Lock()
        self.compiling = threading.Event()
        self.thread: threading.Thread | None = None
        self.closed = False

    def on_load(self, kernel: str) -> None:
        with self.lock:
            self.estimate.on_load(kernel)

    def on_start(self, kernel: str) -> None:
        with self.lock:
            self.estimate.on_start(kernel)
        self.compiling.set()
        self.tick()
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="compile progress", daemon=True)
            self.thread.start()

    def on_end(self, kernel: str) -> None:
        with self.lock:
            self.estimate.on_end(kernel)
            if not self.estimate.running:
                self.compiling.clear()
                if self.terminal:
                    self.show("")

    def close(self) -> None:
        """Erase the line and show nothing more, also if compiling failed or was interrupted."""
        with self.lock:
            if self.terminal and self.estimate.running:
                self.show("")
            self.closed = True
        self.compiling.set()  # the thread ends

    def tick(self) -> None:
        """Show the estimate if it is time to do so."""
        with self.lock:
            if self.closed or not self.estimate.running or self.estimate.so_far < self.next_line:
                return
            if self.terminal:
                self.show(str(self.estimate))
            else:
                self.next_line = self.estimate.so_far + LATER_LOG_SECONDS
                print(self.estimate, file=self.stream, flush=True)

    def _run(self) -> None:
        while not self.closed:
            self.compiling.wait()
            time.sleep(TERMINAL_SECONDS)
            self.tick()

    def _show_line(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        self.stream.write(f"\r\x1b[K{text[:width]}")
        self.stream.flush()


active: list[CompileProgress] = []


@contextlib.contextmanager
def watch_compiler() -> Iterator[None]:
    """Show on standard error what is compiled."""
    progress = CompileProgress(sys.stderr)
    add_observer(progress)
    active.append(progress)
    try:
        yield
    finally:
        active.remove(progress)
        remove_observer(progress)
        progress.close()


@functools.cache
def kernel_times() -> dict[str, list[tuple[str, float]]]:
    """The kernels of each command in the order in which they are compiled, with CPU seconds."""
    listed = json.loads(Path(__file__).with_name("kernel_times.json").read_text(encoding="utf-8"))
    return {command: [(name, seconds) for name, seconds in kernels] for command, kernels in listed.items()}


def expect_kernels(*commands: str) -> None:
    """Say which commands will run in this process, for the number of kernels and the time left."""
    known = [kernels for command, kernels in kernel_times().items() if command in commands]
    if known:
        for progress in active:
            progress.estimate.expect(union(known))


def union(lists: Sequence[Sequence[tuple[str, float]]]) -> list[tuple[str, float]]:
    """All kernels of several lists; a process compiles or loads each only once.

    >>> union([[("scan", 1.0), ("sweep", 9.0)], [("scan", 1.0), ("learn", 3.0)]])
    [('scan', 1.0), ('sweep', 9.0), ('learn', 3.0)]
    """
    joined: list[tuple[str, float]] = []
    for kernels in lists:
        rest = list(joined)
        for kernel in kernels:
            if kernel in rest:  # with the same seconds: the same kernel with the same types
                rest.remove(kernel)
            else:
                joined.append(kernel)
    return joined


def show_in(show: Callable[[str], None] | None) -> None:
    """Show the line in a progress bar that has the terminal for itself; None: on a line of its own again."""
    for progress in active:
        with progress.lock:
            progress.show = progress._show_line if show is None else show
