"""Worker processes of this machine: starting them, and ending them at once."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

__all__ = ["LOCAL_SETTINGS", "end_workers", "replace_lost", "start_workers"]

LOCAL_SETTINGS = {
    # Dask watches itself many times a second, which takes 3 % of a core in each process
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    # without what Dask sets for malloc, by which every large array gets new pages: 1 CPU second in 15
    "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1},
    # Dask gives up a process that has not come back after 15 s: on a busy machine it takes longer
    "distributed.deploy.lost-worker-timeout": "60s",
}
"""Settings of Dask for as long as worker processes of this machine run."""


def start_workers(workers: int) -> Any:
    """Start Dask's LocalCluster with this number of processes, of one thread each.

    They talk through TLS with certificates that are made for them, because other users of the machine could connect.
    `LOCAL_SETTINGS` must be set, and stay so.
    """
    from distributed import LocalCluster, Security

    with interrupts_held():
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",  # also without bokeh: else metrics are served to everybody
            protocol="tls://",
            security=Security.temporary(),
            silence_logs=logging.CRITICAL,
        )


def replace_lost(local: Any, workers: int) -> None:
    """Start new processes for those that Dask has given up, until there are `workers` of them."""
    local.scale(workers)


def end_workers(local: Any) -> None:
    """End the worker processes at once: Dask would wait for their running tasks, which nobody wants."""
    for nanny in local.workers.values():
        nanny.auto_restart = False
        if nanny.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(nanny.pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends; threads and processes that start in it never receive it.

    A terminal sends Ctrl-C to all processes of a command, but only the leader shall act on it.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # when it starts, it lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
