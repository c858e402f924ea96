"""Scores of predicted trees, equal to those of the official scorers, and the comparison of two predictions.

| tokens, labels | scorer |
|---|---|
| all tokens, labels with subtypes | eval07.pl (CoNLL 2007), `eval.pl -p` (CoNLL-X) |
| without tokens that are only Unicode punctuation | eval.pl, `eval07.pl -p` |
| without tokens whose gold UPOS is PUNCT | papers on UD |
| labels without subtypes (nsubj:pass as nsubj); CLAS, the F1 of content words | conll18_ud_eval.py (CoNLL 2018) |

UAS is the same with and without subtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.evaluation.counts import Confusion, Counts
from swvp.evaluation.paired import Comparison, compare_counts
from swvp.evaluation.tree_scores import Attachment, Bools, Group, TreeScores, attachment, groups
from swvp.features.context import is_punctuation
from swvp.io.table import Column
from swvp.io.tree_checks import positions, sizes
from swvp.io.treebank import Treebank
from swvp.types import Ints

__all__ = [
    "TREE_MEASURES",
    "TreeScores",
    "attachment_counts",
    "check_same_words",
    "compare_trees",
    "evaluate_trees",
    "is_punctuation",
]

Heads = NDArray[np.int32]

TREE_MEASURES = ("uas", "las")
RAW_TEXT = "for an analysis of raw text, whose tokens may differ, use --raw"


def check_same_words(gold: Treebank, predicted: Treebank) -> None:
    """Raise InputError, with the first place where they differ, if two treebanks do not have the same sentences."""
    a, b = words_of(gold), words_of(predicted)
    if np.array_equal(a, b) and np.array_equal(gold.offsets, predicted.offsets):
        return
    fewer = min(gold.number_of_sentences, predicted.number_of_sentences)
    for number in range(fewer):
        of_gold, of_predicted = gold.sentence(number), predicted.sentence(number)
        if np.array_equal(a[of_gold], b[of_predicted]):
            continue
        for x, y in zip(range(of_gold.start, of_gold.stop), range(of_predicted.start, of_predicted.stop), strict=False):
            if a[x] != b[y]:
                raise InputError(
                    f"{predicted.place(y)}: the word is '{b[y]}', but '{a[x]}' at {gold.place(x)}; {RAW_TEXT}"
                )
        raise InputError(
            f"{predicted.place(of_predicted.start)}: a sentence of {counted(b[of_predicted].size, 'token')}, "
            f"at {gold.place(of_gold.start)} of {counted(a[of_gold].size, 'token')}; {RAW_TEXT}"
        )
    less, more = sorted((gold, predicted), key=lambda treebank: treebank.number_of_sentences)
    raise InputError(
        f"{more.place(int(more.offsets[fewer]))}: sentence {fewer + 1} of {more.number_of_sentences}, "
        f"but {less.place(less.tokens - 1)} is the end of its {counted(fewer, 'sentence')}"
    )


def words_of(treebank: Treebank) -> NDArray[np.object_]:
    """Return the word of each token."""
    result: NDArray[np.object_] = np.array(treebank.words.strings, object)[treebank.words.ids]
    return result


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural if the number is not 1."""
    return f"{number} {what}{'' if number == 1 else 's'}"


PUNCT = "PUNCT"
# fmt: off
CONTENT = frozenset(
    (
        "acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse",
        "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl",
        "orphan", "parataxis", "reparandum", "root", "vocative", "xcomp",
    )
)
# fmt: on
ARC_LENGTHS = (1, 2, 3, 7, 15, 31)  # the first four begin the bins of eval.pl
SENTENCE_LENGTHS = (1, 11, 21, 31, 41)
DIRECTIONS = ["root", "head before", "head after"]


