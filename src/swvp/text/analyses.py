"""The analyses of words, (UPOS, XPOS, FEATS): which ones a form may have, from training and by its ending.

A frequent form has the analyses that it was seen with, and the most likely ones of its ending. A rare or unknown form
has more of the latter, up to MOST in all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from swvp.io.model_files import require, strings

__all__ = ["Analyses", "Analysis"]

Analysis = tuple[str, str, str]

MOST, FEW = 18, 3
"""The largest number of candidates of a rare form; how many of a frequent form come from its ending."""
FREQUENT = 10
"""Forms that occur so often have most of their analyses in training."""
LONGEST_ENDING = 5
PER_ENDING = 32


class Analyses:
    """The known analyses, and those of forms and endings as numbers of them.

    Parameters
    ----------
    known : list of (str, str, str)
        The distinct analyses: UPOS, XPOS, FEATS.
    forms : dict of str to list of int
        The analyses of each form, the most frequent first.
    frequent : set of str
        The forms that occur often.
    endings : dict of str to list of int
        The analyses of rare forms with an ending, the most frequent first.
    """

    def __init__(
        self, known: list[Analysis], forms: dict[str, list[int]], frequent: set[str], endings: dict[str, list[int]]
    ):
        self.known, self.forms, self.frequent, self.endings = known, forms, frequent, endings

    def candidates(self, form: str, *, seen_once: bool = False) -> list[int]:
        """Return the analyses that a form may have.

        With `seen_once`, in training, the form itself is not looked up: later such forms will be unknown.
        """
        found = [] if seen_once else list(self.forms.get(form, ()))
        lower = form.lower()
        if lower != form:
            found += [number for number in self.forms.get(lower, ()) if number not in found]
        room = len(found) + FEW if form in self.frequent else max(MOST, len(found) + FEW)
        for ending in endings_of(form):
            for number in self.endings.get(ending, ()):
                if len(found) >= room:
                    return found
                if number not in found:
                    found.append(number)
        return found

    def contents(self) -> dict[str, Any]:
        """Return the description for a model file."""
        return {
            "analyses": ["\t".join(analysis) for analysis in self.known],
            "forms": list(self.forms),
            "of_forms": list(self.forms.values()),
            "frequent": [form in self.frequent for form in self.forms],
            "endings": list(self.endings),
            "of_endings": list(self.endings.values()),
        }

    @classmethod
    def from_contents(cls, meta: dict[str, Any]) -> Analyses:
        """Return the analyses of a model file; raise InputError if its parts do not fit together."""
        known = [tuple(analysis.split("\t")) for analysis in strings(meta["analyses"])]
        require(len(set(known)) == len(known) > 0 and all(len(analysis) == 3 for analysis in known), "analyses")
        forms, endings = strings(meta["forms"]), strings(meta["endings"])
        for names, numbers in ((forms, meta["of_forms"]), (endings, meta["of_endings"])):
            require(isinstance(numbers, list) and len(numbers) == len(names), "analyses of forms")
            require(all(isinstance(each, list) for each in numbers), "analyses of forms")
            right = all(type(number) is int and 0 <= number < len(known) for each in numbers for number in each)
            require(right, "analyses of forms")
        require(len(meta["frequent"]) == len(forms) and "" in endings and bool(meta["of_endings"]), "endings")
        frequent = {form for form, is_frequent in zip(forms, meta["frequent"], strict=True) if is_frequent}
        of_forms = dict(zip(forms, meta["of_forms"], strict=True))
        of_endings = dict(zip(endings, meta["of_endings"], strict=True))
        require(bool(of_endings[""]), "endings")
        return cls(known, of_forms, frequent, of_endings)  # type: ignore[arg-type]


def endings_of(form: str) -> list[str]:
    """Return the endings of a form, the longest first; with ^ if it begins with a capital, # if it has a digit.

    >>> endings_of("Ann")
    ['^ann', '^nn', '^n', '^', '']
    """
    lower = form.lower()
    kind = "#" if any(map(str.isdigit, form)) else "^" if form[:1].isupper() else "-"
    return [*(kind + lower[-size:] for size in range(min(LONGEST_ENDING, len(lower)), 0, -1)), kind, ""]


def learn_analyses(forms: Sequence[str], analyses: Sequence[Analysis]) -> Analyses:
    """Learn from the tokens of a treebank."""
    known = list(dict.fromkeys(analyses))
    number = {analysis: k for k, analysis in enumerate(known)}
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for form, analysis in zip(forms, analyses, strict=True):
        counts[form][number[analysis]] += 1
    by_ending: dict[str, Counter[int]] = defaultdict(Counter)
    for form, of_form in counts.items():
        if of_form.total() < FREQUENT:
            for ending in endings_of(form):
                by_ending[ending].update(of_form.keys())
    if not by_ending:
        by_ending[""].update(range(len(known)))
    return Analyses(
        known,
        {form: ranked(of_form) for form, of_form in counts.items()},
        {form for form, of_form in counts.items() if of_form.total() >= FREQUENT},
        {ending: ranked(of_ending)[:PER_ENDING] for ending, of_ending in by_ending.items()},
    )


def ranked(counts: Counter[int]) -> list[int]:
    """Return numbers by how often they were counted; of equals, the smaller first."""
    return sorted(counts, key=lambda number: (-counts[number], number))
