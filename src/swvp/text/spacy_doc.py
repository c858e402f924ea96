"""Documents as those of spaCy, which is imported only here."""

from __future__ import annotations

from typing import Any

from swvp.errors import InputError
from swvp.io.tree_checks import EMPTY
from swvp.text.document import Document

__all__ = ["to_spacy"]


def to_spacy(document: Document, vocab: Any = None) -> Any:
    """Return the words of a document as a `Doc`."""
    try:
        from spacy.tokens import Doc  # type: ignore[import-not-found, unused-ignore]
        from spacy.vocab import Vocab  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise InputError("to_spacy needs spaCy: pip install spacy") from None
    forms: list[str] = []
    spaces: list[bool] = []
    starts: list[bool] = []
    heads: list[int] = []
    for sentence in document.sentences:
        begin, words = len(forms), sentence.words
        for number, token in zip(sentence.token_numbers, sentence.tokens, strict=True):
            own = [word.form for word in words[token.first_word - 1 : token.last_word]]
            pieces = "".join(own) == token.text
            forms += own
            spaces += [not pieces] * (len(own) - 1) + [bool(document.spaces(number))]
        starts += [word.id == 1 for word in words]
        heads += [begin + (word.head or word.id) - 1 for word in words]
    all_words = document.words

    def given(values: list[str]) -> list[str] | None:
        filled = ["" if value == EMPTY else value for value in values]
        return filled if any(filled) else None

    has_trees = document.treebank.heads is not None
    return Doc(
        Vocab() if vocab is None else vocab,
        words=forms,
        spaces=spaces,
        tags=given([word.xpos for word in all_words]),
        pos=given([word.upos for word in all_words]),
        morphs=given([word.feats for word in all_words]),
        lemmas=given([word.lemma for word in all_words]),
        heads=heads if has_trees else None,
        deps=[("ROOT" if not word.head else word.deprel or "dep") for word in all_words] if has_trees else None,
        sent_starts=None if has_trees else starts,
    )