def evaluate_trees(gold: Treebank, predicted: Treebank) -> TreeScores:
    """Score predicted trees.

    Parameters
    ----------
    gold, predicted : Treebank
        Trees of the same words. Without labels in both, only heads are scored.

    Returns
    -------
    TreeScores

    Raises
    ------
    InputError
        If the words differ, or a treebank has no heads.

    Examples
    --------
    >>> from swvp.io import treebank_of
    >>> gold = treebank_of([["Ann", "left"]], heads=[[2, 0]], labels=[["nsubj", "root"]])
    >>> predicted = treebank_of([["Ann", "left"]], heads=[[2, 0]], labels=[["obj", "root"]])
    >>> scores = evaluate_trees(gold, predicted)
    >>> scores.uas, scores.las
    (1.0, 0.5)
    """
    check_same_words(gold, predicted)
    offsets, gold_heads, predicted_heads = gold.offsets, gold.trees, predicted.trees
    heads = gold_heads == predicted_heads
    right_labels = both = universal = clas = confused = None
    by_label: dict[str, Group] = {}
    if gold.labels is not None and predicted.labels is not None:
        names, a, b = same_numbers(gold.labels, predicted.labels)
        right_labels = a == b
        both = heads & right_labels
        by_label = worst_first(groups(names, a, b, heads, both))
        confused = confusion_of(names, a, b)
        universal, clas = universal_scores(names, a, b, heads, offsets)
    modifiers = positions(offsets)
    lengths = np.repeat(sizes(offsets), sizes(offsets))
    by_form = of_strings(gold.words, is_punctuation)
    by_tag = of_strings(gold.upos, PUNCT.__eq__)
    tags = gold.upos.ids.astype(np.int64)
    gold_roots, predicted_roots = gold_heads == 0, predicted_heads == 0

    def by_arc(names: list[str], kind: Callable[[Heads, Ints], Ints]) -> dict[str, Group]:
        return groups(names, kind(gold_heads, modifiers), kind(predicted_heads, modifiers), heads, both)

    def length_bins(heads: Heads, modifiers: Ints) -> Ints:
        return binned(ARC_LENGTHS, arc_lengths(heads, modifiers))

    by_length = binned(SENTENCE_LENGTHS, lengths)
    return TreeScores(
        all=attachment(offsets, None, heads, right_labels),
        no_punctuation=attachment(offsets, ~by_form, heads, right_labels),
        no_punct=attachment(offsets, ~by_tag, heads, right_labels) if by_tag.any() else None,
        universal=universal,
        clas=clas,
        roots=Counts(*(int(np.count_nonzero(a)) for a in (gold_roots, predicted_roots, gold_roots & predicted_roots))),
        by_direction=by_arc(DIRECTIONS, direction),
        by_length=by_arc(names_of(ARC_LENGTHS), length_bins),
        by_sentence_length=groups(names_of(SENTENCE_LENGTHS), by_length, by_length, heads, both),
        by_label=by_label,
        by_upos=worst_first(groups(gold.upos.strings, tags, tags, heads, both)),
        not_projective={
            "gold": group_of(gold.nonprojective_arcs(), heads, both),
            "prediction": group_of(predicted.nonprojective_arcs(), heads, both),
        },
        confusion=confused,
    )


