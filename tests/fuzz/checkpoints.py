"""The campaign of checkpoints: changed with right checksums, resumed, and trained to a model that loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from swvp import DependencyParser, SequenceTagger
from swvp.errors import InputError
from swvp.io.treebank import treebank_of
from swvp.tagging.corpus import corpus_of
from swvp.training.training import resume, save_checkpoint, stamp

from .mutate import mutated

X, Y = [["a", "b", "a"], ["b", "c"]] * 3, [["A", "B", "C"], ["C", "A"]] * 3
TREES = [[2, 0, 2], [0, 1]] * 3


def tagger() -> tuple[Any, Any]:
    """A tagger and its training, with held-out sentences."""
    learner, corpus = SequenceTagger(random_state=0, epochs=4), corpus_of(X, Y, None)
    return learner, learner.start(corpus, corpus)


def parser() -> tuple[Any, Any]:
    """A parser and its training, without held-out sentences."""
    learner = DependencyParser(random_state=0, epochs=4, hashed=256, features=["h.word & m.word", "distance"])
    return learner, learner.start(treebank_of(X, TREES))


def new(folder: Path) -> Callable[[np.random.Generator], str | None]:
    """Rounds that change the checkpoint of a tagger or of a parser."""
    files = []
    for make in (tagger, parser):
        _, training = make()
        training.run(2)
        save_checkpoint(folder / "checkpoint", training, stamp(training, {}))
        files.append((make, (folder / "checkpoint").read_bytes()))

    def round_of(rng: np.random.Generator) -> str | None:
        make, content = files[int(rng.integers(len(files)))]
        (folder / "checkpoint").write_bytes(mutated(content, rng))
        learner, training = make()
        try:
            assert resume(folder / "checkpoint", training, stamp(training, {}))
        except InputError:
            return None
        training.run(3)
        learner.finish(training)
        try:
            learner.save(folder / "model")
        except InputError:  # weights beyond what a file holds
            return None
        type(learner).load(folder / "model").predict(X)
        return None

    return round_of
