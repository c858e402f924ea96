"""What runs tasks: the interface, and threads of this process, for commands without a cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar

from swvp.errors import InputError

__all__ = ["AHEAD", "RETRIES", "Item", "Name", "Result", "Threads", "Workers"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Name = Callable[[Any], str]
"""Returns the name of an item for messages."""

RETRIES = 2
"""How often a task is submitted again after Dask gave it up, which it does after it was lost with four workers."""

AHEAD = 2
"""Tasks per thread of the cluster that are submitted before their turn; twice as many for results in order."""


class Workers(Protocol):
    """What runs tasks: `Cluster` or `Threads`."""

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        in_order: bool = True,
        retries: int = RETRIES,
        name: Name = str,
    ) -> Generator[tuple[int, Result], None, None]: ...

    @property
    def slots(self) -> int: ...

    @property
    def addresses(self) -> list[str]: ...

    def __enter__(self) -> Workers: ...

    def __exit__(self, *error: Any) -> None: ...


class Threads:
    """Threads of this process, with the interface of a cluster. Kernels release the GIL.

    Parameters
    ----------
    jobs : int
        The number of threads.

    Raises
    ------
    InputError
        If there would be no thread.
    """

    def __init__(self, jobs: int = 1):
        if jobs < 1:
            raise InputError(f"jobs must be at least 1, not {jobs}")
        self.slots = jobs
        self.addresses: list[str] = []

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

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

        Parameters
        ----------
        function : callable
            Is called with each item.
        items : iterable
            They are taken as threads get free.
        in_order : bool
            Yield the results in the order of the items; else as they come.
        retries : int
            Ignored: threads do not get lost.
        name : callable
            Ignored.

        Yields
        ------
        (int, object)
            The number of an item, from 0, and its result.
        """
        numbered = enumerate(items)
        if self.slots == 1:
            for number, item in numbered:
                yield number, function(item)
            return
        pending: dict[Future[Result], int] = {}
        with ThreadPoolExecutor(self.slots) as pool:
            try:
                while True:
                    for number, item in itertools.islice(numbered, AHEAD * self.slots - len(pending)):
                        pending[pool.submit(function, item)] = number
                    if not pending:
                        return
                    future = next(iter(pending if in_order else wait(pending, return_when=FIRST_COMPLETED).done))
                    result = future.result()
                    yield pending.pop(future), result
                    del future, result
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
