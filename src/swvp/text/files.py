"""Texts of any size: read in parts, analysed by several threads, written in the order and format that is wanted.

Memory does not grow with the text. The result depends neither on the parts nor on the number of threads.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.io.blocks import Section, read_blocks, read_parts
from swvp.io.files import CONLLU_FILE
from swvp.io.table import CONLLU, Column, shape_of, table_of
from swvp.io.treebank import DEPREL, HEAD, WITHOUT_HEADS, Treebank, treebank_of_table
from swvp.pipeline import in_order
from swvp.text.document import Document
from swvp.text.pipeline import Pipeline
from swvp.text.sentence import PARAGRAPH, Segmentation, form_of
from swvp.text.treebank_text import document_of

__all__ = ["INPUTS", "OUTPUTS", "analyse_file", "written_back"]

LINES = 500
"""The number of lines, or of sentences with one token per line, that are analysed at once."""

TOKENS = 4000
"""The number of tokens of a plain text that are analysed at once, at least."""


NEW_DOCUMENT = "# newdoc\n"
"""The first line of a text in CoNLL-U."""

NO_BREAK = "\xa0"
"""In lines of tokens, a blank inside a token, as in files of UDPipe."""


class Part(NamedTuple):
    """A part of a text: its tokens, what is before it, and the number of its first sentence."""

    text: str
    segmentation: Segmentation
    begin: int = 0
    number: int = 1
    continued: bool = False


def analyse_file(
    pipeline: Pipeline,
    source: str,
    *,
    input: str = "text",
    output: str = "conllu",
    n_jobs: int = 1,
    confidence: bool = False,
    section: Section | None = None,
    line: int = 0,
    document_id: str | None = None,
) -> Iterator[bytes]:
    """Yield the analysis of a file, part by part.

    Parameters
    ----------
    pipeline : Pipeline
    source : str
        The file in UTF-8, plain or .gz; - is standard input.
    input : str
        One of `INPUTS`.
    output : str
        One of `OUTPUTS`.
    n_jobs : int
        The number of threads.
    confidence : bool
        Whether words have the probabilities of their arcs; not with CoNLL-U as input.
    section : Section, optional
        With CoNLL-U as input: analyse only this section of the file.
    line : int
        The number of lines before it; at least 1 unless it is the first.
    document_id : str, optional
        The name of the text in CoNLL-U, after `# newdoc id =`; not with CoNLL-U as input.
    """
    if confidence and input == "conllu":
        raise InputError("no confidences with --input conllu, whose other bytes stay: use another input")
    for what, name, known in (("input", input, INPUTS), ("output", output, OUTPUTS)):
        if name not in known:
            raise unknown_name(what, name, known)
    if n_jobs < 1:
        raise InputError(f"jobs must be at least 1, not {n_jobs}")
    pipeline.use_one_thread()
    write = OUTPUTS[output]
    if input == "conllu":
        yield from analyse_conllu(pipeline, source, write if output != "conllu" else None, n_jobs, section, line)
        return

    def work(part: Part) -> bytes:
        written = write(pipeline.analyse(**part._asdict(), confidence=confidence))
        if document_id is not None and output == "conllu" and written.startswith(NEW_DOCUMENT):
            written = written.replace(NEW_DOCUMENT, f"# newdoc id = {form_of(document_id)}\n", 1)
        return written.encode()

    yield from in_order(work, INPUTS[input](pipeline, read_text(source)), n_jobs)


# ---------------------------------------------------------------- reading


def read_text(source: str) -> Iterator[str]:
    """Yield the text of a file in UTF-8, without a byte order mark; raise InputError at bytes that are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, first = 1, True
    for part in read_parts(source):
        if part is None:
            continue
        content, last = part
        try:
            text = decoder.decode(content, last)
        except UnicodeDecodeError as error:
            number = line + error.object.count(b"\n", 0, error.start)
            byte = error.object[error.start]
            raise InputError(
                f"{source}:{number}: byte 0x{byte:02x} is not UTF-8; convert the text, as with iconv -t utf-8"
            ) from None
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        line += text.count("\n")
        if text:
            yield text


