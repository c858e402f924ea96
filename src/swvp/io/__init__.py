"""Files: column files, CoNLL-U and CoNLL-X, read and written back byte for byte; model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._lazy import lazy_names

if TYPE_CHECKING:
    from swvp.io.table import Table as Table
    from swvp.io.table import read_columns as read_columns
    from swvp.io.table import read_table as read_table
    from swvp.parsing.treebank import Treebank as Treebank
    from swvp.parsing.treebank import read_treebank as read_treebank
    from swvp.parsing.treebank import treebank_of as treebank_of
    from swvp.parsing.treebank import write_trees as write_trees

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Table": "swvp.io.table",
        "Treebank": "swvp.parsing.treebank",
        "read_columns": "swvp.io.table",
        "read_table": "swvp.io.table",
        "read_treebank": "swvp.parsing.treebank",
        "treebank_of": "swvp.parsing.treebank",
        "write_trees": "swvp.parsing.treebank",
    },
)
