"""What one client may ask for: sizes, time, and a bounded number of pieces of work at once.

Work runs in a few threads, outside the event loop, so that requests are accepted while models compute. What cannot be
begun soon is refused at once: a queue that grows would only make everybody wait.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from swvp.errors import one_line

__all__ = ["Deadline", "HTTPError", "Limits", "Workers", "too_large"]


class HTTPError(Exception):
    """An error answer to a request: its status, and a message of one line."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None):
        super().__init__(one_line(message))
        self.status, self.headers = status, headers or {}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a request.

    Parameters
    ----------
    bytes : int
        Of its body.
    words_per_sentence, words, texts : int
        Of what is analysed.
    k : int
        The number of best analyses.
    ranked_words : int
        The longest sentence of which the k best analyses, or explanations, are computed: they need many searches.
    seconds : float
        The time for its work, with the time that it waits for a thread.
    body_seconds : float
        The time in which its body must arrive.
    bytes_in_all : int
        Of the bodies of all requests under way.
    """

    bytes: int = 4 * 2**20
    words_per_sentence: int = 1000
    words: int = 50_000
    texts: int = 100
    k: int = 10
    ranked_words: int = 100
    seconds: float = 30.0
    body_seconds: float = 10.0
    bytes_in_all: int = 256 * 2**20

    def shown(self) -> dict[str, float]:
        """Return the limits for clients."""
        return asdict(self)


def too_large(what: str, size: int, most: int) -> HTTPError:
    """Return the error for something of which there is too much."""
    return HTTPError(413, f"{what}: {size:,}, at most {most:,} are allowed; send less at once")


class Deadline:
    """The time limit of a request, which long work checks from time to time."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.end = time.monotonic() + seconds

    def passed(self) -> bool:
        """Whether there is no time left."""
        return time.monotonic() > self.end

    def check(self) -> None:
        """Raise HTTPError if there is no time left."""
        if self.passed():
            raise out_of_time(self.seconds)


def out_of_time(seconds: float) -> HTTPError:
    return HTTPError(503, f"the work was not done within {seconds:g} seconds; send less at once", {"Retry-After": "1"})


class Workers:
    """Threads that do the work of requests, and a short queue before them.

    Parameters
    ----------
    threads : int
    waiting : int
        How many pieces of work may wait for a thread.
    seconds : float
        The time for a piece of work, with the time that it waits.
    """

    def __init__(self, threads: int, waiting: int, seconds: float):
        self.threads, self.waiting, self.seconds = threads, waiting, seconds
        self.busy = 0
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="swvp-work")

    async def run(self, work: Callable[[Deadline], Any]) -> Any:
        """Return what `work` returns; raise HTTPError if there is too much work, or the time is over."""
        if self.busy >= self.threads + self.waiting:
            raise HTTPError(429, "too much work at the moment; try again", {"Retry-After": "1"})
        with self._lock:
            self.busy += 1
        future = self._pool.submit(work, Deadline(self.seconds))
        future.add_done_callback(self._released)
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:  # work that waits for a thread is cancelled; else it soon asks for its deadline
            raise out_of_time(self.seconds) from None

    def _released(self, _: Future[Any]) -> None:
        with self._lock:
            self.busy -= 1

    def close(self) -> None:
        """Begin no more work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
