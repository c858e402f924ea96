"""The connection to a cluster: an existing Dask scheduler or workers on this machine, and a bounded map over recipes.

    with open_workers(address="tcp://10.0.0.1:8786", tell=print) as workers:
        for number, result in workers.map(function, recipes):
            ...

`Cluster` runs the tasks on Dask's workers, `Threads` has the same interface and runs them in this process. A task is a
function of a module with a recipe (see `task.py`). What a task writes and what it returns must not depend on where it
runs or how often: the task of a killed worker is run again.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import logging
import queue
import time
import uuid
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from swvp.cluster import task
from swvp.cluster.checks import cause, check_workers, other_version, wait_for_file
from swvp.cluster.local import LOCAL_SETTINGS, end_workers, replace_lost, start_workers
from swvp.cluster.threads import AHEAD, RETRIES, Item, Name, Result, Threads, Workers
from swvp.errors import InputError

__all__ = ["Cluster", "Threads", "Workers", "open_workers"]

Tell = Callable[[str], object]
CONNECT_SECONDS = 20.0
POLL_SECONDS = 1.0
RESULT_SECONDS = 5.0
"""After waiting this long for a result, check whether its task is still finished, or lost its worker."""
LOCAL_SECONDS = 180.0
"""Worker processes of this machine start again in this time, or never."""
SLOTS_SECONDS = 5.0
"""The number of workers is asked for again after so many seconds."""
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1TB"}
"""Settings of Dask while the cluster is open: weights are large, and users cannot change that."""


def open_workers(
    address: str | None = None,
    workers: int | None = None,
    *,
    jobs: int = 1,
    tls_ca: str | Path | None = None,
    tls_cert: str | Path | None = None,
    tls_key: str | Path | None = None,
    tell: Tell = lambda message: None,
) -> Workers:
    """Return the cluster at an address, `workers` processes of this machine, or else `jobs` threads of this process."""
    if address is None and workers is None:
        return Threads(jobs)
    return Cluster(address, workers=workers, tls_ca=tls_ca, tls_cert=tls_cert, tls_key=tls_key, tell=tell)


class Submitted(NamedTuple):
    """A task that was submitted: the number of its item, the item, how often it was given up before, its worker."""

    number: int
    item: Any
    tries: int
    future: Any
    preferred: str | None


class Cluster:
    """A connection to Dask, open while the `with` block runs.

    Parameters
    ----------
    address : str, optional
        The address of a scheduler, as tcp://10.0.0.1:8786 or tls://…, or the path of a scheduler file (.json).
    workers : int, optional
        Without an address: start this many worker processes on this machine, with one thread each. They talk through
        TLS with certificates made for them, because other users of the machine could connect to them.
    tls_ca, tls_cert, tls_key : path, optional
        Files for a scheduler with TLS. What is not given is taken from Dask's configuration.
    tell : callable, optional
        Called with messages for the user, such as the scheduler's address.

    Raises
    ------
    InputError
        If Dask is not installed, the scheduler cannot be reached, or a worker has another version of swvp.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int | None = None,
        tls_ca: str | Path | None = None,
        tls_cert: str | Path | None = None,
        tls_key: str | Path | None = None,
        tell: Tell = lambda message: None,
    ):
        if (address is None) == (workers is None):
            raise InputError("give either the address of a cluster or a number of workers")
        if workers is not None and workers < 1:
            raise InputError(f"workers must be at least 1, not {workers}")
        tls = {"tls_ca_file": tls_ca, "tls_client_cert": tls_cert, "tls_client_key": tls_key}
        self.tls = {name: str(path) for name, path in tls.items() if path is not None}
        if self.tls and workers is not None:
            raise InputError("TLS files are for an existing cluster: workers on this machine get their own")
        for path in self.tls.values():
            if not Path(path).is_file():
                raise InputError(f"cannot read {path}: no such file")
        if importlib.util.find_spec("distributed") is None:
            raise InputError("clusters need Dask: pip install 'swvp[cluster]'")
        self.address, self.workers, self.tell = address, workers, tell
        self.client: Any = None
        self._local: Any = None
        self._alone_since = 0.0  # when the last worker went, by the clock; 0 while there are any
        self._slots, self._slots_at = 1, 0.0
        self._log_level = logging.WARNING
        self._settings = contextlib.ExitStack()

    # ------------------------------------------------------------ opening and closing

    def __enter__(self) -> Cluster:
        logger = logging.getLogger("distributed")
        self._log_level = logger.level
        logger.setLevel(logging.CRITICAL)  # what users must know is told in one line, without tracebacks
        try:
            self._connect()
            self._wait_for_workers()
            self._check_workers()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def _connect(self) -> None:
        import dask
        from distributed import Client, Security

        self._settings.enter_context(dask.config.set(SETTINGS))
        try:
            if self.workers is not None:
                self._settings.enter_context(dask.config.set(LOCAL_SETTINGS))
                self._local = start_workers(self.workers)
                where: dict[str, Any] = {"address": self._local.scheduler_address, "security": self._local.security}
            else:
                where = {"address": self.address}
                if str(self.address).endswith(".json"):
                    where = {"scheduler_file": self.address}
                    wait_for_file(Path(str(self.address)), CONNECT_SECONDS)
                if self.tls:
                    where["security"] = Security(**self.tls, require_encryption=True)
            self.client = Client(**where, timeout=CONNECT_SECONDS, set_as_default=False, name="swvp")
        except ImportError as error:
            raise InputError(f"clusters need Dask with TLS ({error}): pip install 'swvp[cluster]'") from None
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"cannot connect to the cluster at {self.address}: {cause(error)}") from None
        self.address = self.client.scheduler.address
        dashboard = self.client.dashboard_link if self._has_dashboard() else None
        self.tell(f"scheduler: {self.address}" + (f"; dashboard: {dashboard}" if dashboard else ""))

    def _has_dashboard(self) -> bool:
        if self._local is not None:
            return importlib.util.find_spec("bokeh") is not None
        return "dashboard" in self.client.scheduler_info().get("services", {})

    def _wait_for_workers(self) -> None:
        if not self._threads():
            self.tell(f"the cluster at {self.address} has no workers yet: waiting for the first")
            while not self._threads():
                time.sleep(POLL_SECONDS)

    def _check_workers(self) -> None:
        try:
            check_workers(self.client)
        except OSError:
            raise self._gone() from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is not None and self._local is not None:
                end_workers(self._local)
            for part in (self.client, self._local):
                if part is not None:
                    with contextlib.suppress(OSError, TimeoutError, RuntimeError):
                        part.close(timeout=5 if kind is None else 2)
        finally:
            self.client = self._local = None
            self._settings.close()
            logging.getLogger("distributed").setLevel(self._log_level)

    # ------------------------------------------------------------ the map

    @property
    def slots(self) -> int:
        """The number of tasks that the cluster runs at once, at least 1; asked for every few seconds."""
        if time.monotonic() - self._slots_at > SLOTS_SECONDS:
            threads = self._threads()
            self._slots, self._slots_at = max(1, sum(threads.values())), time.monotonic()
            if self._local is not None and self.workers is not None and len(threads) < self.workers:
                replace_lost(self._local, self.workers)
        return self._slots

    @property
    def addresses(self) -> list[str]:
        """The addresses of the workers, in a fixed order."""
        return sorted(self._threads())

    def _threads(self) -> dict[str, int]:
        try:
            return dict(self.client.nthreads())
        except (OSError, AttributeError):
            raise self._gone() from None

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        in_order: bool = True,
        retries: int = RETRIES,
        name: Name = str,
    ) -> Generator[tuple[int, Result], None, None]:
        """Yield the number of each item and the function's result for it.

        Items are taken from their iterator as the cluster gets free: there is only ever a bounded number of them and of
        results. Leaving the loop cancels the rest; a task may ask `task.Stop` whether it is cancelled.

        Parameters
        ----------
        function : callable
            A function of a module of swvp, or a `functools.partial` of one.
        items : iterable
            Recipes: small objects that can be pickled. With an attribute `worker`, the address of one, this one runs
            it if it can.
        in_order : bool
            Yield the results in the order of the items; else as they come.
        retries : int
            How often a task is submitted again after Dask has given it up because several workers died with it.
        name : callable
            Returns the name of an item for messages.

        Yields
        ------
        (int, object)
            The number of an item, from 0, and its result.

        Raises
        ------
        InputError
            If a task raised one (or an OSError or MemoryError): its message and the worker; if a worker has another
            version; if a task ends all workers that try it; if the scheduler is gone.
        """
        numbered = enumerate(items)
        tasks: dict[str, Submitted] = {}
        early: dict[int, Result] = {}
        turn = 0
        done: queue.SimpleQueue[str] = queue.SimpleQueue()
        prefix = f"swvp-{getattr(function, '__name__', 'task')}-{uuid.uuid4().hex[:12]}"
        held: Any = None

        def submit(number: int, item: Item, tries: int, *, anywhere: bool = False) -> None:
            nonlocal held
            key = f"{prefix}-{number}-{tries}{'-anywhere' * anywhere}"
            preferred = None if anywhere else getattr(item, "worker", None)
            shares = preferred is not None and self.slots > 1
            if shares and held is None:
                held = self._held(f"{prefix}-function", function)
            future = self._submit(key, held if shares else function, item, preferred)
            tasks[key] = Submitted(number, item, tries, future, preferred)
            future.add_done_callback(lambda _, key=key: done.put(key))

        try:
            while True:
                most = self.slots * AHEAD * (2 if in_order else 1) + 1
                for number, item in itertools.islice(numbered, max(0, most - len(tasks) - len(early))):
                    submit(number, item, 0)
                if not tasks:
                    return
                submitted = tasks.pop(self._wait_for(done) or "", None)
                if submitted is None:  # nothing is done, or only what was taken away from a worker that is gone
                    for key in self._without_worker(tasks):
                        lost = tasks.pop(key)
                        lost.future.cancel(force=True)
                        submit(lost.number, lost.item, lost.tries, anywhere=True)
                    continue
                outcome = self._outcome(submitted, retries, name)
                if outcome is None:
                    submit(submitted.number, submitted.item, submitted.tries + 1)
                elif in_order:
                    early[submitted.number] = outcome.value
                    while turn in early:
                        yield turn, early.pop(turn)
                        turn += 1
                else:
                    yield submitted.number, outcome.value
        finally:
            if tasks:
                with contextlib.suppress(Exception):  # the scheduler may be gone
                    self.client.cancel([submitted.future for submitted in tasks.values()], force=True)

    def _wait_for(self, done: queue.SimpleQueue[str]) -> str | None:
        """Return the key of the next finished task, or None after a while.

        Raises InputError if the scheduler is gone, or if local workers ended and did not come back.
        """
        try:
            key = done.get(timeout=POLL_SECONDS)
            self._alone_since = 0.0
            return key
        except queue.Empty:
            if self.client.status != "running":
                raise self._gone() from None
        if self._threads():
            self._alone_since = 0.0
        elif not self._alone_since:
            self._alone_since = time.monotonic()
            self.tell("no worker is left: waiting for new ones")
        elif self._local is not None and time.monotonic() - self._alone_since > LOCAL_SECONDS:
            raise InputError("the worker processes ended and could not be started again: run the command again")
        return None

    def _without_worker(self, tasks: dict[str, Submitted]) -> list[str]:
        """The keys of tasks that wait for a worker that is gone; if all workers were, Dask lets them wait for ever."""
        if not any(submitted.preferred for submitted in tasks.values()):
            return []
        alive = self._threads()
        return [key for key, submitted in tasks.items() if submitted.preferred and submitted.preferred not in alive]

    def _held(self, key: str, function: Callable[[Any], Any]) -> Any:
        """A function as tasks refer to it; what is bound to it is sent once, and from one worker to the next.

        This is for tasks that say where they run: Dask would put all others where the function is.
        """
        if not isinstance(function, functools.partial):
            return function
        try:
            return self.client.submit(task.same, function, key=key, pure=False)
        except (OSError, RuntimeError):
            raise self._gone() from None

    def _submit(self, key: str, function: Any, item: Any, preferred: str | None) -> Any:
        place = {} if preferred is None else {"workers": [preferred], "allow_other_workers": True}
        try:
            return self.client.submit(task.run, task.expected(), function, item, key=key, pure=False, **place)
        except (OSError, RuntimeError):
            raise self._gone() from None

    def _outcome(self, submitted: Submitted, retries: int, name: Name) -> task.Outcome | None:
        """The outcome of a finished task; None if it was lost with its workers and should be tried again.

        If a worker ends while it hands over a result, Dask waits for the result, perhaps for ever.
        """
        from distributed import KilledWorker

        future = submitted.future
        if future.status == "lost" and self.client.status == "running":
            return None
        if future.status in ("cancelled", "lost"):
            raise self._gone()
        outcome: task.Outcome | None = None
        wait = RESULT_SECONDS
        try:
            while outcome is None:
                try:
                    outcome = future.result(timeout=wait)
                except TimeoutError:
                    if future.status != "finished":
                        return None
                    wait *= 2  # a large result in a slow network
        except KilledWorker as error:
            if submitted.tries < retries:
                return None
            raise InputError(
                f"{name(submitted.item)}: every worker that tried it died, the last at {error.last_worker.address}: "
                "look into the worker's log (not enough memory?)"
            ) from None
        except ModuleNotFoundError as error:
            ours = task.identity()
            raise InputError(
                f"{name(submitted.item)}: a worker lacks a module ({error}): install {ours} there"
            ) from None
        except BaseException as error:
            if type(error).__name__ in ("CancelledError", "FutureCancelledError", "CommClosedError"):
                raise self._gone() from None
            raise
        finally:
            future.release()
        if outcome.is_version:
            raise other_version(outcome.worker, outcome.problem or "")
        if outcome.problem is not None:
            raise InputError(f"{outcome.problem} (on worker {outcome.worker})")
        return outcome

    def _gone(self) -> InputError:
        return InputError(
            f"the scheduler at {self.address} is gone: finished work is kept; start it and run the same command again"
        )
