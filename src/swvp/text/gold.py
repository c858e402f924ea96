"""Treebanks as texts: the tokens of a file in CoNLL-U with the spaces between them, paragraph by paragraph."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from swvp.errors import InputError
from swvp.io.table import Table
from swvp.io.tree_checks import EMPTY
from swvp.io.treebank import Treebank
from swvp.text.document import Document
from swvp.text.segmentation import Segmentation

__all__ = ["document_of", "files_of_folder"]

UNESCAPED = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.?))", re.DOTALL)


def files_of_folder(folder: Path) -> tuple[Path, Path | None]:
    """Return the training file and the dev set, if there is one, of a treebank of Universal Dependencies."""

    def only(part: str) -> Path | None:
        found = sorted(
            path for path in folder.iterdir() if path.name.endswith((f"-ud-{part}.conllu", f"-ud-{part}.conllu.gz"))
        )
        if len(found) > 1:
            raise InputError(f"{folder}: {len(found)} files *-ud-{part}.conllu; give the one to use")
        return found[0] if found else None

    train = only("train")
    if train is None:
        raise InputError(f"{folder}: no file *-ud-train.conllu in this folder; give a training file")
    return train, only("dev")


def document_of(treebank: Treebank) -> Document:
    """Return the text of a treebank from a file, with its tokens, words and trees.

    MISC says which spaces follow a token: SpaceAfter=No, or SpacesAfter. An empty line is put before each paragraph.
    """
    assert treebank.table is not None
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    first_words: list[int] = []
    token_feats: dict[int, str] = {}
    sentence_offsets = [0]
    at = words = covered = 0
    spaces, paragraph = "", False
    for line in lines_of(treebank.table):
        if line.startswith("#"):
            paragraph |= line.startswith(("# newpar", "# newdoc"))
            continue
        if not line.strip():
            if len(starts) > sentence_offsets[-1]:
                sentence_offsets.append(len(starts))
            covered = 0
            continue
        fields = line.split("\t")
        number, _, last = fields[0].partition("-")
        if "." in number:
            continue
        is_word = not last
        if int(number) > covered:
            if paragraph and pieces and "\n\n" not in spaces:
                spaces = "\n\n"
            paragraph = False
            pieces += [spaces, fields[1]]
            starts.append(at + len(spaces))
            at += len(spaces) + len(fields[1])
            ends.append(at)
            if last and fields[5:6] not in ([], [EMPTY]):
                token_feats[len(starts) - 1] = fields[5]
            first_words.append(words)
            covered = int(last or number)
            spaces = spaces_in(fields[9] if len(fields) > 9 else "_")
        words += is_word
    if len(starts) > sentence_offsets[-1]:
        sentence_offsets.append(len(starts))
    pieces.append("\n")
    segmentation = Segmentation(
        np.array(starts, np.int64), np.array(ends, np.int64), np.array(sentence_offsets, np.int64)
    )
    all_words = np.array([*first_words, words], np.int64)
    return Document("".join(pieces), segmentation, all_words, treebank, token_feats=token_feats)


def lines_of(table: Table) -> list[str]:
    """Return the lines of a file."""
    return [line.removesuffix("\r") for line in table.content.tobytes().decode().split("\n")]


def spaces_in(misc: str) -> str:
    """Return the spaces after a token, by its field MISC."""
    if misc == "_":
        return " "
    for note in misc.split("|"):
        if note == "SpaceAfter=No":
            return ""
        if note.startswith("SpacesAfter="):
            return unescaped(note.removeprefix("SpacesAfter=")) or " "
    return " "


def unescaped(noted: str) -> str:
    r"""Return spaces from UDPipe's notation.

    >>> unescaped(r"\s\n\x0b")
    ' \n\x0b'
    """

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else UNESCAPED.get(match[3], "")

    return ESCAPE.sub(character, noted)
