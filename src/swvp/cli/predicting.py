"""Owns how models work on a file, one after the other: what each of them needs of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from swvp.cli.streams import tell
from swvp.errors import InputError
from swvp.io.container import kind_of
from swvp.io.files import read_bytes
from swvp.io.table import Table, is_conllu, table_of
from swvp.parsing import persistence as parsers
from swvp.parsing.parser import Parser
from swvp.parsing.tokens import EMPTY
from swvp.parsing.treebank import WITHOUT_HEADS, Treebank, treebank_of_table, write_trees
from swvp.structures.tree.decoding.dual_decomposition import LONG
from swvp.tagging import persistence as taggers
from swvp.tagging.columns import layout_for_predicting, read_corpus, write_labels
from swvp.tagging.prose import refuse_prose
from swvp.tagging.tagger import Tagger

__all__ = ["read_sentences", "run_models"]


def run_models(
    models: Sequence[Path], source: str, *, encoding: str, conllu: bool, check_prose: bool, jobs: int
) -> bytes:
    """The bytes of a file after all models; `check_prose` refuses a file that looks like prose."""
    loaded = [load(path) for path in models]
    layouts = [layout_for_predicting(model) for model in loaded if isinstance(model, Tagger)]
    trees = any(isinstance(model, Parser) for model in loaded)
    for path, model in zip(models, loaded, strict=True):
        model.n_jobs = jobs
        if trees and isinstance(model, Tagger) and not layout_for_predicting(model).conllu:
            raise InputError(
                f"{path}: a tagger before a parser must be one of CoNLL-U, trained with --target upos (xpos, feats)"
            )
    content, as_conllu = read_bytes(source), conllu or is_conllu(source)
    if trees or layouts[0].conllu:
        content, as_conllu = with_ten_columns(source, content, encoding), True
    for model in loaded:
        if isinstance(model, Tagger):
            layout = layout_for_predicting(model)
            table = table_of(source, content, encoding=encoding, conllu=as_conllu)
            if check_prose:
                refuse_prose(table, model, layout)
                check_prose = False  # what comes next is of our own making
            corpus = read_corpus(table, layout, labelled=False, what="the tagger's training file")
            content = write_labels(table, layout, model.predict_labels(corpus))
        else:
            content = parse(model, table_of(source, content, encoding=encoding, conllu=True, widths=WITHOUT_HEADS))
    return content


def load(path: Path) -> Tagger | Parser:
    """A model of either kind."""
    kind = kind_of(path)
    if kind == taggers.KIND:
        return Tagger.load(path)
    if kind == parsers.KIND:
        return Parser.load(path)
    raise InputError(f"{path}: a model of the kind '{kind}', which cannot predict")


def read_sentences(source: str, encoding: str) -> Table:
    """The words of a file, in CoNLL-U, CoNLL-X or one a line, for a model of CoNLL-U."""
    content = with_ten_columns(source, read_bytes(source), encoding)
    return table_of(source, content, encoding=encoding, conllu=True, widths=WITHOUT_HEADS)


def parse(parser: Parser, table: Table) -> bytes:
    treebank = treebank_of_table(table, heads=False)
    if treebank.upos.strings == ["_"] and len(parser.ranks_["pos"]) > 1:
        tell(
            f"note: {table.path} has no tags (UPOS), with which the parser was trained; put a tagger before it, "
            "--model TAGGER --model PARSER",
        )
    elif missing := missing_columns(parser, treebank):
        tell(
            f"note: {table.path} has no {' and no '.join(missing)}, with which the parser was trained: it parses worse "
            "than it could",
        )
    tell_long(parser, treebank)
    heads, labels = parser.predict_trees(treebank)
    return write_trees(table, heads, labels)


def tell_long(parser: Parser, treebank: Treebank) -> None:
    """Say that the search for trees of long sentences is bounded."""
    long = int(np.count_nonzero(np.diff(treebank.offsets) > LONG))
    if long and parser.search_is_bounded:
        what = "sentence has" if long == 1 else "sentences have"
        tell(
            f"note: {treebank.name}: {long:,} {what} more than {LONG} words: the search for the best tree may be cut "
            "short there",
        )


def shown(line: bytes, encoding: str) -> str:
    """The beginning of a line, for a message."""
    text = line.decode(encoding, "replace").strip()
    return text if len(text) <= 40 else text[:40] + " …"


def missing_columns(parser: Parser, treebank: Treebank) -> list[str]:
    """The columns that are empty in a file, but were not when the parser was trained, and are in its templates."""
    atoms = [atom for template in parser.templates_ for atom in template.atoms]
    used = {atom.column for atom in atoms} | {template.between for template in parser.templates_}
    found = {"tag": ("XPOS", treebank.xpos), "feats": ("FEATS", treebank.feats)}
    return [
        name
        for key, (name, column) in found.items()
        if key in used and set(parser.ranks_[key]) - {EMPTY} and column.strings == [EMPTY]
    ]


def with_ten_columns(source: str, content: bytes, encoding: str) -> bytes:
    """A file of one word a line as CoNLL-U; any other file as it is."""
    lines = content.splitlines()
    words = [line for line in lines[:1000] if line.strip() and not line.startswith(b"#")]
    if words and not is_conllu(source) and b" " in words[0].strip() and not any(b"\t" in line for line in words):
        raise InputError(
            f"{source}: neither CoNLL-U, which has tabs, nor one word a line: '{shown(words[0], encoding)}'"
        )
    if any(b"\t" in line or b" " in line.strip() for line in lines[:1000]) or not lines:
        return content
    table = table_of(source, content, encoding=encoding, conllu=False)
    rest = "\t".join(["_"] * 8)
    sentences = (
        "".join(f"{number}\t{word}\t{rest}\n" for number, word in enumerate(words, 1)) for words in table.sentences(0)
    )
    return "".join(f"{sentence}\n" for sentence in sentences).encode(encoding)
