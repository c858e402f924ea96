"""Connections that make no progress are closed, so that slow clients do not take the places of others.

A sweep looks at all connections once a second. A connection has a few seconds to send the head of a request, and to
take what was answered. If there are more connections than the process may open files, the oldest without a request are
closed. (The body of a request has a limit of its own, in `app.py`.)
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

__all__ = ["SlowClients", "most_connections"]

HEAD_SECONDS = 10.0
"""The time for the head of a request, from the connection or the end of the last answer."""

TAKE_SECONDS = 20.0
"""The time in which a client must take some of its answer."""

SWEEP = 1.0
WANTED_FILES, SPARE_FILES = 16_384, 64


@dataclass
class Seen:
    """How far a connection was in the last sweep."""

    cycle: Any
    waiting_since: float
    unsent: int
    unsent_since: float


class SlowClients:
    """Closes connections that send or read too slowly.

    Parameters
    ----------
    connections : set of protocols
        Those of uvicorn, which it changes.
    most : int
        How many there may be.
    """

    def __init__(self, connections: Collection[Any], most: int):
        self.connections, self.most = connections, most
        self._seen: dict[Any, Seen] = {}

    async def watch(self) -> None:
        """Sweep until the task is cancelled."""
        while True:
            await asyncio.sleep(SWEEP)
            self.sweep(time.monotonic())

    def sweep(self, now: float) -> None:
        """Close connections that make no progress; `now` is the time in seconds."""
        known, self._seen = self._seen, {}
        idle: list[tuple[float, Any]] = []
        for protocol in list(self.connections):
            transport, cycle = protocol.transport, protocol.cycle
            unsent = transport.get_write_buffer_size()
            seen = known.get(protocol) or Seen(cycle, now, unsent, now)
            self._seen[protocol] = seen
            if unsent == 0 or unsent != seen.unsent:
                seen.unsent, seen.unsent_since = unsent, now
            if (cycle is not None and not cycle.response_complete) or cycle is not seen.cycle:
                seen.cycle, seen.waiting_since = cycle, now
            else:
                idle.append((seen.waiting_since, protocol))
            if now - seen.unsent_since > TAKE_SECONDS or now - seen.waiting_since > HEAD_SECONDS + TAKE_SECONDS:
                transport.abort()
            elif now - seen.waiting_since > HEAD_SECONDS:
                transport.close()
        excess = len(self._seen) - self.most
        if excess > 0:
            for _, protocol in sorted(idle, key=lambda pair: pair[0])[:excess]:
                protocol.transport.abort()


def most_connections() -> int:
    """Return how many connections this process may have, after raising its limit of open files as far as it may."""
    try:
        import resource
    except ImportError:
        return WANTED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(SPARE_FILES, (WANTED_FILES if soft == resource.RLIM_INFINITY else soft) - SPARE_FILES)
