"""The file formats of tokens: how each is recognised and read, as rows of a registry.

A format of your own is a row: `register_format(FileFormat(...))`. If its lines are not those of a column file, it also
has two functions, one that turns the text of a file into columns and one that turns columns back into such a text.
Every command and reader then accepts files with its ending. Here a sentence is a line of word/TAG:

>>> def to_columns(text):
...     return "\\n\\n".join(line.replace(" ", "\\n").replace("/", "\\t") for line in text.splitlines()) + "\\n"
>>> def from_columns(text):
...     return "".join(lines.replace("\\t", "/").replace("\\n", " ") + "\\n" for lines in text[:-1].split("\\n\\n"))
>>> slashes = FileFormat("slashes", "word/TAG", endings=(".slashes",), to_columns=to_columns, from_columns=from_columns)
>>> register_format(slashes)
>>> from swvp.io import table_of
>>> table = table_of("my.slashes", b"the/DET dog/NOUN\\nbarks/VERB\\n")
>>> table.sentences(0)
[['the', 'dog'], ['barks']]
>>> table.replace(1, table.column(0))
b'the/the dog/dog\\nbarks/barks\\n'
>>> del FORMATS["slashes"]
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from swvp.errors import InputError, unknown_name

__all__ = [
    "COLUMN_FILE",
    "CONLLU",
    "CONLLU_FILE",
    "CONLLX_FILE",
    "FORMATS",
    "FileFormat",
    "choose_format",
    "format_of",
    "is_conllu",
    "register_format",
]

CONLLU = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
"""The columns of CoNLL-U; in CoNLL-X the last two are called PHEAD and PDEPREL."""


class FileFormat(NamedTuple):
    """A file format of tokens: one token a line, an empty line after each sentence, or a text that is turned into such.

    Attributes
    ----------
    name : str
        The name in the registry.
    title : str
        The name in messages.
    endings : tuple of str
        The endings of file names by which it is recognised, such as ".conllu"; ".gz" may follow.
    columns : tuple of str
        The names of the columns, which are then separated by tabs, and whose first one holds token IDs: ranges (2-3)
        and empty nodes (4.1) are skipped. Without names a file has as many columns as its first line.
    widths : tuple of int
        The numbers of columns a file with named columns may have.
    skipped : bytes
        Lines that begin like this hold no token.
    to_columns, from_columns : functions from str to str, optional
        Turn the text of a file into columns, and columns back into such a text. Without them the text is columns.
    """

    name: str
    title: str
    endings: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    widths: tuple[int, ...] = ()
    skipped: bytes = b"-DOCSTART-"
    to_columns: Callable[[str], str] | None = None
    from_columns: Callable[[str], str] | None = None


COLUMN_FILE = FileFormat("columns", "a column file")
CONLLU_FILE = FileFormat("conllu", "CoNLL-U", (".conllu",), CONLLU, (10,), b"#")
CONLLX_FILE = FileFormat("conllx", "CoNLL-X", (), CONLLU, (10, 8, 6), b"#")

FORMATS: dict[str, FileFormat] = {each.name: each for each in (COLUMN_FILE, CONLLU_FILE, CONLLX_FILE)}
"""The formats by name. A file whose ending belongs to none of them is a column file."""


def register_format(format: FileFormat) -> None:
    """Add a format to the registry, so that files with its endings are read and written in it.

    Parameters
    ----------
    format : FileFormat
        Its name and endings have to be new.

    Raises
    ------
    InputError
        If its name or an ending is taken, or if it has only one of `to_columns` and `from_columns`.
    """
    if format.name in FORMATS:
        raise InputError(f"there is a file format '{format.name}' already; choose another name")
    taken = {ending: each.name for each in FORMATS.values() for ending in each.endings}
    for ending in format.endings:
        if ending in taken:
            raise InputError(f"files in {ending} are of the format '{taken[ending]}' already; choose another ending")
    if (format.to_columns is None) != (format.from_columns is None):
        raise InputError(f"the file format '{format.name}' needs both to_columns and from_columns, or neither")
    FORMATS[format.name] = format


def format_of(path: str | Path) -> FileFormat:
    """Return the format that the name of a file says; a column file if it says none.

    Examples
    --------
    >>> format_of("el-ud-train.conllu.gz").title, format_of("train.txt").title
    ('CoNLL-U', 'a column file')
    """
    name = str(path).removesuffix(".gz")
    return next((each for each in FORMATS.values() if name.endswith(each.endings)), COLUMN_FILE)


def choose_format(path: str | Path, *, format: str | None = None, conllu: bool | None = None) -> FileFormat:
    """Return the format of a file: the one with the given name, else CoNLL-U if `conllu`, else by the file's name.

    With `conllu=False` a file is not CoNLL-U, whatever its name.
    """
    if format is not None:
        if format not in FORMATS:
            raise unknown_name("file format", format, FORMATS)
        return FORMATS[format]
    by_name = format_of(path)
    if conllu is None or conllu == bool(by_name.columns):
        return by_name
    return CONLLU_FILE if conllu else COLUMN_FILE


def is_conllu(path: str | Path) -> bool:
    """Return whether the name of a file says that its columns are those of CoNLL-U."""
    return bool(format_of(path).columns)
