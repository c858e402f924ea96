"""A task on a worker: the check of the worker's version, errors for users, data that a worker keeps, cancellation.

A task is a *recipe*: a function of a module, called with paths and options. A worker builds the data that the recipe
names and keeps it for its later tasks; data is never sent to it, because data that is sent is lost with its worker.
"""

from __future__ import annotations

import functools
import os
import socket
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from swvp._version import __version__
from swvp.compiled import fingerprint
from swvp.errors import InputError
from swvp.user_code import UserFile, load_again, loaded_files

__all__ = [
    "Expected",
    "Outcome",
    "Stop",
    "address",
    "expected",
    "identity",
    "kept",
    "local_folder",
    "run",
    "same",
    "worker_name",
]

Value = TypeVar("Value")


class Outcome(NamedTuple):
    """What a task returns: its value or, for an error that users can mend, the message of it and the worker's name.

    Parameters
    ----------
    value : object
        What the function returned.
    problem : str or None
        The message of an InputError, or of an OSError or MemoryError.
    worker : str
        The name of the worker.
    is_version : bool
        The worker has another version of swvp; the function was not called.
    """

    value: Any
    problem: str | None
    worker: str
    is_version: bool = False


@functools.cache
def identity() -> str:
    """The version of swvp in this process and a digest of its kernels: equal ones give equal bytes."""
    return f"swvp {__version__} (kernels {fingerprint()[:12]})"


class Expected(NamedTuple):
    """What a worker must be like: the identity of its code, and the files of the user that it must have loaded."""

    identity: str
    files: tuple[UserFile, ...]


def expected() -> Expected:
    """Return what workers must be like to give the results of this process."""
    return Expected(identity(), loaded_files())


def run(expected: Expected, function: Callable[[Any], Any], item: Any) -> Outcome:
    """Call a function on a worker; errors that users can mend are returned, so that the worker can be named."""
    if identity() != expected.identity:
        return Outcome(None, identity(), worker_name(), is_version=True)
    try:
        load_again(expected.files)
        return Outcome(function(item), None, worker_name())
    except InputError as error:
        problem = str(error)
    except OSError as error:
        problem = f"{error.filename or 'error'}: {error.strerror or error}"
    except MemoryError as error:
        problem = f"not enough memory: {' '.join(str(error).split()) or 'give less data'}"
    return Outcome(None, problem, worker_name())


def same(value: Value) -> Value:
    """Return a value: the task whose result all tasks of a map share."""
    return value


def worker_name() -> str:
    """The address of the worker that runs this task, and its host; the process if there is no worker."""
    here = f"process {os.getpid()} on {socket.gethostname()}"
    try:
        from distributed import get_worker

        return f"{get_worker().address} ({here})"
    except (ImportError, ValueError):
        return here


def address() -> str | None:
    """The address of the worker that runs this task; None if there is no cluster."""
    worker = this_worker()
    return None if worker is None else str(worker.address)


def local_folder() -> str | None:
    """The folder of the worker that runs this task, on its own disk, which it removes when it ends."""
    worker = this_worker()
    return None if worker is None else str(worker.local_directory)


def this_worker() -> Any:
    """The worker of Dask that runs this task, or None."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


class Stop:
    """Whether the task of this thread is not wanted any more; has the method of `threading.Event` that asks.

    Dask does not interrupt a running task. A long task asks between its epochs.
    """

    def __init__(self) -> None:
        try:
            from distributed import get_worker

            self.worker: Any = get_worker()
            self.key: Any = self.worker.get_current_task()
        except (ImportError, ValueError, KeyError):
            self.worker = None

    def is_set(self) -> bool:
        """True after the leader has cancelled the task, or is gone."""
        if self.worker is None:
            return False
        try:
            task = self.worker.state.tasks.get(self.key)  # WorkerState is described in Dask's documentation
        except AttributeError:  # another version of Dask: the task runs to its end
            return False
        return task is None or task.state in ("cancelled", "released", "forgotten")


# ---------------------------------------------------------------- what a worker keeps

MOST_KEPT = 8
lock = threading.Lock()
values: OrderedDict[Hashable, _Slot] = OrderedDict()


class _Slot:
    """A value and the lock of the thread that builds it."""

    def __init__(self) -> None:
        self.lock, self.is_built, self.value = threading.Lock(), False, None


def kept(key: Hashable, build: Callable[[], Value]) -> Value:
    """Return the value of a key in this process; it is built by the first task that needs it.

    The process keeps the values that were used last. Their keys must hold all that they depend on: the paths of files
    with their sizes and times, and the options.
    """
    with lock:
        slot = values.setdefault(key, _Slot())
        values.move_to_end(key)
        while len(values) > MOST_KEPT:
            values.popitem(last=False)
    with slot.lock:
        if not slot.is_built:
            slot.value = build()  # type: ignore[assignment]
            slot.is_built = True
    return slot.value  # type: ignore[return-value]
