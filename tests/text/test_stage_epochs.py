"""The epochs of the stages before the parser are reported, and printed with the time left if they take long."""

import io

import pytest
from rich.console import Console

from helpers.garden import TRAIN
from swvp.cli import progress
from swvp.io.treebank import Treebank
from swvp.text.lemmatizer import Lemmatizer
from swvp.text.morphology import MorphologicalTagger
from swvp.text.tokenizer import Tokenizer
from swvp.text.train import read_treebanks


@pytest.fixture(scope="module")
def treebank() -> Treebank:
    return read_treebanks(TRAIN, None)[0]


@pytest.mark.parametrize("stage", [Tokenizer, MorphologicalTagger, Lemmatizer])
def test_a_stage_reports_each_epoch(treebank, stage):
    epochs = []
    data = treebank.table if stage is Tokenizer else treebank
    stage.train(data, epochs=2, watch=lambda epoch, of: epochs.append((epoch, of)))
    assert epochs == [(1, 2), (2, 2)]


def test_epochs_are_printed_after_some_silence_with_the_time_left(monkeypatch):
    times = iter([0.0, 1.0, 7.0, 7.0, 9.0, 13.0, 13.0, 20.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    output = progress.TrainingOutput(Console(file=io.StringIO(), width=80))
    for epoch in (1, 2, 3, 4, 5):
        output.on_stage_epoch("tags", epoch, 5)
    assert output.console.file.getvalue() == "tags: epoch 2 of 5, 0:18 left\ntags: epoch 4 of 5, 0:04 left\n"
