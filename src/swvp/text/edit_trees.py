"""Edit trees: how a lemma is made from a form, as a rule that fits other forms too.

An edit tree (Chrupała 2006) splits form and lemma at their longest common substring and continues on both sides. All
lengths are fixed except that of the substring at the root. So a tree is written flat here: steps from the start of the
form, then the part of any length that is kept, then steps up to the end. A step keeps a number of characters or
replaces one string by another. Before that, the casing of the form may be changed.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from swvp.io.model_files import require

__all__ = ["CASINGS", "EditTree", "apply", "as_json", "described_steps", "described_tree", "edit_tree", "from_json"]

Step = int | tuple[str, str]
"""The number of characters to keep, or (old, new)."""

CASINGS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "keep": str,
    "title": lambda form: form[:1].upper() + form[1:].lower(),
    "upper": str.upper,
}
"""How the casing of a form may be changed before it is edited; of equally good ones, the first is learnt."""

LONGEST = 100
"""Longer forms and lemmas are only compared as a whole: matching takes quadratic time."""


class EditTree(NamedTuple):
    """How a form becomes a lemma.

    Parameters
    ----------
    casing : str
        One of CASINGS.
    before, after : tuple of steps
        What happens before and after the part of any length that is kept.
    whole : bool
        Whether there is no such part: `before` replaces the whole form.
    """

    casing: str
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    whole: bool


def edit_tree(form: str, lemma: str) -> EditTree:
    """Return the edit tree that makes a lemma from a form.

    The casing is that which leaves the fewest characters to insert.

    Parameters
    ----------
    form, lemma : str

    Returns
    -------
    EditTree

    Examples
    --------
    >>> edit_tree("Walked", "walk")
    EditTree(casing='lower', before=(), after=(('ed', ''),), whole=False)
    >>> edit_tree("θάλασσες", "θάλασσα") == edit_tree("γλώσσες", "γλώσσα")
    True
    """
    names = list(CASINGS) if lemma != lemma.lower() or lemma == form else ["lower"]
    bases = dict.fromkeys(CASINGS[name](form) for name in names)
    trees = [tree_of(base, lemma) for base in bases]
    fewest = min(inserted(tree) for tree in trees)
    base, tree = next((base, tree) for base, tree in zip(bases, trees, strict=True) if inserted(tree) == fewest)
    casing = next(name for name in names if CASINGS[name](form) == base)
    return tree._replace(casing=casing)


def tree_of(base: str, lemma: str) -> EditTree:
    """Return the tree of a form whose casing is right already; its casing is "keep"."""
    if base == lemma:
        return EditTree("keep", (), (), False)
    replaced = EditTree("keep", ((base, lemma),), (), True)
    if max(len(base), len(lemma)) > LONGEST:
        return replaced
    blocks = SequenceMatcher(None, base, lemma, autojunk=False).get_matching_blocks()[:-1]
    if not blocks:
        return replaced
    root = max(range(len(blocks)), key=lambda number: blocks[number].size)
    steps: list[Step] = []
    before: tuple[Step, ...] = ()
    a = b = 0
    for number, block in enumerate(blocks):
        if block.a > a or block.b > b:
            steps.append((base[a : block.a], lemma[b : block.b]))
        if number == root:
            before, steps = tuple(steps), []
        else:
            steps.append(block.size)
        a, b = block.a + block.size, block.b + block.size
    if a < len(base) or b < len(lemma):
        steps.append((base[a:], lemma[b:]))
    return EditTree("keep", before, tuple(steps), False)


def inserted(tree: EditTree) -> int:
    """Return how many characters a tree inserts."""
    return sum(len(step[1]) for step in (*tree.before, *tree.after) if not isinstance(step, int))


def apply(tree: EditTree, form: str) -> str | None:
    """Return the lemma that a tree makes from a form, or None if the tree does not fit it.

    Examples
    --------
    >>> tree = edit_tree("walked", "walk")
    >>> apply(tree, "Talked"), apply(tree, "talks")
    ('talk', None)
    """
    base = CASINGS[tree.casing](form)
    if tree.whole:
        return edited(tree.before, base, 0) if len(base) == width(tree.before) else None
    start, end = width(tree.before), len(base) - width(tree.after)
    if start > end:
        return None
    before, after = edited(tree.before, base, 0), edited(tree.after, base, end)
    if before is None or after is None:
        return None
    return before + base[start:end] + after


def width(steps: tuple[Step, ...]) -> int:
    """Return how many characters of a form these steps take."""
    return sum(step if isinstance(step, int) else len(step[0]) for step in steps)


def edited(steps: tuple[Step, ...], base: str, at: int) -> str | None:
    """Return what the steps make of the characters from `at` on, or None if they do not fit."""
    made = ""
    for step in steps:
        if isinstance(step, int):
            made += base[at : at + step]
            at += step
        else:
            old, new = step
            if not base.startswith(old, at):
                return None
            made += new
            at += len(old)
    return made


def as_json(tree: EditTree) -> list[Any]:
    """Return a tree as lists, for a model file."""
    steps = [[step if isinstance(step, int) else list(step) for step in part] for part in (tree.before, tree.after)]
    return [tree.casing, *steps, tree.whole]


def from_json(value: Any) -> EditTree:
    """Return the tree that `as_json` wrote; raise InputError if it is not one."""
    require(isinstance(value, list) and len(value) == 4, "edit tree")
    casing, before, after, whole = value
    require(isinstance(casing, str) and casing in CASINGS and isinstance(whole, bool), "edit tree")
    tree = EditTree(casing, steps_from(before), steps_from(after), whole)
    require(not whole or (len(tree.before) == 1 and not isinstance(tree.before[0], int) and not after), "edit tree")
    return tree


def steps_from(value: Any) -> tuple[Step, ...]:
    require(isinstance(value, list), "edit tree")
    return tuple(step_from(step) for step in value)


def step_from(value: Any) -> Step:
    if type(value) is int:
        require(0 < value <= LONGEST, "edit tree")
        return value
    require(isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value), "edit tree")
    return value[0], value[1]


def described_tree(tree: EditTree) -> str:
    """Return a tree for people: … stands for the part of any length, · for a character that is kept.

    >>> described_tree(edit_tree("Walked", "walk"))
    '…ed→'
    >>> described_tree(EditTree("title", (("α", "ά"),), (("ώ", "ω"), 1, ("ων", "ος")), False))
    'α→ά…ώ→ω·ων→ος in title casing'
    """
    middle = "" if tree.whole else "…"
    casing = "" if tree.casing == "lower" else f" in {tree.casing} casing"
    return f"{described_steps(tree.before)}{middle}{described_steps(tree.after)}{casing}"


def described_steps(steps: tuple[Step, ...]) -> str:
    """Return steps for people."""
    return "".join("·" * step if isinstance(step, int) else "→".join(step) for step in steps)
