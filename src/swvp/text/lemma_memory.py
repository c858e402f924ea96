"""What a lemmatizer remembers of its training set: analyses of forms, and candidates for other forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from swvp.text.edit_trees import EditTree, apply

__all__ = ["Analysis", "Evidence", "LemmaMemory"]

LONGEST_SUFFIX = 6
FEW = 12
"""From long suffixes to short ones, trees are tried until so many lemmas are found."""
PER_SUFFIX = 8
"""How many trees are tried for one suffix, the most frequent first."""
ANY = ""


class Analysis(NamedTuple):
    """What training has of a form with a tag: the number of its edit tree, and how many tokens."""

    form: str
    upos: str
    feats: str
    tree: int
    tokens: int


class Evidence(NamedTuple):
    """In how many other analyses a lemma occurs: with the same form, UPOS and FEATS (in other casing), …, at all."""

    form_and_tag: int
    form_and_upos: int
    form: int
    upos: int
    anywhere: int


class LemmaMemory:
    """Analyses of forms, indexed by form and tag, by suffix, and by lemma.

    Parameters
    ----------
    trees : list of EditTree
    analyses : list of Analysis
        In the order of their first occurrence; each tree fits its form.
    """

    def __init__(self, trees: Sequence[EditTree], analyses: Sequence[Analysis]):
        self.trees, self.analyses = list(trees), list(analyses)
        self.lemmas = [lemma_of(self.trees[analysis.tree], analysis.form) for analysis in analyses]
        self.best: dict[tuple[str, str, str], int] = {}
        for number, analysis in enumerate(self.analyses):
            known = self.best.setdefault(analysis[:3], number)
            if analysis.tokens > self.analyses[known].tokens:
                self.best[analysis[:3]] = number
        self.characters = {character for analysis in self.analyses for character in analysis.form.lower()}
        self._count()
        self._index_suffixes()

    def _count(self) -> None:
        """Count the analyses of each lemma, alone and with what else they have."""
        self.counts: list[dict[tuple[str, ...], int]] = [{} for _ in Evidence._fields]
        self.of_form: dict[str, list[str]] = {}
        self.of_tag: dict[tuple[str, str, str], list[str]] = {}
        for analysis, lemma in zip(self.analyses, self.lemmas, strict=True):
            lower = analysis.form.lower()
            for counted, key in zip(self.counts, keys_of(lower, analysis.upos, analysis.feats, lemma), strict=True):
                counted[key] = counted.get(key, 0) + 1
            of_form = self.of_form.setdefault(lower, [])
            if lemma not in of_form:
                of_form.append(lemma)
            self.of_tag.setdefault(analysis[:3], []).append(lemma)

    def _index_suffixes(self) -> None:
        """Find the most frequent trees of each suffix in lower case, with and without UPOS."""
        counts: dict[tuple[str, str], dict[int, int]] = {}
        for analysis in self.analyses:
            lower = analysis.form.lower()
            for length in range(min(LONGEST_SUFFIX, len(lower)) + 1):
                suffix = lower[len(lower) - length :]
                for upos in (analysis.upos, ANY):
                    trees = counts.setdefault((upos, suffix), {})
                    trees[analysis.tree] = trees.get(analysis.tree, 0) + 1
        self.of_suffix = {
            key: sorted(trees, key=lambda tree: (-trees[tree], tree))[:PER_SUFFIX] for key, trees in counts.items()
        }

    def recall(self, form: str, upos: str, feats: str) -> str | None:
        """Return the most frequent lemma of a form with this tag, or None if it is not in training."""
        number = self.best.get((form, upos, feats))
        return None if number is None else self.lemmas[number]

    def evidence(self, form: str, upos: str, feats: str, lemma: str, *, without: bool) -> Evidence:
        """Return the evidence for a lemma; `without` the analyses of this very form and tag, as in training."""
        own = self.of_tag.get((form, upos, feats), ()).count(lemma) if without else 0
        keys = keys_of(form.lower(), upos, feats, lemma)
        return Evidence(*[counted.get(key, 0) - own for counted, key in zip(self.counts, keys, strict=True)])

    def candidates(self, form: str, upos: str) -> dict[str, int]:
        """Return the lemmas that a form may have, each with the number of the tree that makes it.

        Training says nothing of a form most of whose characters it never saw, such as an emoji or another script: there
        are no candidates.
        """
        lower = form.lower()
        found: dict[str, int] = {}
        if 2 * sum(character in self.characters for character in lower) < len(lower):
            return found
        for tag in (upos, ANY):
            for length in range(min(LONGEST_SUFFIX, len(lower)), -1, -1):
                for tree in self.of_suffix.get((tag, lower[len(lower) - length :]), ()):
                    lemma = apply(self.trees[tree], form)
                    if lemma:
                        found.setdefault(lemma, tree)
                if len(found) >= FEW:
                    return found
        return found


def keys_of(lower: str, upos: str, feats: str, lemma: str) -> Iterable[tuple[str, ...]]:
    return (lower, upos, feats, lemma), (lower, upos, lemma), (lower, lemma), (upos, lemma), (lemma,)


def lemma_of(tree: EditTree, form: str) -> str:
    lemma = apply(tree, form)
    if lemma is None:
        raise ValueError(f"an edit tree that does not fit '{form}'")
    return lemma
