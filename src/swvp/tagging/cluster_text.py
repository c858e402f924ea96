"""Raw text for word clusters: the words of a file of any kind, and the clusters of these and of the training words."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from pathlib import Path

from swvp.errors import InputError
from swvp.features.clusters import learn_clusters
from swvp.io.files import read_bytes
from swvp.io.table import CONLLU, check_encoding, is_conllu, table_of
from swvp.tagging.corpus import Corpus
from swvp.tagging.files import check_not_prose

__all__ = ["clusters_with_text", "read_sentences"]


def read_sentences(path: str | Path, *, encoding: str = "utf-8") -> list[list[str]]:
    """Read the words of each sentence of a text, of CoNLL-U or of a column file.

    CoNLL-U is known by its name, .conllu. A column file has the same number of columns on all lines and an empty line
    between sentences; its words are the first column. All other files are text: words between blanks, a sentence on
    each line.
    """
    whole = read_bytes(path)
    if is_conllu(path):
        return table_of(path, whole, encoding=encoding).sentences(CONLLU.index("word"))
    with contextlib.suppress(InputError):  # text, or not in this encoding, which is found out below
        table = table_of(path, whole, encoding=encoding)
        check_not_prose(table)
        if len(table.offsets) > 2:
            return table.sentences(0)
    check_encoding(encoding)
    try:
        text = whole.decode(encoding)
    except UnicodeError:
        raise InputError(f"{path}: cannot be read as {encoding}; name its encoding with --encoding") from None
    return [line.split() for line in text.removeprefix("\ufeff").splitlines()]


def clusters_with_text(corpus: Corpus, path: str, number: int, *, encoding: str = "utf-8") -> dict[str, str]:
    """Learn clusters from the first column of a corpus and from a file of text, in the same encoding."""
    words, bounds = corpus.words(), corpus.offsets.tolist()
    training = [words[a:b] for a, b in pairwise(bounds)]
    return learn_clusters([*training, *read_sentences(path, encoding=encoding)], number)
