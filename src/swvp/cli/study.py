"""Owns the studies as commands run them: what to run, to render and to show; a user's code loaded first."""

from __future__ import annotations

import hashlib
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from swvp.cli.streams import tell
from swvp.cli.watch import run_watched
from swvp.errors import InputError
from swvp.io.files import is_special

if TYPE_CHECKING:
    from swvp.studies.parsing import study as parsing
    from swvp.studies.parsing.summary import OrderSummary
    from swvp.studies.synthetic import study as synthetic

__all__ = ["cores", "load_python", "run_parsing", "run_synthetic"]


def run_synthetic(settings: synthetic.Settings, folder: Path, *, jobs: int | None, fresh: bool) -> None:
    """The synthetic study in `folder`."""
    from swvp.studies.synthetic import study as synthetic
    from swvp.studies.synthetic.summary import summarise
    from swvp.studies.synthetic.terminal import print_tables

    def render(results: dict[str, Any]) -> str:
        from swvp.studies.synthetic.page import render

        return render(results)

    def show(console: Console, results: dict[str, Any]) -> None:
        print_tables(console, summarise(results))

    run_watched(synthetic, settings, folder, jobs=threads(jobs), fresh=fresh, render=render, show=show)


def run_parsing(settings: parsing.Settings, folder: Path, *, jobs: int | None, fresh: bool) -> None:
    """The parsing study in `folder`."""
    from swvp.studies.parsing import study as parsing

    sampled = [source.name for source in settings.treebanks if settings.samples(source)]
    if sampled and not settings.sample_dev:
        tell(f"no development file for {', '.join(sampled)}: training sentences are held out")
    summaries: list[OrderSummary] = []

    def render(results: dict[str, Any]) -> str:
        from swvp.studies.parsing.page import render
        from swvp.studies.parsing.summary import summarise

        summaries.extend(summarise(results))
        return render(results, summaries)

    def show(console: Console, results: dict[str, Any]) -> None:
        from swvp.studies.parsing.terminal import print_parsing

        print_parsing(console, results, summaries)

    run_watched(parsing, settings, folder, jobs=threads(jobs), fresh=fresh, render=render, show=show)


def load_python(path: Path) -> str:
    """Run a user's file, which may call swvp.register_gamma and swvp.register_substructures; return its digest."""
    if is_special(path):
        raise InputError(f"cannot load {path}: a pipe or a device; it must be a file")
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot load {path}: {error.strerror or error}") from None
    sys.path.insert(0, str(path.parent.resolve()))  # as `python FILE` does: it may import its neighbours
    try:
        runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise InputError(f"cannot load {path}{failed_line(path, error)}: {described(error)}") from None
    return hashlib.sha256(source).hexdigest()


def failed_line(path: Path, error: BaseException) -> str:
    """The line of a user's file where an error comes from, if it is known."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return "" if line is None else f", line {line}"


def described(error: BaseException) -> str:
    """An error of a user's code; it may even fail to say what it is."""
    try:
        return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads(jobs: int | None) -> int:
    return cores() if jobs is None else jobs
