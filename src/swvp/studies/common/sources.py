"""The files of datasets: finding those of training, dev and test set, identifying them, and sampling a dev set."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.io.files import read_bytes
from swvp.types import Ints

__all__ = ["MOST_DEV", "NO_DATA", "PARTS", "Samples", "Source", "dev_size", "find_source", "find_sources", "sample"]

PARTS = ("train", "dev", "test")
NAMES = {"train": "train|training", "dev": "dev|devel|development|val|valid|validation", "test": "test|testing"}
MOST_DEV = 1000
DEV_SHARE = 0.1
NO_DATA = (".md", ".html")
"""Endings of files in the folder of a dataset that are never its parts."""
HOW = "name the files instead, as TRAIN,DEV,TEST or TRAIN,TEST"


@dataclass(frozen=True)
class Source:
    """The files of a dataset and the SHA-256 digest of each; the dev file is optional."""

    name: str
    train: Path
    dev: Path | None
    test: Path
    digests: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return what identifies the dataset, ready for JSON: names and digests of the files, without folders."""
        files = {part: path.name for part in PARTS if (path := getattr(self, part)) is not None}
        return {"name": self.name, "files": files, "sha256": dict(self.digests)}

    def absolute(self) -> Source:
        """Return the source with whole paths, for processes that run in other folders."""
        dev = None if self.dev is None else self.dev.resolve()
        return Source(self.name, self.train.resolve(), dev, self.test.resolve(), self.digests)

    def check(self) -> None:
        """Raise InputError if a file cannot be read here, or has another content than where the source was found."""
        for part, digest in self.digests:
            path = getattr(self, part)
            if hashlib.sha256(read_bytes(path)).hexdigest() != digest:
                raise InputError(f"{path} has another content here than where the study was started")

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Source:
        """Return the source that `to_json` wrote; its files have no folders."""
        files = {part: Path(name) for part, name in fields["files"].items()}
        digests = tuple(fields["sha256"].items())
        return cls(fields["name"], files["train"], files.get("dev"), files["test"], digests)


def find_sources(arguments: Sequence[str], *, what: str, ignored: Collection[str] = NO_DATA) -> tuple[Source, ...]:
    """Find the files of datasets; `what` is their name in messages, `ignored` are endings of other files in a folder.

    Raises InputError if a file is missing or given twice.
    """
    sources = [find_source(argument, ignored=ignored) for argument in arguments]
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two {what}s are called '{name}': rename one, as NEWNAME={name}")
    tests: dict[str, str] = {}
    for source in sources:
        other = tests.setdefault(dict(source.digests)["test"], source.name)
        if other != source.name:
            raise InputError(f"{other} and {source.name} have the same test sentences: leave one of them out")
    return tuple(sources)


def find_source(argument: str, *, ignored: Collection[str] = NO_DATA) -> Source:
    """Find the files of one dataset, [NAME=]FOLDER, [NAME=]TRAIN,DEV,TEST or [NAME=]TRAIN,TEST."""
    name, equals, rest = argument.partition("=")
    if not equals or is_there(argument):
        name, rest = "", argument
    elif not name:
        raise InputError(f"'{argument}': no name before =")
    files = rest.split(",") if "," in rest and not is_there(rest) else []
    if files:
        if len(files) not in (2, 3) or not all(files):
            raise InputError(
                f"'{argument}': 2 or 3 files between commas, TRAIN,TEST or TRAIN,DEV,TEST, not {len(files)}"
            )
        paths = dict(zip(PARTS if len(files) == 3 else ("train", "test"), map(Path, files), strict=True))
        if Path("-") in paths.values():
            raise InputError(f"'{argument}': a study reads its files more than once, so not from standard input")
        folder = paths["train"].resolve().parent
    else:
        folder = Path(rest)
        if not is_there(rest):
            raise InputError(f"cannot read {folder}: No such file or directory")
        if not folder.is_dir():
            raise InputError(f"{folder} is a file: give a folder, or {HOW.removeprefix('name the files instead, as ')}")
        paths = in_folder(folder, ignored)
        folder = folder.resolve()
    digests = {part: hashlib.sha256(read_bytes(path)).hexdigest() for part, path in paths.items()}
    for part, other in (("dev", "train"), ("test", "train"), ("dev", "test")):
        if part in digests and digests[part] == digests[other]:
            raise InputError(f"{paths[part]} has the same content as {paths[other]}: the scores would mean nothing")
    return Source(name or folder.name, paths["train"], paths.get("dev"), paths["test"], tuple(digests.items()))


def is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # the name is too long
        return False


def in_folder(folder: Path, ignored: Collection[str]) -> dict[str, Path]:
    """Return the file of each part."""
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror or error}") from None
    candidates: dict[str, list[Path]] = {part: [] for part in PARTS}
    for path in files:
        if (part := part_of(path.name, ignored)) is not None:
            candidates[part].append(path)
    for part, paths in candidates.items():
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths)
            raise InputError(f"{folder}: {len(paths)} files whose names end in '{part}' ({names}): {HOW}")
        if not paths and part != "dev":
            raise InputError(f"{folder}: no file whose name ends in '{part}' before its extension: {HOW}")
    return {part: paths[0] for part, paths in candidates.items() if paths}


def part_of(name: str, ignored: Collection[str] = NO_DATA) -> str | None:
    """Return which part a file is, by the end of its name with or without extension; None for other files.

    >>> part_of("el_gdt-ud-train.conllu"), part_of("esp.test"), part_of("latest.conllu"), part_of("x-ud-dev.md")
    ('train', 'test', None, None)
    >>> part_of("devel.conllu"), part_of("training.conll"), part_of("valid.conllu.gz")
    ('dev', 'train', 'dev')
    """
    name = name.lower().removesuffix(".gz")
    if name.endswith(tuple(ignored)):
        return None
    for text in (name, name.rpartition(".")[0]):
        for part, names in NAMES.items():
            if re.search(rf"(?:^|[^a-z])({names})$", text):
                return part
    return None


class Samples(NamedTuple):
    """Numbers of training sentences, sorted: those in use, and how they are divided if a dev set is sampled."""

    whole: Ints
    train: Ints
    dev: Ints | None


def sample(
    total: int, *, sentences: int | None, sample_dev: bool, dev_sentences: int | None, seed: int, path: Path
) -> Samples:
    """Sample so many of the `total` training sentences (None: all), and from these a dev set if it is asked for.

    Raises InputError, which names the file `path`, if the dev set would have no sentence or all of them.
    """
    rng = np.random.default_rng([seed, 1])
    whole = np.arange(total)
    if sentences is not None and sentences < total:
        whole = np.sort(rng.permutation(total)[:sentences])
    if not sample_dev:
        return Samples(whole, whole, None)
    size = dev_size(len(whole)) if dev_sentences is None else dev_sentences
    if not 0 < size < len(whole):
        raise InputError(
            f"{path}: {size:,} dev sentences cannot be sampled from {len(whole):,}; "
            "give a DEV file, or fewer --dev-sentences"
        )
    order = rng.permutation(len(whole))
    return Samples(whole, whole[np.sort(order[size:])], whole[np.sort(order[:size])])


def dev_size(sentences: int) -> int:
    """Return the default size of a sampled dev set: 1000 as in the paper, but at most a tenth of the training set."""
    return min(MOST_DEV, round(DEV_SHARE * sentences)) or min(1, sentences // 2)
