"""The datasets of the tagging study: finding their files, how these are read, and training, dev and test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from swvp.errors import InputError, unknown_name
from swvp.io.table import is_conllu
from swvp.studies.common.rules import Option
from swvp.studies.common.sources import Source, find_sources, sample
from swvp.tagging.corpus import Corpus
from swvp.tagging.files import read_corpus
from swvp.tagging.options import AUTO, Choice, choose, part_of
from swvp.tagging.tagger import score_on
from swvp.tagging.train import TaggerFiles, check_features, read_features

__all__ = ["READING", "Data", "Dataset", "find_datasets", "read_data"]

READING = ("encoding", "target", "column", "columns", "features")
"""Options of a single dataset, as in es=esp.train,esp.testa,esp.testb,encoding=iso-8859-1."""


@dataclass(frozen=True)
class Dataset:
    """The files of a dataset and how they are read.

    `reading` has those options of `READING` that are given, as text; columns are joined by +. `templates` are the
    feature templates if they come from a file.
    """

    source: Source
    reading: tuple[tuple[str, str], ...] = ()
    templates: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.source.name

    def option(self, name: str) -> str | None:
        """Return an option of reading; None if it is not given."""
        return dict(self.reading).get(name)

    @property
    def features(self) -> str | list[str] | None:
        """The preset of features, or the templates; None if the labels decide."""
        return self.option("features") if self.templates is None else list(self.templates)

    def to_json(self) -> dict[str, Any]:
        """Return what identifies the dataset, ready for JSON."""
        templates = None if self.templates is None else list(self.templates)
        return {**self.source.to_json(), "reading": dict(self.reading), "templates": templates}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Dataset:
        """Return the dataset that `to_json` wrote; its files have no folders."""
        templates = None if fields["templates"] is None else tuple(fields["templates"])
        return cls(Source.from_json(fields), tuple(fields["reading"].items()), templates)

    @property
    def argument(self) -> str:
        """The dataset as the command line takes it, without folders."""
        parts = [*self.source.to_json()["files"].values(), *(f"{name}={value}" for name, value in self.reading)]
        return f"{self.name}={','.join(parts)}"


@dataclass(frozen=True)
class Data:
    """A dataset as read, and the features and the constraint that its labels chose."""

    train: Corpus
    dev: Corpus
    test: Corpus
    sampled: bool
    label: str
    chosen: Choice


def find_datasets(arguments: Sequence[str], **reading: str | None) -> tuple[Dataset, ...]:
    """Find the files of datasets for taggers.

    Parameters
    ----------
    arguments : sequence of str
        [NAME=]FOLDER, [NAME=]TRAIN,DEV,TEST or [NAME=]TRAIN,TEST, each with ,OPTION=VALUE… for this dataset alone:
        encoding, target (CoNLL-U), column (column files), columns (as word+pos), features. In a folder, the names of
        the files end in "train", "dev" and "test" before their extension; the dev file is optional.
    **reading : str, optional
        The same options for all datasets. The target is used for CoNLL-U only, the column for column files only.

    Returns
    -------
    tuple of Dataset
        For `TaggingSettings`.

    Raises
    ------
    InputError
        If a file is missing or given twice, or an option is unknown.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("train", "test"):
    ...         _ = Path(folder, f"{part}.txt").write_text(part)
    ...     (chunks,) = find_datasets([f"chunks={folder},features=chunk"])
    >>> chunks.name, chunks.source.dev, chunks.features
    ('chunks', None, 'chunk')
    """
    split = [split_argument(argument) for argument in arguments]
    sources = find_sources([files for files, _ in split], what="dataset")
    shared = {name: value for name, value in reading.items() if value is not None}
    return tuple(
        with_templates(Dataset(source, tuple((of_kind(shared, source) | own).items())))
        for source, (_, own) in zip(sources, split, strict=True)
    )


def split_argument(argument: str) -> tuple[str, dict[str, str]]:
    """Divide an argument into its files and the options at its end.

    >>> split_argument("es=a.train,a.test,encoding=iso-8859-1")
    ('es=a.train,a.test', {'encoding': 'iso-8859-1'})
    """
    first, *parts = argument.split(",")
    own: dict[str, str] = {}
    while parts and "=" in parts[-1]:
        name, _, value = parts.pop().partition("=")
        if name not in READING:
            raise unknown_name(f"option of '{argument}':", name, READING)
        own[name] = value
    return ",".join([first, *parts]), dict(reversed(own.items()))


def of_kind(shared: Mapping[str, str], source: Source) -> dict[str, str]:
    """Return the options that are not for the other kind of files."""
    without = "column" if is_conllu(str(source.train)) else "target"
    return {name: value for name, value in shared.items() if name != without}


def with_templates(dataset: Dataset) -> Dataset:
    features = read_features(dataset.option("features"))
    return replace(dataset, templates=tuple(features)) if isinstance(features, list) else dataset


def read_data(
    dataset: Dataset,
    *,
    options: Mapping[str, Option],
    sample_dev: bool,
    sentences: int | None,
    seed: int,
    dev_sentences: int | None = None,
) -> Data:
    """Read a dataset; the training set is a random sample of so many `sentences`, or all.

    The dev set is that of the dev file, or sampled. Features and constraint are chosen once, as training would.
    """
    source, columns = dataset.source, dataset.option("columns")
    files = TaggerFiles(
        label=dataset.option("target") or column_of(dataset),
        columns=None if columns is None else columns.split("+"),
        templates=dataset.option("features"),
    )
    encoding = dataset.option("encoding") or "utf-8"
    table = files.read(str(source.train), encoding)
    layout = files.layout(table)
    check_features(dataset.features, layout.names, files.templates)
    given = read_corpus(table, layout, labelled=True)
    test = read_corpus(files.read(str(source.test), encoding), layout, labelled=True)
    sampled = sample(
        len(given.offsets) - 1,
        sentences=sentences,
        sample_dev=sample_dev or source.dev is None,
        dev_sentences=dev_sentences,
        seed=seed,
        path=source.train,
    )
    train = part_of(given, sampled.train)
    if sampled.dev is None:
        dev = read_corpus(files.read(str(source.dev), encoding), layout, labelled=True)
    else:
        dev = part_of(given, sampled.dev)
    constraint = options.get("constraint", AUTO)
    chosen = choose(train, features=dataset.features is None, constraint=constraint == AUTO, score=score_on)
    return Data(train, dev, test, sampled.dev is not None, layout.label_name, chosen)


def column_of(dataset: Dataset) -> int | None:
    """Return the number of the label column, if it is given."""
    text = dataset.option("column")
    try:
        return None if text is None else int(text)
    except ValueError:
        raise InputError(f"{dataset.name}: column must be a number, from 0, not '{text}'") from None
