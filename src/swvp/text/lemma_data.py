"""The data of a lemmatizer: what it remembers of a treebank, and the words on which epochs are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.table import Column
from swvp.io.treebank import Treebank
from swvp.structures.ranking import Ranking, rank_all
from swvp.text.edit_trees import EditTree, edit_tree
from swvp.text.lemma_memory import Analysis, LemmaMemory
from swvp.types import Floats

__all__ = ["NONE", "DevWords", "Word", "distinct", "first_xpos", "memory_of", "select"]

NONE = "_"

Word = tuple[str, str, str, str]
"""Form, UPOS, XPOS and FEATS."""

Rank = Callable[[Sequence[Word]], tuple[Ranking, list[list[str]]]]
"""What returns the candidates of words, as arrays and as lemmas."""


class DevWords:
    """The words of a dev set that the memory does not have, with their candidates."""

    def __init__(self, memory: LemmaMemory, rank: Rank, treebank: Treebank):
        counts: dict[tuple[Word, str], int] = {}
        for form, lemma, upos, xpos, feats in rows_of(treebank):
            if memory.recall(form, upos, feats) is None:
                key = (form, upos, xpos, feats), lemma
                counts[key] = counts.get(key, 0) + 1
        self.problem, candidates = rank([word for word, _ in counts])
        self.counts = np.array(list(counts.values()), np.int64)
        lemmas = [lemma for _, lemma in counts]
        self.right = np.array(
            [candidate == lemma for found, lemma in zip(candidates, lemmas, strict=True) for candidate in found], bool
        )

    def score(self, w: Floats) -> float:
        """Return the number of tokens whose best candidate is right."""
        scores = np.empty(len(self.right))
        rank_all(self.problem, w, scores)
        total = 0
        for i, (a, b) in enumerate(
            zip(self.problem.offsets[:-1].tolist(), self.problem.offsets[1:].tolist(), strict=True)
        ):
            if b > a and self.right[a + int(scores[a:b].argmax())]:
                total += int(self.counts[i])
        return float(total)


def rows_of(treebank: Treebank) -> Iterable[tuple[str, str, str, str, str]]:
    """Yield form, lemma, UPOS, XPOS and FEATS of each word."""
    columns = treebank.words, treebank.lemmas, treebank.upos, treebank.xpos, treebank.feats
    texts = [[column.strings[number] for number in column.ids.tolist()] for column in columns]
    return zip(*texts, strict=True)


def memory_of(treebank: Treebank) -> LemmaMemory:
    """Return the analyses of a treebank's words; words without a lemma (_) are left out, except _ itself."""
    counts: dict[tuple[str, str, str, str], int] = {}
    for form, lemma, upos, _, feats in rows_of(treebank):
        if lemma != NONE or form == NONE:
            counts[form, upos, feats, lemma] = counts.get((form, upos, feats, lemma), 0) + 1
    if not any(lemma != NONE for _, _, _, lemma in counts):
        raise InputError(f"{treebank.name}: no lemmas (all are _); give a treebank with lemmas, or leave lemmas out")
    number_of: dict[EditTree, int] = {}
    trees: dict[tuple[str, str], int] = {}
    analyses = []
    for (form, upos, feats, lemma), count in counts.items():
        if (form, lemma) not in trees:
            trees[form, lemma] = number_of.setdefault(edit_tree(form, lemma), len(number_of))
        analyses.append(Analysis(form, upos, feats, trees[form, lemma], count))
    return LemmaMemory(list(number_of), analyses)


def first_xpos(treebank: Treebank) -> dict[tuple[str, str, str], str]:
    """Return the first XPOS of each form with its UPOS and FEATS."""
    found: dict[tuple[str, str, str], str] = {}
    for form, _, upos, xpos, feats in rows_of(treebank):
        found.setdefault((form, upos, feats), xpos)
    return found


def select(problem: Ranking, examples: NDArray[np.int64]) -> Ranking:
    """Return some of the examples; those without a gold candidate cannot be learnt."""
    if len(examples) == len(problem.gold):
        return problem

    def parts(starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lengths = np.diff(starts)[chosen]
        begins = np.concatenate([[0], np.cumsum(lengths)])
        return np.repeat(starts[chosen] - begins[:-1], lengths) + np.arange(begins[-1]), begins

    contexts, context_starts = parts(problem.context_starts, examples)
    candidates, offsets = parts(problem.offsets, examples)
    keys, key_starts = parts(problem.key_starts, candidates)
    return problem._replace(
        contexts=problem.contexts[contexts],
        context_starts=context_starts,
        keys=problem.keys[keys],
        key_starts=key_starts,
        offsets=offsets,
        gold=problem.gold[examples],
    )


def distinct(*columns: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first token of each distinct row of some columns, and for each token the number of its row."""
    ids = np.zeros(len(columns[0].ids), np.int64)
    first = np.zeros(0, np.int64)
    for column in columns:  # numbers stay below tokens · strings, so they fit into 64 bits
        _, first, ids = np.unique(ids * len(column.strings) + column.ids, return_index=True, return_inverse=True)
        ids = ids.reshape(-1)
    return first, ids
