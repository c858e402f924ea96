"""The dependency tree of one sentence: its arcs, its scores against gold, its drawings; trees from and to treebanks.

A parser takes X and y in many forms: treebanks, files, texts, or sentences and their trees. `treebank_from` makes a
treebank of them, `trees_of` makes trees of what is predicted.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.files import write_whole
from swvp.io.table import Column
from swvp.io.tree_checks import check_lists, check_trees
from swvp.io.treebank import DEPREL, Treebank, read_treebank, treebank_of, treebank_of_table
from swvp.parsing.svg import draw_html, draw_svg
from swvp.parsing.text_tree import text_tree
from swvp.types import Floats, Heads

__all__ = ["Arc", "DependencyTree", "Sentences", "dev_set_from", "treebank_from", "trees_of"]

ROUNDING = 1e-6  # tolerance for sums of probabilities
SHOWN = 30  # characters of a word in a message


class Arc(NamedTuple):
    """A word, its head and the label of the arc; the head of a root is 0 and its head word None."""

    word: str
    head: int
    label: str | None
    head_word: str | None


@dataclass(frozen=True, slots=True, repr=False)
class DependencyTree:
    """The dependency tree of a sentence.

    It is drawn as text by `print`, as SVG by `save` and in notebooks. Iterating over it gives the `Arc` of each word.

    Parameters
    ----------
    words : sequence of str
    heads : sequence of int
        The head of each word: the number of a word, from 1, or 0 for a root. Several roots are allowed, a cycle is not.
    labels : sequence of str, optional
        The label of the arc into each word.
    tags : sequence of str, optional
        The part of speech of each word.
    gold_heads, gold_labels : sequences, optional
        The right heads and labels.
    confidence : sequence of float, optional
        The probability of the arc into each word.

    Examples
    --------
    >>> tree = DependencyTree(["The", "dog", "barks"], [2, 3, 0], ["det", "nsubj", "root"])
    >>> print(tree)
        ╭─ 1 The    det
      ╭─┴─ 2 dog    nsubj
    ──┴─── 3 barks  root
    >>> list(tree)[1]
    Arc(word='dog', head=3, label='nsubj', head_word='barks')
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    gold_heads: tuple[int, ...] | None = None
    gold_labels: tuple[str, ...] | None = None
    confidence: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # a frozen dataclass has no other way
        set_field(self, "words", strings("words", self.words))
        for name in ("labels", "tags", "gold_labels"):
            if (given := getattr(self, name)) is not None:
                set_field(self, name, of_size(name, strings(name, given), len(self)))
        set_field(self, "heads", heads_of("heads", self.heads, self.words))
        if self.gold_heads is not None:
            set_field(self, "gold_heads", heads_of("gold_heads", self.gold_heads, self.words))
        elif self.gold_labels is not None:
            raise InputError("gold_labels need gold_heads")
        if self.confidence is not None:
            set_field(self, "confidence", probabilities(self.confidence, len(self)))

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Arc]:
        """Iterate over the arcs into the words, in the order of the words."""
        labels = self.labels or (None,) * len(self)
        for word, head, label in zip(self.words, self.heads, labels, strict=True):
            yield Arc(word, head, label, self.words[head - 1] if head else None)

    @property
    def root(self) -> int | None:
        """The number of the root, the first if there are several; None if there are no words."""
        return next(iter(self.children(0)), None)

    def children(self, k: int) -> tuple[int, ...]:
        """Return the numbers of the words whose head is word k; the children of 0 are the roots.

        Parameters
        ----------
        k : int
            The number of a word, or 0.

        Returns
        -------
        tuple of int
        """
        if not (isinstance(k, numbers.Integral) and 0 <= k <= len(self)):
            raise InputError(f"there is no word {k!r}: the sentence has words 1 to {len(self)}")
        return tuple(m for m, head in enumerate(self.heads, 1) if head == k)

    @property
    def is_projective(self) -> bool:
        """Whether no two arcs cross if those from 0 start before the first word."""
        spans = [(min(pair), max(pair)) for pair in enumerate(self.heads, 1)]
        return not any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(spans, 2))

    @property
    def uas(self) -> float | None:
        """The share of words with the right head, punctuation included; None without gold heads."""
        if self.gold_heads is None or not self.words:
            return None
        return share(self.heads, self.gold_heads)

    @property
    def las(self) -> float | None:
        """The share of words with the right head and label; None without labels or gold labels."""
        if self.gold_heads is None or self.gold_labels is None or self.labels is None or not self.words:
            return None
        predicted = tuple(zip(self.heads, self.labels, strict=True))
        return share(predicted, tuple(zip(self.gold_heads, self.gold_labels, strict=True)))

    def to_conllu(self) -> str:
        """Return the predicted tree as a sentence of CoNLL-U, with tags as UPOS and the confidence in MISC.

        Returns
        -------
        str
        """
        rows = []
        for k, arc in enumerate(self):
            tag = self.tags[k] if self.tags else ""
            misc = f"Confidence={self.confidence[k]:.4f}" if self.confidence else "_"
            cells = [arc.word, "", tag, "", "", str(arc.head), arc.label or "", "", misc]
            for cell in cells:
                if any(mark in cell for mark in "\t\n\r"):
                    raise InputError(f"CoNLL-U cannot hold {cut(cell)}: it has a tab or a line break")
            rows.append("\t".join([str(k + 1), *(cell or "_" for cell in cells)]) + "\n")
        return "".join([*rows, "\n"])

    def save(self, path: str | Path) -> None:
        """Write the drawing as an SVG file.

        Parameters
        ----------
        path : str or Path
            A name that ends in .svg.
        """
        if Path(path).suffix.lower() != ".svg":
            raise InputError(f"a tree is saved as SVG: the name must end in .svg, not as in {str(path)!r}")
        write_whole(Path(path), draw_svg(self))

    def __str__(self) -> str:
        return text_tree(self)

    def __repr__(self) -> str:
        fields = ((name, getattr(self, name)) for name in self.__slots__)
        return f"DependencyTree({', '.join(f'{name}={value!r}' for name, value in fields if value is not None)})"

    def _repr_svg_(self) -> str:
        return draw_svg(self)

    def _repr_html_(self) -> str:
        return draw_html(self)


