"""Counts and times of requests, in the text format of Prometheus."""

from __future__ import annotations

import bisect
import time
from collections import Counter
from collections.abc import Iterator, Mapping

from swvp._version import __version__

__all__ = ["Metrics"]

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper bounds of the histogram of times, in seconds."""


class Metrics:
    """What was counted since the server began; only the event loop changes it."""

    def __init__(self) -> None:
        self.started = time.time()
        self.requests: Counter[tuple[str, int]] = Counter()
        self.seconds: Counter[str] = Counter()
        self.buckets: dict[str, list[int]] = {}
        self.answer_bytes = 0
        self.under_way = 0
        self.reloads: Counter[str] = Counter()

    def count(self, route: str, status: int, seconds: float, size: int) -> None:
        """Count a request that was answered; `route` is one of few names, never the path that a client sent."""
        self.requests[route, status] += 1
        self.seconds[route] += seconds  # type: ignore[assignment]
        self.answer_bytes += size
        buckets = self.buckets.setdefault(route, [0] * (len(BOUNDS) + 1))
        buckets[bisect.bisect_left(BOUNDS, seconds)] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all values; `gauges` are those of now, by their names."""
        return "".join(f"{line}\n" for line in self._lines(gauges))

    def _lines(self, gauges: Mapping[str, float]) -> Iterator[str]:
        yield "# HELP swvp_info The version of swvp."
        yield "# TYPE swvp_info gauge"
        yield f'swvp_info{{version="{__version__}"}} 1'
        yield "# HELP swvp_requests_total Requests that were answered."
        yield "# TYPE swvp_requests_total counter"
        for (route, status), number in sorted(self.requests.items()):
            yield f'swvp_requests_total{{route="{route}",status="{status}"}} {number}'
        yield "# HELP swvp_request_seconds The time from the head of a request to the end of its answer."
        yield "# TYPE swvp_request_seconds histogram"
        for route, buckets in sorted(self.buckets.items()):
            total = 0
            for bound, number in zip((*BOUNDS, "+Inf"), buckets, strict=True):
                total += number
                yield f'swvp_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'swvp_request_seconds_sum{{route="{route}"}} {self.seconds[route]:.6f}'
            yield f'swvp_request_seconds_count{{route="{route}"}} {total}'
        yield "# HELP swvp_answer_bytes_total The bytes of all answers."
        yield "# TYPE swvp_answer_bytes_total counter"
        yield f"swvp_answer_bytes_total {self.answer_bytes}"
        yield "# HELP swvp_reloads_total Models that were loaded again, and those that could not be."
        yield "# TYPE swvp_reloads_total counter"
        for result in ("done", "failed"):
            yield f'swvp_reloads_total{{result="{result}"}} {self.reloads[result]}'
        now = {"swvp_start_time_seconds": self.started, "swvp_requests_under_way": self.under_way, **gauges}
        for name, value in now.items():
            yield f"# TYPE {name} gauge"
            yield f"{name} {value:g}" if value < 1e6 else f"{name} {value:.0f}"
