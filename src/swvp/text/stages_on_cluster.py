"""The stages and folds of a pipeline as tasks of a cluster.

All of them depend on the treebank only, so they are trained at once. What a worker sends back is stored as the
checkpoint of the stage or fold; the training of the pipeline then finds it there, as one that resumes does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from swvp.cluster import task
from swvp.cluster.threads import Workers
from swvp.errors import InputError
from swvp.io.treebank import Treebank
from swvp.text.jackknife import columns_of, folds_of, predicted_fold
from swvp.text.part_checkpoints import PartCheckpoints, described_columns, digest_of, stored
from swvp.text.stages import Arrays, described_parts

__all__ = ["Recipe", "paths_of", "train_on_cluster"]

Described = tuple[dict[str, Any], Arrays]
"""The content of a checkpoint."""


class Recipe(NamedTuple):
    """What a worker needs to train stages and folds; `settings` has the options of each stage.

    Parameters
    ----------
    train, dev : str
        Whole paths of the training set and the dev set.
    encoding : str
    digest : str
        Of both treebanks here.
    random_state, folds : int
    settings : dict
    """

    train: str
    dev: str | None
    encoding: str
    digest: str
    random_state: int
    folds: int
    settings: Mapping[str, Mapping[str, Any]]


class Part(NamedTuple):
    """A task: a stage, or with `stages` the fold of this number (from 0) predicted by them."""

    name: str
    fold: int = 0
    stages: tuple[str, ...] = ()


def train_on_cluster(
    recipe: Recipe,
    stages: Sequence[str],
    checkpoints: PartCheckpoints,
    workers: Workers,
    stamp_of: Callable[[str], dict[str, Any]],
    note: Callable[[str], object],
) -> None:
    """Train the stages and folds that have no checkpoint, and store them; `stamp_of` returns the options of a stage."""
    parts = [Part(stage) for stage in stages if stage != "trees"]
    predicted = tuple(stage for stage in ("tags", "lemmas") if stage in stages)
    if "trees" in stages and predicted and recipe.folds > 1:
        parts += [Part(f"fold-{number + 1}", number, predicted) for number in range(recipe.folds)]
    missing = [part for part in parts if not checkpoints.is_stored(part.name)]
    if not missing:
        return
    with workers:
        note(f"training {', '.join(part.name for part in missing)} on the cluster")
        results = workers.map(partial(train_part, recipe), missing, in_order=False, name=lambda part: part.name)
        with contextlib.closing(results):
            for done, (number, described) in enumerate(results, 1):
                part = missing[number]
                stamps = {stage: stamp_of(stage) for stage in part.stages} | {"folds": recipe.folds}
                checkpoints.store(part.name, stamps if part.stages else stamp_of(part.name), *described)
                note(f"{part.name} is trained, {done} of {len(missing)}")


def train_part(recipe: Recipe, part: Part) -> Described:
    """Train a stage, or predict a fold, as a task of a cluster; the worker keeps the treebanks."""
    from swvp.text.train import read_treebanks, trained_stage

    def read() -> tuple[Treebank, Treebank | None]:
        treebanks = read_treebanks(recipe.train, recipe.dev, recipe.encoding)
        if digest_of(*treebanks) != recipe.digest:
            files = recipe.train if recipe.dev is None else f"{recipe.train}, {recipe.dev}"
            raise InputError(f"{files}: another content here than where the command was started")
        return treebanks

    key = ("pipeline", recipe.train, recipe.dev, recipe.encoding, recipe.digest)
    treebank, dev = task.kept(key, read)
    if not part.stages:
        return described_parts(stored(trained_stage(part.name, treebank, dev, recipe.random_state, recipe.settings)))
    sentences = folds_of(treebank.number_of_sentences, recipe.folds)[part.fold]
    settings = {stage: recipe.settings[stage] for stage in part.stages}
    return described_columns(columns_of(predicted_fold(treebank, sentences, recipe.random_state, settings)))


def paths_of(train: object, dev: object) -> tuple[str, str | None]:
    """Return whole paths of a training set and a dev set; raise InputError if they are not files."""
    for source in (train, dev):
        if source is not None and (not isinstance(source, str | Path) or str(source) == "-"):
            raise InputError("on a cluster, TRAIN and --dev must be files that all workers see")
    return str(Path(str(train)).absolute()), None if dev is None else str(Path(str(dev)).absolute())