def share(predicted: Sequence[object], gold: Sequence[object]) -> float:
    """Return the share of predictions that equal gold."""
    return sum(a == b for a, b in zip(predicted, gold, strict=True)) / len(gold)


def strings(name: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InputError(f"{name} must be a sequence of strings, not one string {cut(given)}")
    values = items(name, given)
    for value in values:
        if not isinstance(value, str):
            raise InputError(f"{name} must be strings, not {cut(value)}")
    return tuple(map(str, values))


def items(name: str, given: Any) -> tuple[Any, ...]:
    try:
        return tuple(given)
    except TypeError:
        raise InputError(f"{name} must be a sequence, not {cut(given)}") from None


def of_size(name: str, given: tuple[Any, ...], size: int) -> tuple[Any, ...]:
    if len(given) != size:
        raise InputError(f"there are {size} words but {len(given)} {name}")
    return given


def heads_of(name: str, given: Any, words: Sequence[str]) -> tuple[int, ...]:
    """Return heads as Python integers; raise InputError if they do not form a tree."""
    values = of_size(name, items(name, given), len(words))
    for k, head in enumerate(values, 1):
        if not isinstance(head, numbers.Integral) or isinstance(head, bool):
            raise InputError(f"{name} must be whole numbers, not {cut(head)} for word {k}")
        if not 0 <= int(head) <= len(words):
            raise InputError(f"{name}: word {k} has head {head}; it must be 0 to {len(words)}")
    heads = tuple(map(int, values))
    if cycle := find_cycle(heads):
        path = " → ".join(f"{k} {cut(words[k - 1])}" for k in cycle[:5]) + (" → …" if len(cycle) > 5 else "")
        raise InputError(f"{name} are not a tree: a cycle {path}")
    return heads


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, with the first one again at the end, or an empty list for a tree.

    >>> find_cycle([2, 3, 2])
    [2, 3, 2]
    """
    reached = [0] * (len(heads) + 1)  # by the walk from which word
    for start in range(1, len(heads) + 1):
        k, walk = start, []
        while k and not reached[k]:
            reached[k] = start
            walk.append(k)
            k = heads[k - 1]
        if k and reached[k] == start:
            return [*walk[walk.index(k) :], k]
    return []


def probabilities(given: Any, size: int) -> tuple[float, ...]:
    values = of_size("confidence", items("confidence", given), size)
    for k, value in enumerate(values, 1):
        if not (isinstance(value, numbers.Real) and -ROUNDING <= float(value) <= 1 + ROUNDING):
            raise InputError(f"confidence must be probabilities from 0 to 1, not {cut(value)} for word {k}")
    return tuple(min(max(float(value), 0.0), 1.0) for value in values)


def cut(value: Any) -> str:
    """Return a value for a message, cut to one short line."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def trees_of(
    treebank: Treebank, heads: Heads, labels: Column | None, confidence: Floats | None = None
) -> NDArray[np.object_]:
    """Return a tree for each sentence of a treebank, with these heads and the gold trees that the treebank has."""
    words, tags = (np.array(column.strings, object)[column.ids] for column in (treebank.words, treebank.upos))
    tagged = treebank.upos.strings != ["_"]
    label_strings = None if labels is None else np.array(labels.strings, object)[labels.ids]
    gold = None if treebank.labels is None else np.array(treebank.labels.strings, object)[treebank.labels.ids]
    trees = np.empty(treebank.number_of_sentences, object)
    for i in range(len(trees)):
        part = treebank.sentence(i)
        trees[i] = DependencyTree(
            words=tuple(words[part]),
            heads=tuple(heads[part].tolist()),
            labels=None if label_strings is None else tuple(label_strings[part]),
            tags=tuple(tags[part]) if tagged else None,
            gold_heads=None if treebank.heads is None else tuple(treebank.heads[part].tolist()),
            gold_labels=None if gold is None or treebank.heads is None else tuple(gold[part]),
            confidence=None if confidence is None else tuple(confidence[part].tolist()),
        )
    return trees


