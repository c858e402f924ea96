"""Run what the pages for teachers show, and draw their figures: `python docs/figures/make_gallery.py`.

The figures are light or dark, as the reader's system is.
"""

import tempfile
from html import escape
from pathlib import Path

import numpy as np

from swvp import StructuredPerceptron, as_rule
from swvp.learning.perceptron import run_epochs
from swvp.structures.operations import averaged_weights, weights
from swvp.studies import SyntheticSettings, run_synthetic
from swvp.studies.synthetic.runs import make_dataset, new_model
from swvp.studies.synthetic.settings import LENGTH, SETUPS
from swvp.tracing import lesson

FOLDER = Path(__file__).parent
STYLE = """<style>
svg{--ground:#fff;--text:#1c1f23;--quiet:#667085;--line:#d9dde3;--gold:#1f5fa8;--wrong:#d55e00;--gamma:#0072b2;--csp:#1c1f23}
@media(prefers-color-scheme:dark){svg{--ground:#131517;--text:#e6e8eb;--quiet:#98a2b3;--line:#343a43;--gold:#6fb1ff;
--wrong:#f08a3c;--gamma:#56b4e9;--csp:#e6e8eb}}
text{fill:var(--text)}.quiet{fill:var(--quiet)}.right{text-anchor:end}.middle{text-anchor:middle}
.arc,.line{fill:none;stroke-width:2}.thin{fill:none;stroke-width:.8;opacity:.35}
</style>"""


