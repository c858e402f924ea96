"""Events of the compiler: which kernels come from the cache, which are compiled, and when.

The library never prints. `swvp.cache` reports here; a program that wants to show progress adds an observer, as the
command line does. This module imports nothing, so that it costs nothing where nothing is compiled.
"""

from __future__ import annotations

__all__ = ["CompileObserver", "add_observer", "remove_observer", "report_end", "report_load", "report_start"]


class CompileObserver:
    """Receives the events of the compiler; a subclass overrides those it needs, the others do nothing.

    Events come one at a time, in the thread that needs the kernel, while Numba holds the lock of its compiler. A
    kernel is named by its module and function, without "swvp.": "io.scan.scan". It has one event for each combination
    of argument types.
    """

    def on_load(self, kernel: str) -> None:
        """Machine code of a kernel was found in the cache."""

    def on_start(self, kernel: str) -> None:
        """A kernel is not in the cache; it will be compiled now. A kernel that calls itself may start another."""

    def on_end(self, kernel: str) -> None:
        """A kernel is compiled. There is no such event if compiling failed."""


observers: list[CompileObserver] = []


def add_observer(observer: CompileObserver) -> None:
    """Report all later events to an observer, in all threads."""
    observers.append(observer)


def remove_observer(observer: CompileObserver) -> None:
    """Report no later events to an observer; nothing happens if it was not added."""
    if observer in observers:
        observers.remove(observer)


def report_load(kernel: str) -> None:
    for observer in tuple(observers):
        observer.on_load(kernel)


def report_start(kernel: str) -> None:
    for observer in tuple(observers):
        observer.on_start(kernel)


def report_end(kernel: str) -> None:
    for observer in tuple(observers):
        observer.on_end(kernel)
