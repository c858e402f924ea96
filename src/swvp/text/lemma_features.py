"""What the model of lemmas sees: contexts of a form with its tags, and keys of a candidate lemma, as named features.

Names are hashed to numbers for `swvp.structures.ranking`: to change one is to change the model. People read
`described`.
"""

from __future__ import annotations

from binascii import crc32

from swvp.structures.ranking import MOST_KEY
from swvp.text.edit_trees import EditTree, described_steps, described_tree
from swvp.text.lemma_memory import Evidence

__all__ = ["NARROW", "WIDE", "contexts_of", "described", "hashed", "keys_of_tree", "lemma_keys"]

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


CONTEXTS = {
    "u": "{0}",
    "x": "XPOS {0}",
    "f": "{0} {1}",
    "c": "{0} in {1}",
    "v": "{0} {1}",
    "s": "-{0}",
    "su": "-{0} {1}",
    "sf": "-{0} {1}",
    "sx": "-{0} XPOS {1}",
    "p": "{0}- {1}",
    "n": "{0} letters {1}",
    "w": "{0}",
}
"""How contexts are shown, by the first word of what they hold and by the others."""

SEEN = {
    "form_and_tag": "with this form and tag",
    "form_and_upos": "with this form and UPOS",
    "form": "with this form",
    "upos": "with this UPOS",
    "anywhere": "anywhere",
}
TIMES = {"0": "never", "1": "once", "2": "twice or more"}


def described(context: str, key: str, tree: EditTree) -> str:
    """Return the feature of a context and a key for people; `tree` is that of the candidate.

    >>> tree = EditTree("lower", (), (("es", ""),), False)
    >>> described("su=es NOUN", f"t={tree}", tree)
    'word -es NOUN, edit …es→'
    >>> described("", "upos=2", tree)
    'lemma seen with this UPOS: twice or more'
    """
    text = described_key(key, tree)
    if not context:
        return text
    kind, _, value = context.partition("=")
    first, _, rest = value.partition(" ")
    return f"word {CONTEXTS[kind].format(first, rest).strip()}, {text}"


def described_key(key: str, tree: EditTree) -> str:
    """Return what a key says of a candidate."""
    kind, _, value = key.partition("=")
    if kind == "t":
        return f"edit {described_tree(tree)}"
    if kind == "a":
        return f"edit at the end: {described_steps(tree.after) or 'none'}"
    if kind in SEEN:
        return f"lemma seen {SEEN[kind]}: {TIMES[value]}"
    if kind == "known":
        places = [SEEN[name] for name, seen in zip(Evidence._fields, value, strict=True) if seen == "1"]
        return f"lemma seen {', '.join(places) or 'nowhere'}"
    texts = {"casing": f"casing: {value}", "l": f"lemma -{value}", "shape": f"lemma in {value}", "same": "lemma = word"}
    return texts[kind]