def lines_in(chunks: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text, with their ends."""
    waiting = ""
    for chunk in chunks:
        *lines, waiting = (waiting + chunk).split("\n")
        yield from (f"{line}\n" for line in lines)
    if waiting:
        yield waiting


def plain_text(pipeline: Pipeline, chunks: Iterable[str]) -> Iterator[Part]:
    """Divide a text into tokens and sentences, in parts of whole sentences with about TOKENS tokens."""
    waiting = Sentences()
    for text, segmentation in pipeline.tokenizer.segment_stream(chunks):
        waiting.add(text, segmentation)
        if waiting.tokens >= 2 * TOKENS:
            yield from waiting.parts()
    yield from waiting.parts(last=True)


class Sentences:
    """Sentences of a text that are not analysed yet: short paragraphs are put together, long ones are divided."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.segmentations: list[Segmentation] = []
        self.size = self.tokens = self.begin = 0
        self.number = 1
        self.continued = False

    def add(self, text: str, segmentation: Segmentation) -> None:
        """Add a paragraph with the spaces after it."""
        starts, ends, offsets = segmentation
        self.texts.append(text)
        self.segmentations.append(Segmentation(starts + self.size, ends + self.size, offsets[:-1] + self.tokens))
        self.size += len(text)
        self.tokens += len(starts)

    def parts(self, *, last: bool = False) -> Iterator[Part]:
        """Yield parts of at least TOKENS tokens; the rest waits, unless the text ends here."""
        if not self.tokens:
            return
        text = "".join(self.texts)
        starts, ends, firsts = map(np.concatenate, zip(*self.segmentations, strict=True))
        bounds = np.append(firsts, self.tokens)
        sentence, at = 0, 0  # the first sentence of a part, and where its text begins: spaces belong to the part before
        while sentence < len(firsts):
            following = int(np.searchsorted(bounds, bounds[sentence] + TOKENS))
            if following >= len(firsts) and not last:
                break
            following = min(following, len(firsts))
            a, b = int(bounds[sentence]), int(bounds[following])
            end = int(starts[b]) if b < self.tokens else len(text)
            segmentation = Segmentation(starts[a:b] - at, ends[a:b] - at, bounds[sentence : following + 1] - a)
            yield Part(text[at:end], segmentation, self.begin, self.number, self.continued)
            self.continued = PARAGRAPH.search(text, int(ends[b - 1]), end) is None
            self.begin, self.number = self.begin + end - at, self.number + following - sentence
            sentence, at = following, end
        a = int(bounds[sentence])
        rest = Segmentation(starts[a:] - at, ends[a:] - at, bounds[sentence:] - a)
        self.texts, self.segmentations, self.size, self.tokens = [], [], 0, 0
        self.add(text[at:], rest)


def sentence_lines(pipeline: Pipeline, chunks: Iterable[str]) -> Iterator[Part]:
    """Divide lines, each of them a sentence, into tokens."""

    def spans(line: str) -> tuple[list[int], list[int]]:
        starts, ends, _ = pipeline.segment(line)
        return starts.tolist(), ends.tolist()

    return parts_of_lines(chunks, spans)


def token_lines(pipeline: Pipeline, chunks: Iterable[str]) -> Iterator[Part]:
    """Divide lines, each of them a sentence, at blanks and tabs; non-breaking blanks are blanks in tokens."""

    def spans(line: str) -> tuple[list[int], list[int]]:
        starts, ends, at = [], [], 0
        for piece in line.replace("\t", " ").split(" "):
            if piece.strip():
                starts.append(at + len(piece) - len(piece.lstrip()))
                ends.append(at + len(piece.rstrip()))
            at += len(piece) + 1
        return starts, ends

    for part in parts_of_lines(chunks, spans):
        yield part._replace(text=part.text.replace(NO_BREAK, " "))


def parts_of_lines(chunks: Iterable[str], spans: Callable[[str], tuple[list[int], list[int]]]) -> Iterator[Part]:
    """Yield the parts of a text whose lines are sentences; `spans` returns where the tokens of a line are."""
    lines: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    offsets, begin, number, size = [0], 0, 1, 0
    continued = False

    def part() -> Part:
        segmentation = Segmentation(*(np.array(values, np.int64) for values in (starts, ends, offsets)))
        return Part("".join(lines), segmentation, begin, number, continued)

    for line in lines_in(chunks):
        found = spans(line)
        if found[0] and len(offsets) > LINES:  # empty lines belong to the sentence before them
            made = part()
            yield made
            number, begin = number + len(offsets) - 1, begin + size
            continued = PARAGRAPH.search(made.text, ends[-1]) is None
            lines, starts, ends, offsets, size = [], [], [], [0], 0
        lines.append(line)
        starts += [size + at for at in found[0]]
        ends += [size + at for at in found[1]]
        size += len(line)
        if found[0]:
            offsets.append(len(starts))
    if starts:
        yield part()


def one_token_a_line(pipeline: Pipeline, chunks: Iterable[str]) -> Iterator[Part]:
    """Read tokens, one a line before the first tab, with an empty line after each sentence; blanks join them."""
    sentences: list[list[str]] = []
    sentence: list[str] = []
    begin, number = 0, 1

    def part() -> Part:
        document = Document.from_tokens(sentences)
        return Part(document.text + " ", document.segmentation, begin, number, number > 1)

    for line in lines_in(chunks):
        token = line.split("\t")[0].strip()
        if token:
            sentence.append(token)
            continue
        if sentence:
            sentences.append(sentence)
            sentence = []
        if len(sentences) >= LINES:
            made = part()
            yield made
            begin, number, sentences = begin + len(made.text), number + len(sentences), []
    if sentence:
        sentences.append(sentence)
    if sentences:
        made = part()
        yield made._replace(text=made.text[:-1] + "\n")


def analyse_conllu(
    pipeline: Pipeline,
    source: str,
    write: Callable[[Document], str] | None,
    n_jobs: int,
    section: Section | None = None,
    line: int = 0,
) -> Iterator[bytes]:
    """Yield a file in CoNLL-U with the columns that the pipeline predicts; without `write`, other bytes stay."""
    shape = None

    def blocks() -> Iterator[Any]:
        nonlocal shape
        if line:
            first = next(block for block in read_blocks(source, CONLLU_FILE, "utf-8") if block is not None)
            shape = shape_of(first.content.removeprefix(codecs.BOM_UTF8), CONLLU_FILE, WITHOUT_HEADS)
        for block in read_blocks(source, CONLLU_FILE, "utf-8", section, line):
            if block is not None and shape is None:
                if block.last and not block.content.strip():
                    return
                shape = shape_of(block.content.removeprefix(codecs.BOM_UTF8), CONLLU_FILE, WITHOUT_HEADS)
            yield block

    def work(block: Any) -> bytes:
        content, line, _ = block
        table = table_of(source, content, conllu=True, widths=WITHOUT_HEADS, line=line, shape=shape if line else None)
        treebank = treebank_of_table(table, heads=False)
        if not table.tokens:
            return b"" if write else content
        done = pipeline.complete(treebank)
        if write is not None:
            return write(document_of(done)).encode()
        return written_back(done)

    yield from in_order(work, blocks(), n_jobs)


def written_back(treebank: Treebank) -> bytes:
    """Return the file of a treebank with the columns that it has now; all other bytes stay."""
    table = treebank.table
    assert table is not None
    columns = {CONLLU.index(name): getattr(treebank, name) for name in ("upos", "xpos", "feats")}
    columns[CONLLU.index("lemma")] = treebank.lemmas
    if treebank.heads is not None:
        most = int(treebank.heads.max())
        columns[HEAD] = Column([str(k) for k in range(most + 1)], treebank.heads)
        columns[DEPREL] = treebank.labels or Column(["_"], np.zeros(table.tokens, np.int32))
    return table.replace_columns(columns)


INPUTS: dict[str, Callable[[Pipeline, Iterable[str]], Iterator[Part]]] = {
    "text": plain_text,
    "presegmented": sentence_lines,
    "horizontal": token_lines,
    "vertical": one_token_a_line,
    "conllu": lambda pipeline, chunks: iter(()),
}
"""How a text is given: as it is, a sentence per line, also with blanks between tokens, a token per line, CoNLL-U."""


# ---------------------------------------------------------------- writing


def json_lines(document: Document) -> str:
    """Return a line of JSON for each sentence."""
    return "".join(f"{json.dumps(sentence.to_dict(), ensure_ascii=False)}\n" for sentence in document.sentences)


def horizontal(document: Document) -> str:
    """Return a line for each sentence, with blanks between tokens; those in a token are non-breaking."""
    return "".join(
        " ".join(NO_BREAK.join(form_of(token.text).split()) for token in sentence.tokens) + "\n"
        for sentence in document.sentences
    )


def vertical(document: Document) -> str:
    """Return a line for each token and an empty line after each sentence."""
    return "".join(
        "".join(" ".join(form_of(token.text).split()) + "\n" for token in sentence.tokens) + "\n"
        for sentence in document.sentences
    )


OUTPUTS: dict[str, Callable[[Document], str]] = {
    "conllu": Document.to_conllu,
    "json": json_lines,
    "horizontal": horizontal,
    "vertical": vertical,
}
"""How an analysis is written."""