def compare_trees(
    gold: Treebank,
    first: Treebank,
    second: Treebank,
    *,
    measure: str = "uas",
    samples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare two predictions of trees by a paired bootstrap and a paired permutation test.

    Parameters
    ----------
    gold, first, second : Treebank
        Trees of the same words: the gold ones and the two predictions.
    measure : {"uas", "las"}
        UAS or LAS of all tokens; labels with their subtypes.
    samples, seed : int
        The number of samples of each test, and the seed of the random draws.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from swvp.io import treebank_of
    >>> words = [["Ann", "left"]] * 20
    >>> gold, wrong = treebank_of(words, heads=[[2, 0]] * 20), treebank_of(words, heads=[[0, 1]] * 20)
    >>> compare_trees(gold, wrong, gold).difference
    1.0
    """
    counts = [attachment_counts(gold, predicted, measure) for predicted in (first, second)]
    return compare_counts(measure, *counts, samples=samples, seed=seed)


def attachment_counts(gold: Treebank, predicted: Treebank, measure: str = "uas") -> Ints:
    """Return (right, total) of each sentence: an array of shape (sentences, 2), for `compare_sets`.

    Parameters
    ----------
    gold, predicted : Treebank
        Trees of the same words.
    measure : {"uas", "las"}
        Count right heads, or right heads and labels.

    Examples
    --------
    >>> from swvp.io import treebank_of
    >>> gold, predicted = (treebank_of([["Ann", "left"]], heads=[heads]) for heads in ([2, 0], [0, 1]))
    >>> attachment_counts(gold, predicted).tolist()
    [[0, 2]]
    """
    if measure not in TREE_MEASURES:
        raise InputError(f"trees are compared by 'uas' or 'las', not by {measure!r}")
    check_same_words(gold, predicted)
    right = gold.trees == predicted.trees
    if measure == "las":
        if gold.labels is None or predicted.labels is None:
            raise InputError("LAS needs labels, in the gold trees and in the prediction")
        _, a, b = same_numbers(gold.labels, predicted.labels)
        right = right & (a == b)
    return np.stack([np.add.reduceat(right, gold.offsets[:-1], dtype=np.int64), sizes(gold.offsets)], 1)


def same_numbers(a: Column, b: Column) -> tuple[list[str], Ints, Ints]:
    """Return the strings of both columns, and their number for each token of the one and of the other."""
    number = {string: k for k, string in enumerate(a.strings)}
    numbers_of_b = np.array([number.setdefault(string, len(number)) for string in b.strings], np.int64)
    return list(number), a.ids.astype(np.int64), numbers_of_b[b.ids]


def universal_scores(
    names: list[str], a: Ints, b: Ints, heads: Bools, offsets: Ints
) -> tuple[Attachment | None, Counts | None]:
    """Return the scores of labels without subtypes, and CLAS; None if no gold label is one of content words."""
    without = [name.partition(":")[0] for name in names]
    number = {name: k for k, name in enumerate(dict.fromkeys(without))}
    cut = np.array([number[name] for name in without])
    content = np.array([name in CONTENT for name in without])
    if not content[a].any():
        return None, None
    right = cut[a] == cut[b]
    correct = np.count_nonzero(content[a] & right & heads)
    clas = Counts(int(np.count_nonzero(content[a])), int(np.count_nonzero(content[b])), int(correct))
    return attachment(offsets, None, heads, right), clas


def confusion_of(names: list[str], a: Ints, b: Ints) -> Confusion:
    """Count the pairs of label numbers."""
    pairs, counts = np.unique(a * len(names) + b, return_counts=True)
    rows = zip(pairs.tolist(), counts.tolist(), strict=True)
    return Confusion({(names[pair // len(names)], names[pair % len(names)]): count for pair, count in rows})


def of_strings(column: Column, holds: Any) -> Bools:
    """Return for each token whether a condition holds of its string."""
    known = np.array([bool(holds(string)) for string in column.strings], np.bool_)
    result: Bools = known[column.ids]
    return result


def direction(heads: Heads, modifiers: Ints) -> Ints:
    """Return the number in DIRECTIONS of each arc."""
    result: Ints = np.where(heads == 0, 0, np.where(heads < modifiers, 1, 2))
    return result


def arc_lengths(heads: Heads, modifiers: Ints) -> Ints:
    """Return the distance of each word from its head; 0 for the root."""
    result: Ints = np.where(heads == 0, 0, np.abs(heads - modifiers))
    return result


def group_of(mask: Bools, heads: Bools, both: Bools | None) -> Group:
    """Return the scores of the tokens of a mask."""
    size, right = int(np.count_nonzero(mask)), int(np.count_nonzero(mask & heads))
    return Group(size, size, right, None if both is None else int(np.count_nonzero(mask & both)))


def worst_first(table: dict[str, Group]) -> dict[str, Group]:
    """Return the groups sorted, those with the most wrong tokens first."""
    return dict(sorted(table.items(), key=lambda item: (-item[1].wrong, -item[1].gold, item[0])))


def binned(bounds: tuple[int, ...], values: Ints) -> Ints:
    """Return the bin of each number, -1 for those before the first bin."""
    return np.searchsorted(bounds, values, side="right").astype(np.int64) - 1


def names_of(bounds: tuple[int, ...]) -> list[str]:
    """Return the names of bins that begin at these numbers.

    Examples
    --------
    >>> names_of((1, 2, 5))
    ['1', '2-4', '5-']
    """
    ends = [following - 1 for following in bounds[1:]]
    closed = [f"{begin}" if begin == end else f"{begin}-{end}" for begin, end in zip(bounds[:-1], ends, strict=True)]
    return [*closed, f"{bounds[-1]}-"]