def svg(name, width, height, title, parts):
    """Write a figure."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="14" role="img"><title>{escape(title)}</title>{STYLE}'
        f'<rect width="{width}" height="{height}" fill="var(--ground)"/>'
    )
    (FOLDER / name).write_text("\n".join([head, *parts, "</svg>"]) + "\n", encoding="utf-8")


def label(x, y, text, kind=""):
    return f'<text x="{x:g}" y="{y:g}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{escape(str(text))}</text>'


# ---------------------------------------------------------------- one sentence

STEP, LEFT, BASE = 104, 120, 150


def arc(head, word, colour, below):
    """An arc from a head to a word, above or below the words; from the root it is a straight line."""
    x, sign, foot = LEFT + (word - 1) * STEP, 1 if below else -1, BASE + (14 if below else -18)
    tip = f"M{x - 4} {foot + 7 * sign} L{x} {foot} L{x + 4} {foot + 7 * sign}"
    if head == 0:
        path = f"M{x} {foot + 95 * sign} V{foot}"
    else:
        start = LEFT + (head - 1) * STEP + (9 if word > head else -9)
        top = foot + sign * (22 + 27 * abs(head - word))
        path = f"M{start} {foot} C{start} {top} {x} {top} {x} {foot}"
    return f'<path class="arc" stroke="var(--{colour})" d="{path} {tip}"/>'


def one_sentence():
    """Figure 1 of the paper: gold arcs above, predicted arcs below, and the margin and γ of each wrong word."""
    figure = lesson("figure-1")
    learner = StructuredPerceptron(figure.problem, rule="a-wm", shuffle=False)
    update = next(learner.trace(figure.X, figure.y, initial=figure.initial))
    parts = [label(12, 24, "gold"), label(12, BASE + 70, "predicted")]
    parts += [arc(head, k, "gold", below=False) for k, head in enumerate(update.gold, 1)]
    for k, head in enumerate(update.predicted, 1):
        parts.append(arc(head, k, "wrong" if k - 1 in update.wrong_positions else "line", below=True))
    for k, word in enumerate(update.tokens):
        parts.append(label(LEFT + k * STEP, BASE + 4, word, "middle"))
    top = BASE + 140
    parts += [label(12, top + 22, "margin"), label(12, top + 52, "γ of CSP"), label(12, top + 82, "γ of a-wm")]
    for mixed in update.mixed:
        x = LEFT + mixed.positions[0] * STEP
        share, colour = abs(mixed.margin) / 4, "wrong" if mixed.violation else "quiet"
        parts.append(f'<rect x="{x - 38}" y="{top + 9}" width="{44 * share:g}" height="16" fill="var(--{colour})"/>')
        parts.append(label(x + 40, top + 22, f"{mixed.margin:+.0f}".replace("-", "−"), "right"))
        parts.append(
            f'<rect x="{x - 38}" y="{top + 69}" width="{44 * mixed.gamma:g}" height="16" fill="var(--gamma)"/>'
        )
        parts.append(label(x + 40, top + 82, f"{mixed.gamma:.3g}", "right"))
    x, end = LEFT + STEP - 38, LEFT + 5 * STEP + 10
    parts.append(f'<rect x="{x}" y="{top + 39}" width="{end - x}" height="16" fill="var(--gamma)"/>')
    parts.append(label(LEFT + 5 * STEP + 40, top + 52, "1", "right"))
    svg("one-sentence.svg", LEFT + 5 * STEP + 70, top + 104, "Figure 1 of the paper with margins and γ", parts)


# ---------------------------------------------------------------- averaging

RULES = {"csp": "csp", "b-wm": "wrong"}


def averaging():
    """Accuracy after each epoch with the last and with averaged weights, ten datasets and their mean."""
    settings = SyntheticSettings(setups=(2,), rules=("a-wm", "b-wm"), betas=(1.0,), control=False)
    with tempfile.TemporaryDirectory() as folder:
        results = run_synthetic(settings, folder)
    ceiling = np.mean([dataset.ceiling for dataset in results.datasets])
    parts = [label(14, 24, "accuracy on test data (%)", "quiet")]
    for panel, kind in enumerate(("last", "averaged")):
        left = 62 + panel * 330

        def place(epoch, share, left=left):
            return f"{left + (epoch - 1) * 31:.0f} {300 - (100 * share - 30) * 5.8:.1f}"

        parts.append(label(left, 48, f"{kind} weights"))
        for level in (30, 40, 50, 60, 70):
            parts.append(
                f'<path class="thin" stroke="var(--quiet)" d="M{place(1, level / 100)} L{place(10, level / 100)}"/>'
            )
            if panel == 0:
                parts.append(label(left - 10, float(place(1, level / 100).split()[1]) + 5, level, "quiet right"))
        best = f"M{place(1, ceiling)} L{place(10, ceiling)}"
        parts.append(f'<path class="line" stroke="var(--quiet)" stroke-dasharray="5 4" d="{best}"/>')
        ends = []
        for rule, colour in RULES.items():
            curves = np.array([run.accuracy[f"{kind}_test"] for run in results.of(2, rule)])
            for values, name in ((curves.mean(axis=0), "line"), *((curve, "thin") for curve in curves)):
                points = " L".join(place(epoch, share) for epoch, share in enumerate(values, 1))
                parts.append(f'<path class="{name}" stroke="var(--{colour})" d="M{points}"/>')
            ends.append((rule, colour, curves.mean(axis=0)[-1]))
        for rule, colour, end in ends:
            y = float(place(10, end).split()[1])
            parts.append(f'<text x="{left + 286}" y="{y + 5:.0f}" style="fill:var(--{colour})">{rule}</text>')
        for epoch in (1, 5, 10):
            parts.append(label(left + (epoch - 1) * 31, 322, epoch, "quiet middle"))
        parts.append(label(left + 140, 342, "epoch", "quiet middle"))
    parts.append(label(62 + 330 + 190, float(place(1, ceiling).split()[1]) - 8, "best possible", "quiet"))
    svg("averaging.svg", 720, 356, "Accuracy with last and with averaged weights, after each epoch", parts)


def noise():
    """Print how long updates are beside w, and the angle between last and averaged weights, in setup 2."""
    settings, setup = SyntheticSettings(setups=(2,)), SETUPS[2]
    for rule in ("csp", "a-wm", "b-wm"):
        rows = []
        for number in range(settings.datasets):
            train = make_dataset(settings, 2, number).train
            model, examples = new_model(setup.symbols, setup.labels, LENGTH), len(train.offsets) - 1
            lengths, before = [], weights(model)

            def after(i, updated, model=model, lengths=lengths, before=before):
                if updated:
                    lengths.append(np.linalg.norm(weights(model) - before))
                    before[:] = weights(model)

            list(run_epochs(train, model, as_rule(rule), examples=examples, epochs=3, after=after))
            last, mean = weights(model), averaged_weights(model, 3 * examples)
            cosine = last @ mean / np.linalg.norm(last) / np.linalg.norm(mean)
            length = np.linalg.norm(last)
            rows.append((np.mean(lengths), length, 100 * np.mean(lengths) / length, np.degrees(np.arccos(cosine))))
        update, length, share, angle = np.mean(rows, axis=0)
        print(f"{rule:5} update {update:.1f}, w {length:.1f}, share {share:.1f} %, angle {angle:.0f} degrees")


if __name__ == "__main__":
    one_sentence()
    averaging()
    noise()
