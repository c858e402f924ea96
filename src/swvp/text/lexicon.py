"""A user's dictionary of lemmas, which goes before what a lemmatizer learnt."""

from __future__ import annotations

from pathlib import Path

from swvp.errors import InputError
from swvp.io.files import read_bytes

__all__ = ["ANY", "Lexicon", "look_up", "read_lexicon"]

Lexicon = dict[tuple[str, str], str]
"""The lemma of each (form, UPOS); the UPOS is ANY where it does not matter."""

ANY = ""


def read_lexicon(path: str | Path) -> Lexicon:
    """Read a dictionary of lemmas: lines of form, UPOS (may be left out) and lemma, between tabs.

    Empty lines, and lines that begin with "# ", are skipped. Two lines with the same form and UPOS must agree.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8, plain or .gz.

    Returns
    -------
    dict
        The lemma of each (form, UPOS); without a UPOS it is "".
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); convert it to UTF-8") from None
    lexicon: Lexicon = {}
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line.strip() or line.startswith("# "):
            continue
        fields = line.split("\t")
        if len(fields) not in (2, 3):
            raise InputError(
                f"{path}:{number}: {len(fields)} column(s) between tabs; give form, lemma or form, UPOS, lemma"
            )
        if not all(fields):
            raise InputError(f"{path}:{number}: an empty column; give form, lemma or form, UPOS, lemma")
        key = fields[0], fields[1] if len(fields) == 3 else ANY
        if lexicon.setdefault(key, fields[-1]) != fields[-1]:
            raise InputError(
                f"{path}:{number}: '{fields[-1]}' is a second lemma of '{fields[0]}' (before: '{lexicon[key]}'); "
                "remove one, or give both a UPOS"
            )
    return lexicon


def look_up(lexicon: Lexicon, form: str, upos: str) -> str | None:
    """Return the lemma of a form: with its UPOS before without, as it is written before in lower case."""
    for written in (form, form.lower()):
        for tag in (upos, ANY):
            if (lemma := lexicon.get((written, tag))) is not None:
                return lemma
    return None
