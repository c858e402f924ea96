"""Trainings as JSON and as a page that plays them: each update of each rule, w, the separating cone, Theorem 1.

docs/reference/training-json.md describes the format. The page is one HTML file; its styles and scripts are the files in
`assets`, which the pages of a server load as they are.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.io.files import write_bytes
from swvp.learning.enumeration import differences
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.theory import margin, radius, separator, update_bound
from swvp.structures.generic import PythonModel, PythonProblem
from swvp.tables import check_count
from swvp.tracing.lessons import Lesson
from swvp.tracing.lessons import lesson as find_lesson
from swvp.tracing.trace import PythonSubject, Trace
from swvp.tracing.update import Update
from swvp.types import Floats

__all__ = ["FORMAT", "export_trace", "player_page", "training_data", "write_player"]

FORMAT, VERSION = "swvp-training", 1


def export_trace(
    path: str | Path | None = None,
    *,
    lesson: str | Lesson = "two-dimensions",
    rules: Sequence[str | UpdateRule] = ("csp", "a-wm"),
    beta: float = 1.0,
    epochs: int = 50,
) -> dict[str, Any]:
    """Train a small problem with each rule, from the same weights, and return all updates as JSON can hold them.

    Parameters
    ----------
    path : str or Path, optional
        A JSON file to write, completely or not at all.
    lesson : str or Lesson
        The problem: a name that `swvp.tracing.lesson` knows, or one of your own.
    rules : sequence of str or UpdateRule
        The rules to compare.
    beta : float
        β of rules that are given by name.
    epochs : int
        The largest number of epochs. Training stops earlier, after an epoch without a mistake.

    Returns
    -------
    dict

    Examples
    --------
    >>> data = export_trace(rules=["csp", "a-wm"])
    >>> [(run["rule"], run["updates_made"], round(run["bound"])) for run in data["runs"]]
    [('csp', 7, 106), ('a-wm', 3, 106)]
    """
    check_count("epochs", epochs, 1)
    chosen = find_lesson(lesson) if isinstance(lesson, str) else lesson
    named = [as_rule(rule, beta=beta) if isinstance(rule, str) else rule for rule in rules]
    separated = separation(chosen)
    data = training_data(
        chosen.title,
        [run_of(rule, *train(chosen, rule, epochs), bound=bound_of(chosen, rule, separated)) for rule in named],
        name=chosen.name,
        separator=separated,
    )
    if path is not None:
        write_bytes(path, (json.dumps(data, ensure_ascii=False) + "\n").encode())
    return data


def training_data(
    title: str, runs: Sequence[dict[str, Any]], *, name: str = "", separator: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What a player of trainings takes."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "title": title,
        "separator": separator,
        "runs": list(runs),
    }


def train(chosen: Lesson, rule: UpdateRule, epochs: int) -> tuple[Trace, list[Update], list[list[float]]]:
    """The updates of a rule in the order of the examples, and w at the beginning and after each of them."""
    problem = PythonProblem(chosen.problem, chosen.X, chosen.y)
    size = len(problem.phi(0, chosen.y[0]))
    model = PythonModel(np.zeros(size) if chosen.initial is None else chosen.initial)
    subject = PythonSubject(problem, model)
    trace = Trace(problem, model, rule, subject, examples=len(chosen.X), epochs=epochs, orders=None)
    weights, updates = [trace.weights().tolist()], []
    for update in trace:
        updates.append(update)
        weights.append(trace.weights().tolist())
    return trace, updates, weights


def run_of(
    rule: UpdateRule,
    trace: Trace,
    updates: Sequence[Update],
    weights: Sequence[Sequence[float]] | None = None,
    *,
    bound: tuple[float | None, str | None] = (None, None),
) -> dict[str, Any]:
    """One training; `bound` is that of Theorem 1, or None and why there is none."""
    return {
        "rule": rule.name,
        "beta": rule.beta if rule.uses_beta else None,
        "converged": bool(trace.history) and trace.history[-1].mistakes == 0,
        "epochs": [epoch.as_dict() for epoch in trace.history],
        "updates_made": sum(update.updated for update in updates),
        "bound": bound[0],
        "no_bound": bound[1],
        "w": None if weights is None else [list(w) for w in weights],
        "updates": [update.to_dict() for update in updates],
    }


def separation(chosen: Lesson) -> dict[str, Any] | None:
    """The separator of the data with its margin and radius and, in two dimensions, the cone of all separators."""
    problem, X, y = chosen.problem, chosen.X, chosen.y
    try:
        u = separator(problem, X, y)
    except InputError:  # not separable, or outputs cannot be listed
        return None
    delta, R = margin(problem, X, y, u), radius(problem, X, y)
    return {"u": u.tolist(), "margin": delta, "radius": R, "cone": cone(chosen, u) if len(u) == 2 else None}


def cone(chosen: Lesson, u: Floats) -> list[float]:
    """The angles, in degrees, between which every w separates the data: w·Δφ > 0 for all wrong labels.

    Each Δφ allows the half-plane of 90° on either side of it.
    """
    points = np.concatenate(differences(chosen.problem, chosen.X, chosen.y, "full"))
    points = points[points.any(axis=1)]
    here = math.degrees(math.atan2(u[1], u[0]))
    angles = (np.degrees(np.arctan2(points[:, 1], points[:, 0])) - here + 180) % 360 - 180
    return [here + float(angles.max()) - 90, here + float(angles.min()) + 90]


def bound_of(chosen: Lesson, rule: UpdateRule, separated: dict[str, Any] | None) -> tuple[float | None, str | None]:
    """Theorem 1's bound of the number of updates, or None and why it does not hold."""
    if separated is None:
        return None, "the data are not separable"
    if chosen.initial is not None:
        return None, "Theorem 1 is about trainings that start from w = 0"
    try:
        u = np.array(separated["u"])
        return update_bound(chosen.problem, chosen.X, chosen.y, u, rule=rule), None
    except InputError as error:
        return None, str(error)


STYLES = ("base.css", "drawings.css", "player.css")
SCRIPTS = ("dom.js", "layout.js", "tree.js", "plane.js", "player.js")
"""In an order in which each uses only those before it."""


def player_page(data: dict[str, Any]) -> str:
    """Return the page for what `export_trace` returns.

    The data are JSON inside the page. Its characters < and > are escaped, so that no text of the data ends the script.
    """
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    parts = {"STYLE": "\n".join(map(asset, STYLES)), "SCRIPT": one_script(map(asset, SCRIPTS)), "DATA": text}
    return re.sub(r"\{(STYLE|SCRIPT|DATA)\}", lambda match: parts[match[1]], asset("player.html"))


def asset(name: str) -> str:
    """Return the text of a file in `assets`."""
    return files("swvp.tracing").joinpath("assets", name).read_text(encoding="utf-8")


def one_script(modules: Iterable[str]) -> str:
    """Return modules as one script, in which they need not import from each other."""
    return re.sub(r"^import .*\n|^export (?=\w)", "", "\n".join(modules), flags=re.MULTILINE)


def write_player(path: str | Path, data: dict[str, Any]) -> None:
    """Write a page that plays trainings: step by step or by itself, each rule in a column.

    Parameters
    ----------
    path : str or Path
        The HTML file, which is written completely or not at all. It needs no other file and no network.
    data : dict
        What `export_trace` returns.
    """
    write_bytes(path, player_page(data).encode())
