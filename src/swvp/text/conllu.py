r"""Documents as CoNLL-U, with every character of the text.

Spaces that are not one blank are in MISC, in UDPipe's notation: SpaceAfter=No, SpacesAfter=\n, SpacesBefore=\s\s for
those before the first token of a text, SpacesInToken for a token whose form is not what the text has. Control
characters, for which UDPipe has no notation, are written as in Python: \x00.
"""

from __future__ import annotations

from collections.abc import Iterator

from swvp.io.tree_checks import EMPTY
from swvp.text.document import Document
from swvp.text.sentence import Sentence, form_of

__all__ = ["rows_of", "to_conllu"]

ESCAPES = {"\\": "\\\\", "|": "\\p", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n"}
CONTROL = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
NOTATION = str.maketrans({chr(code): ascii(chr(code))[1:-1] for code in CONTROL} | ESCAPES)

Row = tuple[str, str, str, str, str, str, str, str, str, str]


def to_conllu(document: Document) -> str:
    """Return a document in CoNLL-U."""
    lines: list[str] = []
    for sentence in document.sentences:
        if sentence.id == 1 and not document.continued:
            lines.append("# newdoc")
        if sentence.starts_paragraph:
            lines.append("# newpar")
        lines += [f"# sent_id = {sentence.id}", f"# text = {sentence.text}"]
        lines += map("\t".join, rows_of(sentence))
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def rows_of(sentence: Sentence) -> Iterator[Row]:
    """Yield the ten fields of each word of a sentence, and of each multiword token before its words."""
    document, words = sentence.document, sentence.words
    for number, token in zip(sentence.token_numbers, sentence.tokens, strict=True):
        misc = spaces_of(document, number, token.text)
        if token.first_word < token.last_word:
            name = f"{token.first_word}-{token.last_word}"
            yield name, form_of(token.text), EMPTY, EMPTY, EMPTY, token.feats, EMPTY, EMPTY, EMPTY, misc
            misc = EMPTY
        for word in words[token.first_word - 1 : token.last_word]:
            head = EMPTY if word.head is None else str(word.head)
            yield str(word.id), *word[1:6], head, word.deprel or EMPTY, EMPTY, with_confidence(misc, word.confidence)


def with_confidence(misc: str, confidence: float | None) -> str:
    """Return the field MISC with the probability of the arc, if there is one."""
    if confidence is None:
        return misc
    return "|".join([f"Confidence={confidence:.4f}", *([misc] if misc != EMPTY else [])])


def spaces_of(document: Document, number: int, piece: str) -> str:
    """Return the field MISC of a token: the spaces around it, if they are not one blank after it."""
    after = document.spaces(number)
    if after == " " and number and piece.isprintable():
        return EMPTY
    notes = []
    if not number and (before := document.text[: int(document.segmentation.token_starts[0])]):
        notes.append(f"SpacesBefore={noted(before)}")
    if form_of(piece) != piece:
        notes.append(f"SpacesInToken={noted(piece)}")
    if after != " ":
        notes.append(f"SpacesAfter={noted(after)}" if after else "SpaceAfter=No")
    return "|".join(notes) or EMPTY


def noted(spaces: str) -> str:
    """Return spaces in UDPipe's notation."""
    return spaces.translate(NOTATION)
