"""A single training of the tagging study: its tagger, and what is measured."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.learning.epoch import COUNTS
from swvp.studies.common.running import Ask, Once
from swvp.studies.tagging.settings import Data, Dataset, TaggingSettings, notation, tagger_options
from swvp.tagging.corpus import Corpus, Labels, PhraseCounter, gold_numbers
from swvp.tagging.options import part_of
from swvp.tagging.tagger import Tagger
from swvp.training.training import Progress, Stopped
from swvp.types import Ints

__all__ = ["Run", "Timing", "Training", "make_tagger", "sentence_scores", "train_once"]

F1 = "F1"


class Training(NamedTuple):
    """What identifies a training. β is None if there is none to choose."""

    dataset: str
    rule: str
    beta: float | None
    seed: int


@dataclass(frozen=True)
class Timing:
    """CPU seconds of the training with its dev scores, and of tagging the test set."""

    train: float
    tag: float


@dataclass(frozen=True)
class Run:
    """A finished training, with the weights of the epoch that is best on the dev set.

    `dev` has the dev score after each epoch. The test score is Σ right / Σ total, with `right` and `total` of each
    test sentence: tokens for accuracy; for F1 the correct phrases twice, out of the gold and the predicted phrases.
    `accuracy` is the share of correct test tokens, `history` has the counts of each epoch.
    """

    dataset: str
    rule: str
    beta: float | None
    seed: int
    epoch: int
    dev: list[float]
    right: list[int]
    total: list[int]
    accuracy: float
    history: dict[str, list[float]]
    timing: Timing

    @property
    def training(self) -> Training:
        """What identifies this training."""
        return Training(self.dataset, self.rule, self.beta, self.seed)

    @property
    def name(self) -> str:
        """The rule with its β."""
        return self.rule if self.beta is None else notation(self.rule).with_beta(self.beta)

    @property
    def score(self) -> float:
        """The test score, as a share."""
        return sum(self.right) / max(sum(self.total), 1)

    @property
    def dev_score(self) -> float:
        """The dev score of the chosen epoch, as a share."""
        return self.dev[self.epoch - 1]

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores of this training, as shares, for a table of all runs."""
        return {"dev": self.dev_score, "test": self.score, "accuracy": self.accuracy, "epoch": self.epoch}

    def total_of(self, count: str) -> float:
        """Return a count summed over all epochs."""
        return sum(self.history[count])

    def to_json(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return {**vars(self), "timing": vars(self.timing)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Run:
        """Return the run that `to_json` wrote."""
        values: dict[str, Any] = {field.name: fields[field.name] for field in dataclasses.fields(cls)}
        return cls(**values | {"timing": Timing(**fields["timing"])})


def make_tagger(settings: TaggingSettings, dataset: Dataset, data: Data, training: Training) -> Tagger:
    """Return the tagger of a training, not trained yet."""
    options = {"constraint": data.chosen.constraint} | tagger_options(settings, notation(training.rule), training.beta)
    features = data.chosen.features if dataset.features is None else dataset.features
    return Tagger(**options, features=features, random_state=training.seed)


compiled: Once[tuple[str, str], None] = Once()


def train_once(settings: TaggingSettings, dataset: Dataset, data: Data, training: Training, stopped: Ask) -> Run | None:
    """Train a tagger, and measure the weights of its best epoch; return None if the event stopped it."""

    def stop_if_asked(progress: Progress) -> None:
        if stopped.is_set():
            raise Stopped

    compiled.get((training.rule, repr(settings.options)), lambda: compile_for(settings, dataset, data, training))
    tagger = make_tagger(settings, dataset, data, training)
    start = time.thread_time()
    session = tagger.start(data.train, data.dev)
    try:
        session.run(tagger.epochs, tagger.patience, watch=stop_if_asked)
    except Stopped:
        return None
    tagger.finish(session)
    train_seconds = time.thread_time() - start
    start = time.thread_time()
    predicted = tagger.predict_labels(data.test)
    tag_seconds = time.thread_time() - start
    assert session.dev is not None
    counts, accuracy = sentence_scores(data.test, predicted, phrases=session.dev.metric == F1)
    return Run(
        *training,
        epoch=tagger.best_epoch_,
        dev=[float(score) for score in tagger.dev_scores_],
        right=counts[:, 0].tolist(),
        total=counts[:, 1].tolist(),
        accuracy=accuracy,
        history={name: [getattr(epoch, name) for epoch in tagger.history_] for name in COUNTS},
        timing=Timing(train_seconds, tag_seconds),
    )


def compile_for(settings: TaggingSettings, dataset: Dataset, data: Data, training: Training) -> None:
    """Compile the kernels of a training, so that compiling is not part of the measured time."""
    tiny = part_of(data.train, np.argsort(np.diff(data.train.offsets), kind="stable")[-2:])
    tagger = make_tagger(settings, dataset, data, training)
    session = tagger.start(tiny, tiny)
    session.run(1)
    tagger.finish(session).predict_labels(tiny)


def sentence_scores(test: Corpus, predicted: Labels, *, phrases: bool) -> tuple[Ints, float]:
    """Return (right, total) of each test sentence, and the share of correct tokens.

    With `phrases` these are the correct phrases twice, and the gold and the predicted phrases together.
    """
    names = list(predicted.names)
    gold = gold_numbers(test, names)  # appends labels that training did not have
    correct: NDArray[np.bool_] = gold == predicted.ids
    accuracy = float(correct.mean()) if len(correct) else 1.0
    starts, sentences = test.offsets[:-1], len(test.offsets) - 1

    def by_sentence(tokens: Ints) -> Ints:
        return np.bincount(np.searchsorted(starts, tokens, side="right") - 1, minlength=sentences).astype(np.int64)

    if not phrases:
        return np.stack([by_sentence(np.flatnonzero(correct)), np.diff(test.offsets)], axis=1), accuracy
    counter = PhraseCounter(names)
    first, second = (counter.keys(ids, test.offsets) for ids in (gold, predicted.ids.astype(np.int64)))
    begins = [counter.phrases(ids, test.offsets)[0] for ids in (gold, predicted.ids.astype(np.int64))]
    right = by_sentence(begins[0][np.isin(first, second)])
    return np.stack([2 * right, by_sentence(begins[0]) + by_sentence(begins[1])], axis=1), accuracy
