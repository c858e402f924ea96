"""An update as HTML for notebooks: tokens with wrong ones marked, bars of margins and γ, the weights that changed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from swvp.errors import escaped

if TYPE_CHECKING:
    from swvp.tracing.update import MixedAssignment, Update

__all__ = ["update_html"]

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
