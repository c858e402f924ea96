"""Owns the check that two treebanks hold the same words, and where they part if not.

Owns the scores of predicted trees, counted as the official scorers count them.

All tokens are scored, labels whole: as eval07.pl (CoNLL 2007) and `eval.pl -p` (CoNLL-X). Without punctuation by form,
which is every token made of Unicode punctuation only: as eval.pl and `eval07.pl -p`. Without punctuation by tag, which
is every token whose gold UPOS is PUNCT: as papers on UD do. Labels without subtypes, nsubj:pass as nsubj, and CLAS, the
F1 of content words: as conll18_ud_eval.py (CoNLL 2018) on the same words. UAS is the same with and without subtypes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.evaluation.counts import Confusion, Counts
from swvp.evaluation.paired import Comparison, compare_counts
from swvp.evaluation.tree_scores import Attachment, Bools, Group, TreeScores, attachment, groups
from swvp.features.context import is_punctuation
from swvp.io.table import Column
from swvp.parsing.checks import Ints, positions, sizes
from swvp.parsing.treebank import Treebank

__all__ = ["TreeScores", "check_same_words", "compare_trees", "evaluate_trees", "is_punctuation"]


def check_same_words(gold: Treebank, predicted: Treebank) -> None:
    """An error that names the first place where words, lengths or numbers of sentences differ."""
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
                raise InputError(f"{predicted.place(y)}: the word is '{b[y]}', at {gold.place(x)} '{a[x]}'")
        raise InputError(
            f"{predicted.place(of_predicted.start)}: a sentence of {counted(b[of_predicted].size, 'token')}, "
            f"at {gold.place(of_gold.start)} of {counted(a[of_gold].size, 'token')}"
        )
    less, more = sorted((gold, predicted), key=lambda treebank: treebank.number_of_sentences)
    raise InputError(
        f"{more.place(int(more.offsets[fewer]))}: sentence {fewer + 1} of {more.number_of_sentences}, "
        f"but {less.place(less.tokens - 1)} is the end of its {counted(fewer, 'sentence')}"
    )


def words_of(treebank: Treebank) -> NDArray[np.object_]:
    result: NDArray[np.object_] = np.array(treebank.words.strings, object)[treebank.words.ids]
    return result


def counted(number: int, what: str) -> str:
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
    """All scores of predicted trees; both treebanks must have the same words.

    >>> from swvp.parsing.treebank import treebank_of
    >>> gold = treebank_of([["Ann", "left"]], heads=[[2, 0]], labels=[["nsubj", "root"]])
    >>> found = treebank_of([["Ann", "left"]], heads=[[2, 0]], labels=[["obj", "root"]])
    >>> scores = evaluate_trees(gold, found)
    >>> scores.uas, scores.las
    (1.0, 0.5)
    """
    check_same_words(gold, predicted)
    offsets, of, found = gold.offsets, gold.trees, predicted.trees
    heads = of == found
    right_labels = both = universal = clas = confused = None
    by_label: dict[str, Group] = {}
    if gold.labels is not None and predicted.labels is not None:
        names, a, b = same_numbers(gold.labels, predicted.labels)
        right_labels = a == b
        both = heads & right_labels
        by_label = worst_first(groups(names, a, b, heads, both))
        confused = confusion_of(names, a, b)
        universal, clas = universal_scores(names, a, b, heads, offsets)
    own = positions(offsets)
    lengths = np.repeat(sizes(offsets), sizes(offsets))
    by_form = of_strings(gold.words, is_punctuation)
    by_tag = of_strings(gold.upos, PUNCT.__eq__)
    tags = gold.upos.ids.astype(np.int64)

    def in_bins(bounds: tuple[int, ...], x: Ints, y: Ints) -> dict[str, Group]:
        return groups(names_of(bounds), binned(bounds, x), binned(bounds, y), heads, both)

    return TreeScores(
        all=attachment(offsets, None, heads, right_labels),
        no_punctuation=attachment(offsets, ~by_form, heads, right_labels),
        no_punct=attachment(offsets, ~by_tag, heads, right_labels) if by_tag.any() else None,
        universal=universal,
        clas=clas,
        roots=Counts(*(int(np.count_nonzero(roots)) for roots in (of == 0, found == 0, (of == 0) & (found == 0)))),
        by_direction=groups(DIRECTIONS, direction(of, own), direction(found, own), heads, both),
        by_length=in_bins(ARC_LENGTHS, arc_lengths(of, own), arc_lengths(found, own)),
        by_sentence_length=in_bins(SENTENCE_LENGTHS, lengths, lengths),
        by_label=by_label,
        by_upos=worst_first(groups(gold.upos.strings, tags, tags, heads, both)),
        not_projective={
            "gold": group_of(gold.not_projective(), heads, both),
            "prediction": group_of(predicted.not_projective(), heads, both),
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
    """Compare two predictions by UAS (`uas`) or LAS (`las`) of all tokens, with whole labels."""
    counts = []
    for predicted in (first, second):
        check_same_words(gold, predicted)
        right = gold.trees == predicted.trees
        if measure == "las":
            if gold.labels is None or predicted.labels is None:
                raise InputError("LAS needs labels, in the gold trees and in the prediction")
            _, a, b = same_numbers(gold.labels, predicted.labels)
            right = right & (a == b)
        elif measure != "uas":
            raise InputError(f"trees are compared by 'uas' or 'las', not by {measure!r}")
        counts.append(np.stack([np.add.reduceat(right, gold.offsets[:-1], dtype=np.int64), sizes(gold.offsets)], 1))
    return compare_counts(measure, *counts, samples=samples, seed=seed)


def same_numbers(a: Column, b: Column) -> tuple[list[str], Ints, Ints]:
    """The strings of both columns, and which of them each token has in the one and in the other."""
    number = {string: k for k, string in enumerate(a.strings)}
    known = np.array([number.setdefault(string, len(number)) for string in b.strings], np.int64)
    return list(number), a.ids.astype(np.int64), known[b.ids]


def universal_scores(
    names: list[str], a: Ints, b: Ints, heads: Bools, offsets: Ints
) -> tuple[Attachment | None, Counts | None]:
    """The scores of labels without subtypes, and CLAS; None if no gold label is one of content words."""
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
    pairs, counts = np.unique(a * len(names) + b, return_counts=True)
    rows = zip(pairs.tolist(), counts.tolist(), strict=True)
    return Confusion({(names[pair // len(names)], names[pair % len(names)]): count for pair, count in rows})


def of_strings(column: Column, holds: Any) -> Bools:
    """For each token whether something holds of its string."""
    known = np.array([bool(holds(string)) for string in column.strings], np.bool_)
    result: Bools = known[column.ids]
    return result


def direction(heads: NDArray[np.int32], own: Ints) -> Ints:
    """Which of DIRECTIONS each arc has."""
    result: Ints = np.where(heads == 0, 0, np.where(heads < own, 1, 2))
    return result


def arc_lengths(heads: NDArray[np.int32], own: Ints) -> Ints:
    """How far each head is; 0 for the root."""
    result: Ints = np.where(heads == 0, 0, np.abs(heads - own))
    return result


def group_of(mask: Bools, heads: Bools, both: Bools | None) -> Group:
    """The tokens of a mask."""
    size, right = int(np.count_nonzero(mask)), int(np.count_nonzero(mask & heads))
    return Group(size, size, right, None if both is None else int(np.count_nonzero(mask & both)))


def worst_first(table: dict[str, Group]) -> dict[str, Group]:
    """The groups with the most wrong tokens first."""
    return dict(sorted(table.items(), key=lambda item: (-item[1].wrong, -item[1].gold, item[0])))


def binned(bounds: tuple[int, ...], values: Ints) -> Ints:
    """The bin of each number, -1 before the first."""
    return np.searchsorted(bounds, values, side="right").astype(np.int64) - 1


def names_of(bounds: tuple[int, ...]) -> list[str]:
    """The names of bins that begin at these numbers.

    >>> names_of((1, 2, 5))
    ['1', '2-4', '5-']
    """
    ends = [following - 1 for following in bounds[1:]]
    closed = [f"{begin}" if begin == end else f"{begin}-{end}" for begin, end in zip(bounds[:-1], ends, strict=True)]
    return [*closed, f"{bounds[-1]}-"]
