"""What is checked when a cluster is opened: the scheduler's file, and the versions of its workers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from swvp.cluster import task
from swvp.errors import InputError

__all__ = ["cause", "check_workers", "other_version", "wait_for_file"]


def check_workers(client: Any) -> None:
    """Raise InputError if a worker has another version of Python or swvp, or another state of its kernels."""
    versions = client.get_versions(packages=["swvp"])
    ours = versions["client"]
    for worker, theirs in versions["workers"].items():
        if not theirs:
            continue  # it has just ended
        python = theirs["host"]["python"]
        if python.split(".")[:2] != ours["host"]["python"].split(".")[:2]:
            raise InputError(f"worker {worker} has Python {python}, but here is {ours['host']['python']}")
        if theirs["packages"].get("swvp") is None:
            raise InputError(f"worker {worker} has no swvp: install {task.identity()} there")
        if theirs["packages"]["swvp"] != ours["packages"]["swvp"]:
            raise other_version(worker, f"swvp {theirs['packages']['swvp']}")
    for worker, identity in client.run(task.identity, on_error="return").items():
        if isinstance(identity, ImportError | AttributeError):
            raise other_version(worker, f"another state of swvp ({identity})")
        if isinstance(identity, str) and identity != task.expected().identity:
            raise other_version(worker, identity)


def wait_for_file(path: Path, seconds: float) -> None:
    """Wait for the file of a scheduler that is starting; raise InputError if it does not come."""
    until = time.monotonic() + seconds
    while not path.is_file():
        if time.monotonic() > until:
            raise InputError(f"cannot read {path}: no such scheduler file")
        time.sleep(0.1)


def other_version(worker: str, identity: str) -> InputError:
    """The error for a worker with another version."""
    return InputError(
        f"worker {worker} has {identity}, but here is {task.expected().identity}: install the same version there"
    )


def cause(error: BaseException) -> str:
    """The innermost message of an error of Dask, which wraps those of the system."""
    while error.__cause__ is not None and str(error.__cause__):
        error = error.__cause__
    return str(error) or type(error).__name__
