"""The question that every report answers first: do sub-structures and γ pay, beyond step and margin, and where?

On each dataset the best rule with sub-structures is compared with the best rule without that has the same step. Both
are chosen on the dev set, margins included. The effect of step and margin alone is what the best rule without
sub-structures, of any step, gains over CSP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from swvp.evaluation.paired import Difference, Ints, compare_seeds, holm
from swvp.studies.common.rules import Chosen
from swvp.studies.common.tables import (
    GROUP,
    SIGNIFICANT,
    Cell,
    Column,
    PageRow,
    PageTable,
    interval_text,
    listed,
    p_text,
    page_cells,
    signed,
)

__all__ = [
    "QUESTION",
    "Answer",
    "Contrast",
    "answer_lines",
    "answer_table",
    "answered",
    "compare_family",
    "is_significant",
]

QUESTION = "Do sub-structures and γ pay, beyond step and margin?"


@dataclass(frozen=True)
class Contrast:
    """A dataset: the best rule with sub-structures, the best one without and with the same step, and their difference.

    `plain` is the best rule without sub-structures and of any step, and `alone` its difference from CSP.
    """

    dataset: str
    best: str
    rival: str
    plain: str
    tested: Difference
    alone: Difference


@dataclass(frozen=True)
class Answer:
    """The contrasts of all datasets, and the means of their differences. `group` names them if there are several."""

    group: str
    contrasts: list[Contrast]
    mean: Difference
    alone: Difference

    @property
    def rows(self) -> list[Contrast]:
        """The contrasts, and with several datasets their mean."""
        mean = [Contrast("Mean", "", "", "", self.mean, self.alone)] if len(self.contrasts) > 1 else []
        return [*self.contrasts, *mean]


Counts = Mapping[str, Ints]
"""(right, total) of each seed and test sentence, by rule."""


def answered(
    group: str, chosen: Sequence[tuple[str, Chosen]], counts: Mapping[str, Counts], *, csp: str, samples: int
) -> Answer | None:
    """Test the chosen rules of each dataset, with their names in `counts`; None without any dataset."""
    if not chosen:
        return None
    tests, mean = compare_seeds(
        [(counts[dataset][rules.rival], counts[dataset][rules.best]) for dataset, rules in chosen], samples=samples
    )
    alone, alone_mean = compare_seeds(
        [(counts[dataset][csp], counts[dataset][rules.plain]) for dataset, rules in chosen], samples=samples
    )
    contrasts = [Contrast(name, *rules, *found) for (name, rules), *found in zip(chosen, tests, alone, strict=True)]
    return Answer(group, contrasts, mean, alone_mean)


def compare_family(
    family: Mapping[str, Sequence[tuple[Ints, Ints]]], *, samples: int
) -> dict[str, tuple[list[Difference], Difference]]:
    """Test several rules on the same datasets.

    The p-values are corrected for all rules and datasets together, those of the means for all rules.
    """
    found = {rule: compare_seeds(pairs, samples=samples) for rule, pairs in family.items()}
    corrected = iter(holm([test.p for tests, _ in found.values() for test in tests]))
    of_means = holm([mean.p for _, mean in found.values()])
    return {
        rule: ([replace(test, corrected=next(corrected)) for test in tests], replace(mean, corrected=p))
        for (rule, (tests, mean)), p in zip(found.items(), of_means, strict=True)
    }


def is_significant(test: Difference) -> bool:
    """Return whether the corrected p-value is below the level."""
    return test.corrected < SIGNIFICANT


# ---------------------------------------------------------------- the three lines


def answer_lines(answers: Sequence[Answer], measure: str, datasets: str) -> list[str]:
    """Return the first lines of a report; `measure` is what is measured, `datasets` what the datasets are called."""
    if not answers:
        return [
            f"{QUESTION} This study cannot say: it needs a rule with sub-structures, and one without that has the same "
            "step, such as a-wm and csp, or a-uniform:mira and mira."
        ]
    verdicts = [grouped(answer, verdict(answer.mean, len(answer.contrasts), measure, datasets)) for answer in answers]
    places = [grouped(answer, where(answer, datasets)) for answer in answers]
    alone = [grouped(answer, without(answer)) for answer in answers]
    return [
        f"{QUESTION} {' '.join(verdicts)}",
        f"Where? {' '.join(places)}",
        f"Step and margin alone, the best rule without sub-structures and of any step against CSP: {'; '.join(alone)}.",
    ]


def grouped(answer: Answer, text: str) -> str:
    return f"{answer.group}: {text[0].lower()}{text[1:]}" if answer.group else text


def verdict(test: Difference, number: int, measure: str, datasets: str) -> str:
    """Say yes, no or that there is no evidence, with the mean gain."""
    mean = f" on the mean of {number} {datasets}" if number > 1 else ""
    points, interval = f"{signed(test.difference)} points of {measure}{mean}", interval_and_p(test, test.p)
    if test.p >= SIGNIFICANT:
        return f"No evidence ({points}, {interval})."
    return f"{'Yes' if test.difference > 0 else 'No, they cost'}: {points} ({interval})."


def where(answer: Answer, datasets: str) -> str:
    """Say on which datasets the difference is significant, and its direction on the others."""
    if len(answer.contrasts) == 1:
        one = answer.contrasts[0]
        return f"{one.dataset}: {one.best} against {one.rival}."
    clear = [one for one in answer.contrasts if is_significant(one.tested)]
    parts = []
    for word, sign in (("above", 1), ("below", -1)):
        found = [one for one in clear if sign * one.tested.difference > 0]
        names = [f"{one.dataset} {signed(one.tested.difference)} ({one.best} against {one.rival})" for one in found]
        parts += [f"significantly {word} on {listed(names)}"] if names else []
    rest = [f"{one.dataset} {signed(one.tested.difference)}" for one in answer.contrasts if one not in clear]
    if rest:
        nowhere = "" if parts else f"on none of the {datasets}: "
        parts.append(f"{nowhere}no significant difference on {listed(rest)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def without(answer: Answer) -> str:
    rules = listed(list(dict.fromkeys(one.plain for one in answer.contrasts)))
    return f"{signed(answer.alone.difference)} points with {rules} ({interval_and_p(answer.alone, answer.alone.p)})"


def interval_and_p(test: Difference, p: float) -> str:
    text = f"p\u00a0=\u00a0{p_text(p)}".replace("=\u00a0<", "<\u00a0")
    return f"95\u00a0% interval {interval_text(test.interval)}, {text}"


# ---------------------------------------------------------------- the table

COLUMNS: dict[str, Column[Contrast]] = {
    "best": Column(heading="With sub-structures", value=lambda row: row.best, page=str),
    "rival": Column(heading="Without, same step", value=lambda row: row.rival, page=str),
    "gain": Column(heading="Difference", value=lambda row: row.tested.difference, page=signed),
    "interval": Column(heading="95 % interval", value=lambda row: row.tested.interval, page=interval_text),
    "p": Column(heading="p", value=lambda row: row.tested.p, page=p_text),
    "holm": Column(heading="Holm", value=lambda row: row.tested.corrected, page=p_text),
    "plain": Column(heading="Without, any step", value=lambda row: row.plain, page=str),
    "alone": Column(heading="− CSP", value=lambda row: row.alone.difference, page=signed),
    "alone_holm": Column(heading="Holm", value=lambda row: row.alone.corrected, page=p_text),
}


def answer_table(answers: Sequence[Answer], dataset: str) -> PageTable:
    """Return all contrasts in one table; significant ones are bold."""
    lines = []
    for answer in answers:
        rows = answer.rows
        lines += [PageRow(answer.group, [], GROUP)] if answer.group else []
        cells = zip(*(page_cells(column, rows) for column in COLUMNS.values()), strict=True)
        for row, line in zip(rows, cells, strict=True):
            bold = [
                (name in ("gain", "interval", "p", "holm") and is_significant(row.tested))
                or (name in ("alone", "alone_holm") and is_significant(row.alone))
                for name in COLUMNS
            ]
            marked = [Cell(cell.text, is_bold) for cell, is_bold in zip(line, bold, strict=True)]
            lines.append(PageRow(row.dataset, marked, "" if row.best else "sum"))
    return PageTable("The answer", [dataset, *(column.heading for column in COLUMNS.values())], lines)
