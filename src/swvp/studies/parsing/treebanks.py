"""The treebanks of the parsing study: finding their files, and reading training, dev and test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swvp.io.treebank import Treebank, read_treebank
from swvp.studies.common.sources import NO_DATA, Source, find_sources, sample

__all__ = ["NO_TREES", "Data", "find_treebanks", "read_data"]

NO_TREES = (".txt", *NO_DATA)


@dataclass(frozen=True)
class Data:
    """A treebank as read: `whole` is the training set, `train` the same without a sampled dev set."""

    train: Treebank
    whole: Treebank
    dev: Treebank
    test: Treebank
    sampled: bool


def find_treebanks(arguments: Sequence[str]) -> tuple[Source, ...]:
    """Find the files of treebanks.

    Parameters
    ----------
    arguments : sequence of str
        [NAME=]FOLDER, [NAME=]TRAIN,DEV,TEST or [NAME=]TRAIN,TEST. In a folder, the names of the files end in "train",
        "dev" and "test" before their extension; the dev file is optional.

    Returns
    -------
    tuple of Source
        For `ParsingSettings`.

    Raises
    ------
    InputError
        If a file is missing or given twice.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("train", "test"):
    ...         _ = Path(folder, f"el-{part}.conllu").write_text(part)
    ...     (greek,) = find_treebanks([f"Greek={folder}"])
    >>> greek.name, greek.train.name, greek.dev
    ('Greek', 'el-train.conllu', None)
    """
    return find_sources(arguments, what="treebank", ignored=NO_TREES)


def read_data(
    source: Source, *, sample_dev: bool, sentences: int | None, seed: int, dev_sentences: int | None = None
) -> Data:
    """Read a treebank.

    The training set is a random sample of so many `sentences`, or all. The dev set is that of the dev file, or sampled.
    """
    given, test = (read_treebank(path, heads=True) for path in (source.train, source.test))
    sampled = sample(
        given.number_of_sentences,
        sentences=sentences,
        sample_dev=sample_dev or source.dev is None,
        dev_sentences=dev_sentences,
        seed=seed,
        path=source.train,
    )
    whole = given if len(sampled.whole) == given.number_of_sentences else given.select(sampled.whole)
    if sampled.dev is not None:
        return Data(given.select(sampled.train), whole, given.select(sampled.dev), test, True)
    assert source.dev is not None
    return Data(whole, whole, read_treebank(source.dev, heads=True), test, False)
