"""Prediction on files: one model, or several of which each reads what the one before it wrote.

A file is predicted block by block, so memory does not grow with it; blocks are whole sentences, and threads share them.

The modules of parsers are imported only if a model is a parser: a tagger should start fast.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from swvp.errors import InputError
from swvp.io.blocks import Block, Section, can_be_divided, read_blocks
from swvp.io.container import kind_of
from swvp.io.files import CONLLU, choose_format, format_of, read_bytes
from swvp.io.table import Shape, Table, check_encoding, is_conllu, shape_of, table_of
from swvp.io.tree_checks import EMPTY
from swvp.io.treebank import WITHOUT_HEADS, Treebank, treebank_of_table, write_trees
from swvp.tagging import persistence as taggers
from swvp.tagging.files import check_not_prose, layout_for_predicting, read_corpus, write_labels
from swvp.tagging.tagger import Tagger

if TYPE_CHECKING:
    from swvp.parsing.parser import Parser

__all__ = ["lacks_tags", "load_model", "load_models", "parse", "predict_blocks", "read_words"]

Note = Callable[[str], object]
"""Is called with remarks on a file, each one line."""

ENOUGH_LINES = 1000
"""From so many lines one can tell whether a file is prose."""

Given = TypeVar("Given")
Made = TypeVar("Made")


class Task(NamedTuple):
    """A block to predict; `sample` is the beginning of the file if it is to be checked for prose, else empty."""

    block: Block
    sample: bytes


def predict_blocks(
    models: Sequence[Tagger | Parser],
    source: str,
    *,
    encoding: str = "utf-8",
    conllu: bool = False,
    check_prose: bool = True,
    n_jobs: int = 1,
    note: Note = lambda text: None,
    section: Section | None = None,
    line: int = 0,
) -> Iterator[bytes]:
    """Yield a file, block by block, with the labels or trees that the models predict, one after the other.

    Parameters
    ----------
    models : sequence of taggers and parsers
    source : str
        The file, or - for standard input. What a pipe gives is predicted at once.
    encoding : str
        Of the file and of the result.
    conllu : bool
        The file is CoNLL-U, whatever its name.
    check_prose : bool
        Raise InputError for a file that looks like prose.
    n_jobs : int
        The number of threads; the result is the same for any number.
    note : function
        Is called with remarks on the file, at its end.
    section : Section, optional
        Predict only this section of the file.
    line : int
        The number of lines before it; at least 1 unless it is the first.
    """
    prediction = FilePrediction(models, source, check_encoding(encoding), conllu=conllu)
    for model in models:
        model.use_threads(1 if can_be_divided(prediction.format, encoding) else n_jobs)
    total: list[Remark] = []
    for content, remarks in in_order(
        prediction.predict, prediction.tasks(check_prose=check_prose and not line, section=section, line=line), n_jobs
    ):
        total = [one.merged(other) for one, other in zip(total, remarks, strict=False)] or total or remarks
        yield content
    for remark in total:
        for text in (missing_columns_note(remark), long_sentences_note(remark)):
            if text is not None:
                note(text)


class FilePrediction:
    """What is known about a file from its name, its models and its first block, and the prediction of one block."""

    def __init__(self, models: Sequence[Tagger | Parser], source: str, encoding: str, *, conllu: bool):
        self.models, self.source, self.encoding = models, source, encoding
        first = models[0]
        self.has_parser = not all(isinstance(model, Tagger) for model in models)
        self.needs_names = self.has_parser or (isinstance(first, Tagger) and layout_for_predicting(first).conllu)
        self.conllu = conllu or is_conllu(source) or self.needs_names
        self.format = choose_format(source, conllu=self.conllu)
        self.one_word_a_line = False
        self.shape: Shape | None = None

    def tasks(self, *, check_prose: bool, section: Section | None = None, line: int = 0) -> Iterator[Task | None]:
        """Read the file, or a section of it, in blocks; None when a pipe has nothing to read."""
        if line:
            first = next(block for block in read_blocks(self.source, self.format, self.encoding) if block is not None)
            self._look_at(first.content.removeprefix(codecs.BOM_UTF8))
        check_prose = check_prose and not self.conllu
        sample = b""
        for block in read_blocks(self.source, self.format, self.encoding, section, line):
            if block is None:
                yield None
                continue
            if not block.line:
                self._look_at(block.content.removeprefix(codecs.BOM_UTF8))
            sample += block.content if check_prose else b""
            if check_prose and (block.last or sample.count(b"\n") >= ENOUGH_LINES):
                yield Task(block, sample)
                check_prose, sample = False, b""
            else:
                yield Task(block, b"")

    def _look_at(self, content: bytes) -> None:
        """Learn from the first block whether it has one word per line, and the columns of all blocks."""
        self.one_word_a_line = self.needs_names and has_one_word_a_line(self.source, content, self.encoding)
        format = choose_format(self.source, conllu=False) if self.one_word_a_line else self.format
        self.shape = shape_of(content, format, widths_for(self.models[0]))

    def predict(self, task: Task) -> tuple[bytes, list[Remark]]:
        """Return a block with predictions, and a remark for each parser."""
        content, line, _ = task.block
        if task.sample:
            tagger = self.models[0]
            check_not_prose(self._table(task.sample, 0, None, tagger), tagger, layout_for_predicting(tagger))
        shape = self.shape if line else None
        if self.one_word_a_line:
            words = table_of(self.source, content, encoding=self.encoding, conllu=False, line=line, shape=shape)
            content, shape = as_conllu(words), Shape(len(CONLLU), True)
        remarks = []
        for number, model in enumerate(self.models):
            if number and line:
                shape = shape_of(content, self.format, widths_for(model))
            table = self._table(content, line, shape, model)
            if not table.tokens:  # after the last sentence
                if self.has_parser:
                    treebank_of_table(table, heads=False)  # checks it
                return content, []
            if isinstance(model, Tagger):
                layout = layout_for_predicting(model)
                corpus = read_corpus(table, layout, labelled=False, what="the tagger's training file")
                content = write_labels(table, layout, model.predict_labels(corpus))
            else:
                content, remark = parsed(model, table)
                remarks.append(remark)
        return content, remarks

    def _table(self, content: bytes, line: int, shape: Shape | None, model: Tagger | Parser) -> Table:
        """Return the table of a block as a model reads it."""
        widths = widths_for(model)
        return table_of(
            self.source, content, encoding=self.encoding, conllu=self.conllu, widths=widths, line=line, shape=shape
        )


def widths_for(model: Tagger | Parser) -> Sequence[int] | None:
    """The numbers of columns that a file in CoNLL-U may have for a model; None for those of the format."""
    return None if isinstance(model, Tagger) else WITHOUT_HEADS


def in_order(work: Callable[[Given], Made], items: Iterable[Given | None], n_jobs: int) -> Iterator[Made]:
    """Yield work(item) for all items in their order, computed in `n_jobs` threads.

    None among the items says that the next one may come late: what is there is yielded before. The first item is done
    before threads start, because it loads kernels and builds what all items use.
    """
    items, pending, failure = iter(items), deque[Future[Made]](), None
    first = next((item for item in items if item is not None), None)
    if first is not None:
        yield work(first)
    if n_jobs == 1:
        yield from (work(item) for item in items if item is not None)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            ended = False
            while not ended:
                try:
                    item = next(items)
                except StopIteration:
                    item, ended = None, True
                except InputError as error:  # the results before it come first
                    item, ended, failure = None, True, error
                if item is not None:
                    pending.append(pool.submit(work, item))
                while pending and (item is None or len(pending) > 2 * n_jobs):
                    yield pending.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure


def load_models(paths: Sequence[Path]) -> list[Tagger | Parser]:
    """Load models that are used one after the other."""
    models = [load_model(path) for path in paths]
    has_parser = not all(isinstance(model, Tagger) for model in models)
    for path, model in zip(paths, models, strict=True):
        if has_parser and isinstance(model, Tagger) and not layout_for_predicting(model).conllu:
            raise InputError(
                f"{path}: a tagger before a parser must be one of CoNLL-U, trained with --target upos (xpos, feats)"
            )
    return models


def load_model(path: Path) -> Tagger | Parser:
    """Load a model of either kind."""
    kind = kind_of(path)
    if kind == taggers.KIND:
        tagger = Tagger.load(path)
        tagger.forget_unused_attributes()
        return tagger
    from swvp.parsing import persistence as parsers
    from swvp.parsing.parser import Parser

    if kind == parsers.KIND:
        return Parser.load(path)
    if kind == "pipeline":
        raise InputError(f"{path} is a pipeline from raw text to trees: use swvp parse {path}")
    raise InputError(f"{path}: a model of the kind '{kind}', which cannot predict")


def read_words(source: str, encoding: str) -> Table:
    """Read a file of words, in CoNLL-U, CoNLL-X or one word per line, as CoNLL-U."""
    content = with_ten_columns(source, read_bytes(source), encoding)
    return table_of(source, content, encoding=encoding, conllu=True, widths=WITHOUT_HEADS)


def parse(parser: Parser, table: Table) -> bytes:
    """The file of a table with the trees that a parser predicts."""
    return parsed(parser, table)[0]


def parsed(parser: Parser, table: Table) -> tuple[bytes, Remark]:
    """The file of a table with the trees that a parser predicts, and a remark on the file."""
    treebank = treebank_of_table(table, heads=False)
    remark = remark_on(parser, treebank)
    return write_trees(table, *parser.predict_trees(treebank)), remark


# ---------------------------------------------------------------- remarks


class Remark(NamedTuple):
    """What may be worth a note about a file, or a block of it, that a parser reads.

    `empty` are the columns (pos, tag, feats) that have nothing in them. `long` is the number of sentences that are so
    long that the search for the best tree is bounded.
    """

    parser: Parser
    name: str
    empty: frozenset[str]
    long: int

    def merged(self, other: Remark) -> Remark:
        """Return the remark on two blocks."""
        return self._replace(empty=self.empty & other.empty, long=self.long + other.long)


def remark_on(parser: Parser, treebank: Treebank) -> Remark:
    """Return the remark on a treebank."""
    columns = {"pos": treebank.upos, "tag": treebank.xpos, "feats": treebank.feats}
    empty = frozenset(key for key, column in columns.items() if column.strings == [EMPTY])
    long = np.count_nonzero(np.diff(treebank.offsets) > most_words()) if parser.search_is_bounded else 0
    return Remark(parser, treebank.name, empty, int(long))


def lacks_tags(parser: Parser, treebank: Treebank) -> bool:
    """Whether a treebank has no tags (UPOS) though the parser was trained with tags."""
    return treebank.upos.strings == [EMPTY] and len(parser.ranks_["pos"]) > 1


def missing_columns_note(remark: Remark) -> str | None:
    """Which columns the parser needs and the file lacks."""
    parser = remark.parser
    if "pos" in remark.empty and len(parser.ranks_["pos"]) > 1:
        return (
            f"note: {remark.name} has no tags (UPOS), but the parser was trained with tags; put a tagger before it: "
            "--model TAGGER --model PARSER"
        )
    atoms = [atom for template in parser.templates_ for atom in template.atoms]
    used = {atom.column for atom in atoms} | {template.between for template in parser.templates_}
    missing = [
        name
        for key, name in (("tag", "XPOS"), ("feats", "FEATS"))
        if key in used and set(parser.ranks_[key]) - {EMPTY} and key in remark.empty
    ]
    if not missing:
        return None
    return (
        f"note: {remark.name} has no {' and no '.join(missing)}, but the parser was trained with them: it parses "
        "less accurately"
    )


def most_words() -> int:
    """The number of words up to which the search for a second-order tree is not bounded."""
    from swvp.structures.tree.decoding.dual_decomposition import LONG

    return LONG


def long_sentences_note(remark: Remark) -> str | None:
    """How many sentences are so long that the search for the best tree is bounded."""
    if not remark.long:
        return None
    sentences = "sentence has" if remark.long == 1 else "sentences have"
    return (
        f"note: {remark.name}: {remark.long:,} {sentences} more than {most_words()} words: the search for the best "
        "tree may stop before it is found"
    )


# ---------------------------------------------------------------- one word per line


def with_ten_columns(source: str, content: bytes, encoding: str) -> bytes:
    """A file of one word per line as CoNLL-U; any other file as it is."""
    if not has_one_word_a_line(source, content, encoding):
        return content
    return as_conllu(table_of(source, content, encoding=encoding, conllu=False))


def has_one_word_a_line(source: str, content: bytes, encoding: str) -> bool:
    """Whether a file has one word per line; InputError if it has sentences on lines instead."""
    if format_of(source).to_columns is not None:
        return False
    lines = content.splitlines()[:ENOUGH_LINES]
    words = [line for line in lines if line.strip() and not line.startswith(b"#")]
    if words and not is_conllu(source) and b" " in words[0].strip() and not any(b"\t" in line for line in words):
        text = words[0].decode(encoding, "replace").strip()
        line = text if len(text) <= 40 else text[:40] + " …"
        raise InputError(f"{source}: neither CoNLL-U, which has tabs, nor one word per line: '{line}'")
    return bool(lines) and not any(b"\t" in line or b" " in line.strip() for line in lines)


def as_conllu(table: Table) -> bytes:
    """The words of a table, which are its first column, as a file in CoNLL-U."""
    rest = "\t".join(["_"] * 8)
    sentences = (
        "".join(f"{number}\t{word}\t{rest}\n" for number, word in enumerate(words, 1)) for words in table.sentences(0)
    )
    return "".join(f"{sentence}\n" for sentence in sentences).encode(table.encoding)
