"""Files of tokens and trees: column files, CoNLL-U, CoNLL-X and formats of your own, written back byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.io.files import FORMATS as FORMATS
    from swvp.io.files import FileFormat as FileFormat
    from swvp.io.files import register_format as register_format
    from swvp.io.table import Column as Column
    from swvp.io.table import ColumnFile as ColumnFile
    from swvp.io.table import Table as Table
    from swvp.io.table import read_columns as read_columns
    from swvp.io.table import read_table as read_table
    from swvp.io.table import table_of as table_of
    from swvp.io.treebank import Treebank as Treebank
    from swvp.io.treebank import read_treebank as read_treebank
    from swvp.io.treebank import treebank_of as treebank_of
    from swvp.io.treebank import write_trees as write_trees

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Column": "swvp.io.table",
        "ColumnFile": "swvp.io.table",
        "FORMATS": "swvp.io.files",
        "FileFormat": "swvp.io.files",
        "Table": "swvp.io.table",
        "Treebank": "swvp.io.treebank",
        "read_columns": "swvp.io.table",
        "read_table": "swvp.io.table",
        "read_treebank": "swvp.io.treebank",
        "register_format": "swvp.io.files",
        "table_of": "swvp.io.table",
        "treebank_of": "swvp.io.treebank",
        "write_trees": "swvp.io.treebank",
    },
)
