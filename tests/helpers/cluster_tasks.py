"""Tasks for tests of clusters, which workers import."""

import errno
import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from swvp.cluster import task
from swvp.errors import InputError


def square(number):
    return number * number


class Placed(NamedTuple):
    """An item that says which worker should run it."""

    number: int
    worker: str


def length_with(content, placed):
    """The sum of a length and a number, and the worker."""
    return len(content) + placed.number, task.address()


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


fsync = os.fsync


def fill_disk():
    """Let this process write no more files, as on a full disk."""

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    os.fsync = full


def free_disk():
    os.fsync = fsync
