"""What the model of lemmas sees: contexts of a form with its tags, and keys of a candidate lemma, as named features.

Names are hashed to numbers for `swvp.structures.ranking`, and shown as they are by `explain`.
"""

from __future__ import annotations

from binascii import crc32

from swvp.structures.ranking import MOST_KEY
from swvp.text.edit_trees import EditTree
from swvp.text.lemma_memory import Evidence

__all__ = ["NARROW", "WIDE", "contexts_of", "hashed", "keys_of_tree", "lemma_keys"]

NARROW, WIDE = 5, 3
"""How many contexts come first that are paired with all keys; how many keys, with all contexts."""


def hashed(names: list[str]) -> list[int]:
    """Return a number from 0 to MOST_KEY for each name, the same on every machine."""
    return [crc32(name.encode("utf-8", "surrogatepass")) & MOST_KEY for name in names]


def contexts_of(form: str, upos: str, xpos: str, feats: str) -> list[str]:
    """Return what is known about a form with its tags; the first NARROW are about tags and casing only."""
    lower, shape = form.lower(), shape_of(form)
    names = ["", f"u={upos}", f"x={xpos}", f"f={upos} {feats}", f"c={upos} {shape}"]
    names += [f"v={upos} {value}" for value in feats.split("|")]
    for length in range(1, min(len(lower), 6) + 1):
        suffix = lower[-length:]
        names += [f"s={suffix}", f"su={suffix} {upos}"]
        if length <= 4:
            names += [f"sf={suffix} {upos} {feats}", f"sx={suffix} {xpos}"]
    names += [f"p={lower[:length]} {upos}" for length in range(1, min(len(lower), 4) + 1)]
    names += [f"n={min(len(lower), 8)} {upos}", f"w={lower}"]
    return names


def shape_of(form: str) -> str:
    """Return how a form is written: lower, Title, UPPER, X (one capital), mixed or none, with - or 0 if in it."""
    if form.islower():
        shape = "lower"
    elif form.isupper():
        shape = "UPPER" if len(form) > 1 else "X"
    elif form[:1].isupper() and form[1:].islower():
        shape = "Title"
    else:
        shape = "none" if form.lower() == form.upper() else "mixed"
    return shape + ("-" if "-" in form else "") + ("0" if any(map(str.isdigit, form)) else "")


def keys_of_tree(tree: EditTree) -> list[str]:
    """Return what is known about a candidate by its tree: WIDE names."""
    return [f"t={tree}", f"a={tree.after}", f"casing={tree.casing}"]


def lemma_keys(form: str, lemma: str, evidence: Evidence) -> list[str]:
    """Return what is known about a candidate by its lemma, besides its tree."""
    names = [f"l={lemma[-length:]}" for length in range(1, min(len(lemma), 5) + 1)]
    names += [f"{name}={min(count, 2)}" for name, count in zip(Evidence._fields, evidence, strict=True)]
    names += [f"known={''.join(str(int(count > 0)) for count in evidence)}", f"shape={shape_of(lemma)}"]
    if lemma == form:
        names.append("same")
    return names
