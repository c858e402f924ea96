"""The settings of the tagging study and its datasets: their files, how these are read, train, dev and test set."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from swvp.errors import InputError, unknown_name
from swvp.io.table import is_conllu
from swvp.studies.common.rules import Notation, Option
from swvp.studies.common.rules import notation as parse
from swvp.studies.common.running import CSP, check_settings, csp_first, settings_header, settings_in
from swvp.studies.common.sources import Source, find_sources, sample
from swvp.tagging.corpus import Corpus
from swvp.tagging.files import read_corpus
from swvp.tagging.options import AUTO, Choice, choose, part_of
from swvp.tagging.tagger import Tagger, score_on
from swvp.tagging.train import BETAS, TaggerFiles, check_features, read_features

__all__ = [
    "DEFAULT_RULES",
    "QUICK",
    "READING",
    "Data",
    "Dataset",
    "TaggingSettings",
    "find_datasets",
    "notation",
    "read_data",
    "tagger_options",
]

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


DEFAULT_RULES = (
    CSP,
    "a-wm",
    "b-wm",
    "a-wmr",
    "b-wmr",
    "a-wm:segments:sqrt",
    "b-softmin:all",
    "b-maxent:all",
    "mira",
    "mira:10",
    "b-maxent:all:mira",
    "csp:ada",
    "b-maxent:all:ada",
    "softmax",
)
QUICK: dict[str, Any] = {"sentences": 500, "epochs": 3, "betas": (0.5, 2.0), "seeds": 2}
CHOSEN = ("rule", "beta", "epochs", "random_state", "n_jobs", "features", "columns")
"""Options of a tagger that the study sets itself."""


@dataclass(frozen=True, kw_only=True)
class TaggingSettings:
    """The settings of the tagging study. They determine all its numbers except times.

    Parameters
    ----------
    datasets : tuple of Dataset
        From `find_datasets`.
    rules : tuple of str
        Update rules as RULE[@β][/MARGIN][+OPTION=VALUE…]. CSP is always run, as the first.
    betas : tuple of float
        The values of β that a rule tries.
    epochs : int
        The largest number of epochs; the best on the dev set is used.
    seeds : int
        Trainings of each rule and β, each in other random orders of the sentences.
    sentences : int, optional
        Train on a random sample of the training sentences. Default: all.
    sample_dev : bool
        Sample the dev set from the training set even if there is a dev file.
    dev_sentences : int, optional
        Size of a sampled dev set. Default: a tenth of the training set, at most 1000.
    options : dict
        Other options of `SequenceTagger`, for all trainings.
    seed : int
        The first seed. It also determines the samples.
    loaded : str
        Digest of the user's Python file that defines some of the rules; empty without one.

    Raises
    ------
    InputError
        If a setting is not valid.
    """

    datasets: tuple[Dataset, ...]
    rules: tuple[str, ...] = DEFAULT_RULES
    betas: tuple[float, ...] = BETAS
    epochs: int = 10
    seeds: int = 3
    sentences: int | None = None
    sample_dev: bool = False
    dev_sentences: int | None = None
    options: dict[str, Option] = field(default_factory=dict)
    seed: int = 0
    loaded: str = ""

    def __post_init__(self) -> None:
        if not self.datasets:
            raise InputError("no dataset is given")
        check_settings(self, "rules", "betas", counts=("epochs", "seeds", "sentences", "dev_sentences"))
        object.__setattr__(self, "betas", tuple(sorted(self.betas)))
        object.__setattr__(self, "options", dict(sorted(self.options.items())))
        notations = [notation(rule) for rule in self.rules]
        object.__setattr__(self, "rules", csp_first([rule.text for rule in notations], self.rules))
        for rule in notations:
            for beta in self.betas_of(rule):
                Tagger(**tagger_options(self, rule, beta)).check()

    def betas_of(self, rule: Notation) -> tuple[float | None, ...]:
        """Return the values of β to try for a rule; a single None if there is nothing to choose."""
        return self.betas if rule.tuned else (None,)

    def samples(self, dataset: Dataset) -> bool:
        """Return whether the dev set is sampled from the training set."""
        return self.sample_dev or dataset.source.dev is None

    def absolute(self) -> TaggingSettings:
        """Return the settings with whole paths of files, for workers in other folders."""
        datasets = (replace(dataset, source=dataset.source.absolute()) for dataset in self.datasets)
        return replace(self, datasets=tuple(datasets))

    def to_json(self) -> dict[str, Any]:
        """Return the settings and the version of the program, ready for JSON."""
        header = settings_header("tagging", self, "tagging", "training", "evaluation", "studies")
        return header | {"datasets": [dataset.to_json() for dataset in self.datasets]}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> TaggingSettings:
        """Return the settings that `to_json` wrote; the files of the datasets have no folders."""
        datasets = tuple(map(Dataset.from_json, fields["datasets"]))
        return cls(**settings_in(fields, cls) | {"datasets": datasets})


def is_other(name: str) -> bool:
    """Return whether taggers can be trained in a way with this name that is not an update rule.

    >>> is_other("crf"), is_other("csp"), is_other("cps")
    (True, False, False)
    """
    try:
        parse(name)
    except InputError:
        try:
            Tagger(rule=name).check()
        except InputError:
            return False
        return True
    return False


def notation(text: str) -> Notation:
    """Parse a rule RULE[@β][/MARGIN][+OPTION=VALUE…] of a tagger."""
    return parse(text, is_other=is_other)


def tagger_options(settings: TaggingSettings, rule: Notation, beta: float | None) -> dict[str, Any]:
    """Return the arguments of the tagger of a training, without its seed and its features."""
    known = inspect.signature(Tagger).parameters
    options = settings.options | dict(rule.options)
    if rule.margin is not None:
        options["margin"] = rule.margin
    for name in options:
        if name not in known or name in CHOSEN:
            free = [other for other in known if other not in CHOSEN]
            raise unknown_name(
                f"option of rule '{rule.text}':" if name not in settings.options else "option", name, free
            )
    given = rule.beta if rule.beta is not None else beta
    return {"rule": rule.name, "epochs": settings.epochs, **options} | ({} if given is None else {"beta": given})
