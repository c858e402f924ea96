"""One update of a training, taken apart: what was predicted, its mixed assignments, γ, the step, what changed.

A notebook shows it as HTML: tokens with wrong ones marked, bars of margins and γ, the weights that changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from swvp.errors import escaped
from swvp.tables import WeightTable

__all__ = ["MixedAssignment", "Scores", "Update", "WeightChange", "update_html"]


@dataclass(frozen=True)
class MixedAssignment:
    """A mixed assignment m^J of an update, with its margin and its weight.

    Parameters
    ----------
    positions : tuple of int
        J: the wrong positions that have their predicted labels, from 0.
    label : tuple
        m^J: the predicted labels on J, the gold labels elsewhere.
    margin : float
        w·Δφ(x, y, m^J) before the update. If the learner requires a margin, that of the positions in J is subtracted.
    violation : bool
        Whether m^J scores at least as high as y: margin ≤ 0.
    gamma : float
        γ(m^J); 0 if the update does not use it.
    amount : float or None
        The factor of Δφ(x, y, m^J) in the update: step · γ. None with the step "ada", which has one for each feature.
    """

    positions: tuple[int, ...]
    label: tuple[Any, ...]
    margin: float
    violation: bool
    gamma: float
    amount: float | None


@dataclass(frozen=True)
class WeightChange:
    """A weight that an update changed.

    Parameters
    ----------
    feature : int
        Its number in the weight vector.
    name : str
        Its name; that of a hashed feature is the name in this sentence, others may share the weight.
    before, after : float
        The weight before and after the update.
    """

    feature: int
    name: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """The amount by which the weight grew."""
        return self.after - self.before


@dataclass(frozen=True)
class Scores:
    """The scores of two labels under the same weights.

    Parameters
    ----------
    gold : float
        w·φ(x, y).
    predicted : float
        w·φ(x, y*).
    """

    gold: float
    predicted: float


@dataclass(frozen=True)
class Update:
    """One mistake of a training and the update that followed; a notebook shows it as tables.

    Parameters
    ----------
    number : int
        Its number among the mistakes of the training, from 1.
    epoch : int
        The epoch, from 1.
    example : int
        The number of the example, from 0.
    rule : str
        The name of the update rule.
    structure : str
        "labels", or "heads" if the labels are heads of words (0 for the root, k for word k).
    tokens : tuple of str
        The words of the example, if they are known; else empty.
    gold, predicted : tuple
        y and y*.
    wrong_positions : tuple of int
        The positions where they differ, from 0.
    mixed : tuple of MixedAssignment
        The mixed assignments of the sub-structures JJ_x.
    back_off : MixedAssignment or None
        y* as a whole, if the update backed off to CSP because no γ meets the conditions.
    weighted_margin : float
        The left side of γ condition (2): Σγ(m^J) w·Δφ(x, y, m^J).
    condition_2 : bool
        Whether it is at most 0, so that condition (2) holds.
    excluded : int
        The number of mixed assignments that were excluded to impose condition (2).
    updated : bool
        Whether the weights changed. They do not if y* is no violation, because the search missed y.
    step : float or None
        The factor of Σγ(m^J) Δφ(x, y, m^J). None with the step "ada".
    changes : tuple of WeightChange
        The weights that changed most, the largest change first.
    changed_weights : int
        The number of weights that changed.
    before, after : Scores
        The scores of y and y* before and after the update.
    """

    number: int
    epoch: int
    example: int
    rule: str
    structure: str
    tokens: tuple[str, ...]
    gold: tuple[Any, ...]
    predicted: tuple[Any, ...]
    wrong_positions: tuple[int, ...]
    mixed: tuple[MixedAssignment, ...]
    back_off: MixedAssignment | None
    weighted_margin: float
    condition_2: bool
    excluded: int
    updated: bool
    step: float | None
    changes: tuple[WeightChange, ...]
    changed_weights: int
    before: Scores
    after: Scores

    @property
    def violations(self) -> int:
        """The number of violations among the mixed assignments of JJ_x."""
        return sum(mixed.violation for mixed in self.mixed)

    @property
    def used(self) -> tuple[MixedAssignment, ...]:
        """The mixed assignments in the update: those with γ > 0."""
        terms = self.mixed if self.back_off is None else (self.back_off,)
        return tuple(mixed for mixed in terms if mixed.gamma > 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the update as JSON can hold it: labels that are neither text nor numbers become text."""
        result = dataclasses.asdict(self)
        for label in (result, *result["mixed"], *([] if self.back_off is None else [result["back_off"]])):
            for name in ("gold", "predicted", "label"):
                if name in label:
                    label[name] = [plain(value) for value in label[name]]
        return result

    def changes_table(self) -> WeightTable:
        """Return the weights that changed most as a table."""
        rows = [(change.name, change.before, change.after, change.change) for change in self.changes]
        title = f"The {len(rows)} weights that changed most, of {self.changed_weights}"
        return WeightTable(title, ("feature", "before", "after", "change"), rows)

    def mixed_table(self) -> WeightTable:
        """Return the mixed assignments of the update as a table; positions are counted from 1."""
        rows: list[tuple[Any, ...]] = [
            (shown_positions(mixed.positions), mixed.margin, "yes" if mixed.violation else "no", shown_gamma(mixed))
            for mixed in self.mixed
        ]
        if self.back_off is not None:
            rows.append(("back-off", self.back_off.margin, "yes", shown_gamma(self.back_off)))
        return WeightTable("Mixed assignments", ("J", "margin", "violation", "gamma"), rows)

    def _repr_html_(self) -> str:
        return update_html(self)


