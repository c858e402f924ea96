"""Multiword tokens: which tokens stand for several words, and for which ones, as in Italian della: di la.

An expansion is looked up by the form, then by the form in lower case, then by the longest ending that rules know. A
rule is learnt from all tokens that end alike: if almost all of them are expanded in the same way, others are too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, Self

from numpy.typing import NDArray

from swvp.io.model_files import Memory, require, strings
from swvp.io.table import Table
from swvp.text.treebank_text import surface_sentences

__all__ = ["Expander"]

LONGEST_ENDING = 8
LEAST_FORMS, LEAST_SHARE = 3, 0.9
"""A rule needs so many different forms, and so large a share of all forms with its ending."""

Words = tuple[str, ...]


class Expander:
    """Expands multiword tokens.

    Parameters
    ----------
    expansions : mapping of str to tuple of str
        The words of known forms, which are at most one word for forms that are no multiword tokens.
    rules : mapping of str to (int, tuple of str)
        For an ending of forms, how many characters of it are replaced, and the pieces that replace them; the first
        piece belongs to the first word.
    """

    def __init__(self, expansions: Mapping[str, Words], rules: Mapping[str, tuple[int, Words]]):
        self.expansions, self.rules = dict(expansions), dict(rules)
        self.longest = max(map(len, self.rules), default=0)

    def __len__(self) -> int:
        return len(self.expansions)

    def expand(self, form: str) -> Words | None:
        """Return the words of a multiword token; None if the form is one word."""
        words = self.expansions.get(form)
        if words is None:
            lower = self.expansions.get(form.lower())
            words = None if lower is None else with_case_of(form, lower)
        if words is None:
            words = self._by_rule(form)
        return words if words is not None and len(words) > 1 else None

    def _by_rule(self, form: str) -> Words | None:
        for size in range(min(self.longest, len(form) - 1), 0, -1):
            rule = self.rules.get(form[-size:])
            if rule is not None:
                replaced, (first, *others) = rule
                return (form[: len(form) - replaced] + first, *others)
        return None

    @classmethod
    def train(cls, table: Table) -> Self:
        """Learn from a file in CoNLL-U; a form that is mostly one word is not expanded.

        Parameters
        ----------
        table : Table
            From `swvp.io.read_table`.

        Returns
        -------
        Expander
        """
        seen: dict[str, Counter[Words]] = defaultdict(Counter)
        for _, tokens in surface_sentences(table):
            for token in tokens:
                seen[token.form][token.words] += 1
        most = {form: counts.most_common(1)[0][0] for form, counts in seen.items()}
        expansions = {form: words for form, words in most.items() if any(len(each) > 1 for each in seen[form])}
        return cls(expansions, learn_rules(most))

    def contents(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the description and the arrays, for a model file."""
        meta = {
            "forms": list(self.expansions),
            "words": [list(words) for words in self.expansions.values()],
            "endings": list(self.rules),
            "replaced": [replaced for replaced, _ in self.rules.values()],
            "pieces": [list(pieces) for _, pieces in self.rules.values()],
        }
        return meta, {}

    @staticmethod
    def array_names(meta: dict[str, Any]) -> set[str]:
        """Return the names of the arrays of an expander: it has none."""
        return set()

    @classmethod
    def from_contents(cls, given: dict[str, Any], arrays: Mapping[str, NDArray[Any]], memory: Memory) -> Self:
        """Return the expander of a model file; raise InputError if its parts do not fit together."""
        forms, endings = strings(given["forms"]), strings(given["endings"])
        words, pieces = ([tuple(strings(part)) for part in given[name]] for name in ("words", "pieces"))
        replaced = list(given["replaced"])
        require(len(forms) == len(words) and all(words), "expansions")
        require(len(endings) == len(replaced) == len(pieces) and all(endings) and all(pieces), "rules of expansions")
        whole = zip(endings, replaced, strict=True)
        require(all(type(size) is int and 0 <= size <= len(ending) for ending, size in whole), "rules of expansions")
        rules = dict(zip(endings, zip(replaced, pieces, strict=True), strict=True))
        return cls(dict(zip(forms, words, strict=True)), rules)


def with_case_of(form: str, words: Words) -> Words:
    """Return words in the case of a form that differs from a known one only in case.

    >>> with_case_of("Della", ("di", "la")), with_case_of("DELLA", ("di", "la"))
    (('Di', 'la'), ('DI', 'LA'))
    """
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    return (words[0][:1].upper() + words[0][1:], *words[1:]) if form[:1].isupper() else words


def learn_rules(most: Mapping[str, Words]) -> dict[str, tuple[int, Words]]:
    """Learn the endings of forms that are almost always expanded in the same way."""
    forms: Counter[str] = Counter()
    uses: dict[str, Counter[tuple[int, Words]]] = defaultdict(Counter)
    for form, words in most.items():
        kept = common_prefix(form, words[0])
        replaced = len(form) - kept
        for size in range(1, min(LONGEST_ENDING, len(form) - 1) + 1):
            ending = form[-size:]
            forms[ending] += 1
            if len(words) > 1 and size >= replaced:
                uses[ending][replaced, (words[0][kept:], *words[1:])] += 1
    rules = {}
    for ending, counts in uses.items():
        rule, count = counts.most_common(1)[0]
        if count >= LEAST_FORMS and count >= LEAST_SHARE * forms[ending]:
            rules[ending] = rule
    return {ending: rule for ending, rule in sorted(rules.items()) if not implied(ending, rule, rules)}


def implied(ending: str, rule: tuple[int, Words], rules: Mapping[str, tuple[int, Words]]) -> bool:
    """Return whether a shorter ending has the same rule, and none between has another."""
    for size in range(len(ending) - 1, 0, -1):
        shorter = rules.get(ending[-size:])
        if shorter is not None:
            return shorter == rule
    return False


def common_prefix(a: str, b: str) -> int:
    """Return how many characters two strings have in common at the beginning."""
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