# ---------------------------------------------------------------- X and y of a parser

Sentences = Any
"""A `Treebank`, the text of a CoNLL-U file or its path, or a list of sentences: lists of tokens."""


def treebank_from(X: Sentences, y: Any = None, *, heads: bool | None) -> Treebank:
    """Return X and y as a treebank: with heads, without, or, if `heads` is None, with heads if X has them."""
    if isinstance(X, (Treebank, str, Path)):
        if y is not None:
            raise InputError("y is for sentences as lists of tokens: a treebank has its own heads")
        if isinstance(X, Treebank):
            return with_checked_trees(X) if heads else X
        return from_text(X, heads)
    if heads and y is None:
        raise InputError("y is missing: give the heads of each sentence")
    check_lists("the sentences", X, "sentences")
    if y is None:
        return treebank_of(X) if len(X) else empty_treebank()
    check_lists("y", y, "trees, one for each sentence")
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sentences and y has {len(y)}")
    trees = [tree_of(tree, i) for i, tree in enumerate(y)]
    labelled = [labels is not None for _, labels in trees]
    if any(labelled) and not all(labelled):
        raise InputError(f"sentence {labelled.index(False)} of y has no labels, others have")
    return treebank_of(X, [tree for tree, _ in trees], [labels for _, labels in trees] if any(labelled) else None)


def check_is_list_of_sentences(X: Sentences, *, tagged: bool) -> None:
    """Raise InputError if X is one sentence of tuples for a parser of `tagged` words, not a list of sentences."""
    if not tagged or not isinstance(X, (list, tuple)) or not X:
        return
    if all(isinstance(token, tuple) and len(token) in (2, 5) and all(map(is_string, token)) for token in X):
        raise InputError(f"X looks like one sentence, whose first token is {cut(X[0])}: put it into a list")


def is_string(value: object) -> bool:
    return isinstance(value, str)


def dev_set_from(dev: Any) -> Treebank | None:
    """Return the `dev` of `fit`, a treebank or a pair (X, y), as a treebank with heads."""
    return None if dev is None else treebank_from(*(dev if isinstance(dev, tuple) else (dev,)), heads=True)


def with_checked_trees(treebank: Treebank) -> Treebank:
    """Return a treebank made by a user; raise InputError if its heads are not trees."""
    heads = np.asarray(treebank.trees)
    if heads.shape != (treebank.tokens,) or heads.dtype.kind not in "iu":
        raise InputError(f"{treebank.name}: heads must be whole numbers, one for each of its {treebank.tokens} words")
    check_trees(heads, treebank.offsets, treebank.place)
    return treebank.with_trees(heads.astype(np.int32, copy=False), treebank.labels)


def from_text(X: str | Path, heads: bool | None) -> Treebank:
    """Return the treebank of a text or a file. If `heads` is None, heads that are not trees are ignored."""
    is_text = isinstance(X, str) and ("\t" in X or "\n" in X)
    if heads is not None:
        return Treebank.from_text(str(X), heads=heads) if is_text else read_treebank(X, heads=heads)
    without = Treebank.from_text(str(X), heads=False) if is_text else read_treebank(X, heads=False)
    assert without.table is not None
    try:
        return treebank_of_table(without.table, heads=True) if without.table.width > DEPREL else without
    except InputError:
        return without


def empty_treebank() -> Treebank:
    """Return a treebank without sentences, which only prediction accepts."""
    empty = Column([], np.zeros(0, np.int32))
    return Treebank(empty, empty, empty, empty, empty, np.zeros(1, np.int64))


def tree_of(tree: Any, number: int) -> tuple[list[Any], list[str] | None]:
    """Return the heads and the labels of one item of y: heads, pairs (head, label), or a `DependencyTree`."""
    if isinstance(tree, DependencyTree):
        return list(tree.heads), None if tree.labels is None else list(tree.labels)
    if isinstance(tree, (str, bytes)) or (not isinstance(tree, Sequence) and not hasattr(tree, "__iter__")):
        raise InputError(f"sentence {number} of y must be a list of heads, not {tree!r}")
    tokens = list(tree)
    if all(isinstance(token, (tuple, list)) and len(token) == 2 for token in tokens) and tokens:
        return [head for head, _ in tokens], [label for _, label in tokens]
    if not all(isinstance(token, numbers.Integral) for token in tokens):
        raise InputError(f"sentence {number} of y must be a list of heads, or of pairs (head, label)")
    return tokens, None
