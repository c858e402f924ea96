"""Tasks for tests of clusters, which workers import."""

import os
import signal
import time
from pathlib import Path

from swvp.cluster import task
from swvp.errors import InputError

__all__ = ["die", "die_once", "length_with", "nap", "refuse", "square", "until_stopped"]


def square(number):
    return number * number


def length_with(content, number):
    return len(content) + number


def nap(number):
    """Return the process after a while, so that all workers get tasks."""
    time.sleep(0.05)
    return os.getpid()


def refuse(path):
    raise InputError(f"{path}:3: no such label")


def read(path):
    return Path(path).read_bytes()


def die_once(given):
    """Kill the worker the first time that the third item is run."""
    number, marker = given
    if number == 2 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(number):
    os.kill(os.getpid(), signal.SIGKILL)


def until_stopped(folder):
    """Run until the leader cancels the task; leave a file."""
    Path(folder, "begun").touch()
    stop = task.Stop()
    for _ in range(1200):
        time.sleep(0.05)
        if stop.is_set():
            Path(folder, "stopped").touch()
            return
