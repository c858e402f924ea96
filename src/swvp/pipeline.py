"""Prediction on files: one model, or several of which each reads what the one before it wrote.

The modules of parsers are imported only if a model is a parser: a tagger should start fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swvp.errors import InputError
from swvp.io.container import kind_of
from swvp.io.files import format_of, read_bytes
from swvp.io.table import Table, is_conllu, table_of
from swvp.io.tree_checks import EMPTY
from swvp.io.treebank import WITHOUT_HEADS, Treebank, treebank_of_table, write_trees
from swvp.tagging import persistence as taggers
from swvp.tagging.files import check_not_prose, layout_for_predicting, read_corpus, write_labels
from swvp.tagging.tagger import Tagger

if TYPE_CHECKING:
    from swvp.parsing.parser import Parser

__all__ = ["lacks_tags", "load_model", "load_models", "parse", "predict_file", "read_words"]

Note = Callable[[str], object]
"""Is called with remarks on a file, each one line."""


def predict_file(
    models: Sequence[Tagger | Parser],
    source: str,
    *,
    encoding: str = "utf-8",
    conllu: bool = False,
    check_prose: bool = True,
    note: Note = lambda text: None,
) -> bytes:
    """Return a file with the labels or trees that the models predict, one after the other.

    Parameters
    ----------
    models : sequence of taggers and parsers
    source : str
        The file, or - for standard input.
    encoding : str
        Of the file and of the result.
    conllu : bool
        The file is CoNLL-U, whatever its name.
    check_prose : bool
        Raise InputError for a file that looks like prose.
    note : function
        Is called with remarks on the file.
    """
    has_parser = not all(isinstance(model, Tagger) for model in models)
    content, as_conllu = read_bytes(source), conllu or is_conllu(source)
    first = models[0]
    if has_parser or (isinstance(first, Tagger) and layout_for_predicting(first).conllu):
        content, as_conllu = with_ten_columns(source, content, encoding), True
    for model in models:
        if not isinstance(model, Tagger):
            table = table_of(source, content, encoding=encoding, conllu=True, widths=WITHOUT_HEADS)
            content = parse(model, table, note)
            continue
        layout = layout_for_predicting(model)
        table = table_of(source, content, encoding=encoding, conllu=as_conllu)
        if check_prose:
            check_not_prose(table, model, layout)
            check_prose = False  # the next table is a model's output
        corpus = read_corpus(table, layout, labelled=False, what="the tagger's training file")
        content = write_labels(table, layout, model.predict_labels(corpus))
    return content


def load_models(paths: Sequence[Path], n_jobs: int = 1) -> list[Tagger | Parser]:
    """Load models that are used one after the other, with this number of threads."""
    models = [load_model(path) for path in paths]
    has_parser = not all(isinstance(model, Tagger) for model in models)
    for path, model in zip(paths, models, strict=True):
        if has_parser and isinstance(model, Tagger) and not layout_for_predicting(model).conllu:
            raise InputError(
                f"{path}: a tagger before a parser must be one of CoNLL-U, trained with --target upos (xpos, feats)"
            )
        model.use_threads(n_jobs)
    return models


def load_model(path: Path) -> Tagger | Parser:
    """Load a model of either kind."""
    kind = kind_of(path)
    if kind == taggers.KIND:
        return Tagger.load(path)
    from swvp.parsing import persistence as parsers
    from swvp.parsing.parser import Parser

    if kind == parsers.KIND:
        return Parser.load(path)
    raise InputError(f"{path}: a model of the kind '{kind}', which cannot predict")


def read_words(source: str, encoding: str) -> Table:
    """Read a file of words, in CoNLL-U, CoNLL-X or one word per line, as CoNLL-U."""
    content = with_ten_columns(source, read_bytes(source), encoding)
    return table_of(source, content, encoding=encoding, conllu=True, widths=WITHOUT_HEADS)


def parse(parser: Parser, table: Table, note: Note = lambda text: None) -> bytes:
    """The file of a table with the trees that a parser predicts."""
    treebank = treebank_of_table(table, heads=False)
    for text in (missing_columns_note(parser, treebank), long_sentences_note(parser, treebank)):
        if text is not None:
            note(text)
    heads, labels = parser.predict_trees(treebank)
    return write_trees(table, heads, labels)


def lacks_tags(parser: Parser, treebank: Treebank) -> bool:
    """Whether a treebank has no tags (UPOS) though the parser was trained with tags."""
    return treebank.upos.strings == [EMPTY] and len(parser.ranks_["pos"]) > 1


def missing_columns_note(parser: Parser, treebank: Treebank) -> str | None:
    """Which columns the parser needs and the treebank lacks."""
    if lacks_tags(parser, treebank):
        return (
            f"note: {treebank.name} has no tags (UPOS), but the parser was trained with tags; put a tagger before it: "
            "--model TAGGER --model PARSER"
        )
    atoms = [atom for template in parser.templates_ for atom in template.atoms]
    used = {atom.column for atom in atoms} | {template.between for template in parser.templates_}
    columns = {"tag": ("XPOS", treebank.xpos), "feats": ("FEATS", treebank.feats)}
    missing = [
        name
        for key, (name, column) in columns.items()
        if key in used and set(parser.ranks_[key]) - {EMPTY} and column.strings == [EMPTY]
    ]
    if not missing:
        return None
    return (
        f"note: {treebank.name} has no {' and no '.join(missing)}, but the parser was trained with them: it parses "
        "less accurately"
    )


def most_words() -> int:
    """The number of words up to which the search for a second-order tree is not bounded."""
    from swvp.structures.tree.decoding.dual_decomposition import LONG

    return LONG


def long_sentences_note(parser: Parser, treebank: Treebank) -> str | None:
    """How many sentences are so long that the search for the best tree is bounded."""
    most = most_words()
    long = int(np.count_nonzero(np.diff(treebank.offsets) > most))
    if not long or not parser.search_is_bounded:
        return None
    sentences = "sentence has" if long == 1 else "sentences have"
    return (
        f"note: {treebank.name}: {long:,} {sentences} more than {most} words: the search for the best tree may stop "
        "before it is found"
    )


def with_ten_columns(source: str, content: bytes, encoding: str) -> bytes:
    """A file of one word per line as CoNLL-U; any other file as it is."""
    if format_of(source).to_columns is not None:
        return content
    lines = content.splitlines()
    words = [line for line in lines[:1000] if line.strip() and not line.startswith(b"#")]
    if words and not is_conllu(source) and b" " in words[0].strip() and not any(b"\t" in line for line in words):
        text = words[0].decode(encoding, "replace").strip()
        line = text if len(text) <= 40 else text[:40] + " …"
        raise InputError(f"{source}: neither CoNLL-U, which has tabs, nor one word per line: '{line}'")
    if any(b"\t" in line or b" " in line.strip() for line in lines[:1000]) or not lines:
        return content
    table = table_of(source, content, encoding=encoding, conllu=False)
    rest = "\t".join(["_"] * 8)
    sentences = (
        "".join(f"{number}\t{word}\t{rest}\n" for number, word in enumerate(words, 1)) for words in table.sentences(0)
    )
    return "".join(f"{sentence}\n" for sentence in sentences).encode(encoding)