def plain(value: Any) -> Any:
    """A label for JSON."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def shown_positions(positions: Sequence[int]) -> str:
    """J as people read it, counted from 1; neighbours as a range.

    >>> shown_positions((0, 1, 2, 4))
    '{1–3, 5}'
    """
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][-1] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    parts = [f"{run[0] + 1}" if len(run) == 1 else f"{run[0] + 1}–{run[-1] + 1}" for run in runs]
    return f"{{{', '.join(parts)}}}"


def shown_gamma(mixed: MixedAssignment) -> str:
    return f"{mixed.gamma:.3f}"


STYLE = (
    ".swvp-update{font:14px/1.45 system-ui,sans-serif;max-width:60em}"
    ".swvp-update table{border-collapse:collapse;margin:.4em 0 1em}"
    ".swvp-update caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".swvp-update th,.swvp-update td{text-align:left;padding:.15em .7em .15em 0;border-bottom:1px solid #8884}"
    ".swvp-update .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".swvp-update .wrong{color:#c0392b;font-weight:600}"
    ".swvp-update .bar{display:inline-block;height:.7em;border-radius:2px;background:#8888}"
    ".swvp-update .violation{background:#d55e00}.swvp-update .gamma{background:#0072b2}"
    "@media(prefers-color-scheme:dark){.swvp-update .wrong{color:#ff8a75}}"
)
BAR = 8.0
"""The width of the longest bar, in em."""


def update_html(update: Update) -> str:
    """Return tables of an update; every text of the data is escaped."""
    parts = [title(update), tokens_table(update), mixed_table(update), conclusion(update), changes_table(update)]
    return f'<div class="swvp-update"><style>{STYLE}</style>{"".join(parts)}</div>'


def text(value: Any) -> str:
    return escape(escaped(str(value)))


def title(update: Update) -> str:
    where = f"epoch {update.epoch}, example {update.example + 1}, rule {text(update.rule)}"
    return f"<p><b>Mistake {update.number}</b>, {where}</p>"


def table(caption: str, headings: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f"<th>{text(heading)}</th>" for heading in headings)
    return f"<table><caption>{text(caption)}</caption><tr>{head}</tr>{''.join(rows)}</table>"


def tokens_table(update: Update) -> str:
    """The gold and the predicted label of each position; wrong ones are marked."""
    wrong = set(update.wrong_positions)
    rows = []
    for k in range(max(len(update.gold), len(update.predicted))):
        token = update.tokens[k] if k < len(update.tokens) else ""
        gold, predicted = (label[k] if k < len(label) else "" for label in (update.gold, update.predicted))
        mark = ' class="wrong"' if k in wrong else ""
        cells = f"<td>{text(token)}</td><td>{text(gold)}</td><td{mark}>{text(predicted)}</td>"
        rows.append(f"<tr><td class=n>{k + 1}</td>{cells}</tr>")
    what = "head" if update.structure == "heads" else "label"
    return table("Gold and predicted", ("", "token", f"gold {what}", f"predicted {what}"), rows)


def mixed_table(update: Update) -> str:
    terms = [*update.mixed, *([] if update.back_off is None else [update.back_off])]
    largest = max((abs(mixed.margin) for mixed in terms), default=0.0) or 1.0
    rows = [mixed_row(mixed, largest, "back-off" if mixed is update.back_off else None) for mixed in terms]
    return table("Mixed assignments", ("J", "margin", "", "violation", "γ", ""), rows)


def mixed_row(mixed: MixedAssignment, largest: float, name: str | None) -> str:
    positions = name or "{" + ", ".join(str(k + 1) for k in mixed.positions) + "}"
    kind = "violation" if mixed.violation else ""
    return (
        f"<tr><td>{positions}</td><td class=n>{mixed.margin:+.3f}</td>"
        f"<td>{bar(abs(mixed.margin) / largest, kind)}</td><td>{'yes' if mixed.violation else 'no'}</td>"
        f"<td class=n>{mixed.gamma:.3f}</td><td>{bar(mixed.gamma, 'gamma')}</td></tr>"
    )


def bar(share: float, kind: str) -> str:
    return f'<span class="bar {kind}" style="width:{BAR * share:.2f}em"></span>'


def conclusion(update: Update) -> str:
    """Condition (2), the step, and the scores before and after."""
    sign = "≤ 0, holds" if update.condition_2 else "> 0, fails"
    step = "one for each feature" if update.step is None else f"{update.step:.4g}"
    kind = (
        "No update" if not update.updated else "Back-off to CSP" if update.back_off is not None else "Weighted update"
    )
    rows = [
        f"<tr><th>{name}</th><td class=n>{scores.gold:.3f}</td><td class=n>{scores.predicted:.3f}</td>"
        f"<td class=n>{scores.gold - scores.predicted:+.3f}</td></tr>"
        for name, scores in (("before", update.before), ("after", update.after))
    ]
    condition = f"Condition (2): Σγ·margin = {update.weighted_margin:.3f} {sign}. Step: {step}. {kind}."
    return f"<p>{condition}</p>" + table("Scores", ("", "gold", "predicted", "difference"), rows)


def changes_table(update: Update) -> str:
    rows = [
        f"<tr><td>{text(change.name)}</td><td class=n>{change.before:+.3f}</td><td class=n>{change.after:+.3f}</td>"
        f"<td class=n>{change.change:+.3f}</td></tr>"
        for change in update.changes
    ]
    caption = f"The {len(rows)} weights that changed most, of {update.changed_weights}"
    return table(caption, ("feature", "before", "after", "change"), rows)
