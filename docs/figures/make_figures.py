"""Draw the SVG figures of the documentation: `python docs/figures/make_figures.py`."""

import math
from pathlib import Path

FOLDER = Path(__file__).parent
WORDS = ["Some", "mistakes", "are", "worse", "than", "others"]
GOLD = (2, 3, 0, 3, 4, 5)
PREDICTED = (2, 4, 4, 0, 6, 4)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" font-size="{}">'
STEP, LEFT, HEIGHT = 96, 150, 178
BLUE, RED, GREY = "#1f5fa8", "#c0392b", "#555"


def arrow(path, colour):
    return f'<path class="arc" d="{path}" stroke="{colour}" marker-end="url(#tip{colour[1:]})"/>'


def arcs(heads, colours, top, title, words_colours):
    """Draw one sentence: its words in a line, an arc from each head to its modifier above."""
    base = top + 134
    lines = [f'<text x="12" y="{base}" class="title">{title}</text>']
    for modifier, head in enumerate(heads, 1):
        x, colour = LEFT + (modifier - 1) * STEP, colours[modifier - 1]
        if head == 0:
            lines.append(arrow(f"M{x} {top + 14} V{base - 22}", colour))
            continue
        start = LEFT + (head - 1) * STEP + (10 if modifier > head else -10)
        end = x + (-4 if modifier > head else 4)
        rise = base - 24 - 26 * abs(head - modifier)
        lines.append(arrow(f"M{start} {base - 22} C{start} {rise - 12} {end} {rise - 12} {end} {base - 22}", colour))
    for number, word in enumerate(WORDS, 1):
        x, colour = LEFT + (number - 1) * STEP, words_colours[number - 1]
        weight = ' font-weight="bold"' if colour == RED else ""
        lines.append(f'<text x="{x}" y="{base}" text-anchor="middle" fill="{colour}"{weight}>{word}</text>')
        lines.append(f'<text x="{x}" y="{base + 17}" text-anchor="middle" class="number">{number}</text>')
    return lines


def mixed_assignment():
    """Figure 1 of the paper: the gold tree, the predicted tree, and m^J for J = {2, 5}."""
    chosen = {2, 5}
    mixed = tuple(PREDICTED[k] if k + 1 in chosen else GOLD[k] for k in range(6))
    words = [RED if k in chosen else "#111" for k in range(1, 7)]
    markers = "".join(
        f'<marker id="tip{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 z" fill="{colour}" stroke="none"/></marker>'
        for colour in (BLUE, RED, GREY)
    )
    lines = [
        SVG.format(700, 3 * HEIGHT, 16),
        "<title>Gold tree, predicted tree and the mixed assignment for J = {2, 5}</title>",
        "<style>.arc{fill:none;stroke-width:2}.title{font-size:15px;fill:#333}.number{font-size:11px;fill:#777}</style>",
        f'<defs>{markers}</defs><rect width="700" height="{3 * HEIGHT}" fill="#fff"/>',
        *arcs(GOLD, [BLUE] * 6, 0, "gold y", ["#111"] * 6),
        *arcs(PREDICTED, [RED if k in chosen else GREY for k in range(1, 7)], HEIGHT, "predicted y*", words),
        *arcs(mixed, [RED if k in chosen else BLUE for k in range(1, 7)], 2 * HEIGHT, "mixed m^J", words),
        "</svg>",
    ]
    (FOLDER / "mixed-assignment.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")


def substructures():
    """The families of sub-structures for a sequence whose positions 2, 3 and 5 are wrong."""
    rows = {
        "single": [{2}, {3}, {5}],
        "segments": [{2, 3}, {5}],
        "pairs": [{2, 3}, {2, 5}, {3, 5}],
        "prefixes": [{2}, {2, 3}, {2, 3, 5}],
        "full (CSP)": [{2, 3, 5}],
    }
    cell, left, gap = 24, 110, 26
    width, height = left + 3 * (6 * cell + gap), 50 + 42 * len(rows)
    lines = [
        SVG.format(width, height, 15),
        "<title>Families of sub-structures for a sequence of six labels, of which 2, 3 and 5 are wrong</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        '<text x="12" y="26" fill="#333">Six positions; 2, 3 and 5 are wrong. Red: the positions in J.</text>',
    ]
    for row, (name, sets) in enumerate(rows.items()):
        y = 46 + 42 * row
        lines.append(f'<text x="12" y="{y + 17}" fill="#111">{name}</text>')
        for number, chosen in enumerate(sets):
            for position in range(1, 7):
                x = left + number * (6 * cell + gap) + (position - 1) * cell
                wrong, inside = position in (2, 3, 5), position in chosen
                fill = RED if inside else "#e3e3e3" if wrong else "#fff"
                lines.append(
                    f'<rect x="{x}" y="{y}" width="{cell - 2}" height="{cell - 2}" fill="{fill}" stroke="#999"/>'
                    f'<text x="{x + 11}" y="{y + 16}" font-size="12" text-anchor="middle" '
                    f'fill="{"#fff" if inside else "#444"}">{position}</text>'
                )
    (FOLDER / "substructures.svg").write_text("\n".join([*lines, "</svg>"]) + "\n", encoding="utf-8")


PARSERS = [  # words per second, UAS, name, whether it is ours, side of the name: the table of docs/comparison.md
    (74_000, 89.21, "swvp, first order", True, "end"),
    (16_200, 91.09, "swvp, second order", True, "start"),
    (15_000, 86.55, "TurboParser basic", False, "start"),
    (3_400, 87.51, "TurboParser basic, labelled", False, "start"),
    (1_230, 89.93, "TurboParser standard", False, "start"),
    (8_300, 88.30, "UDPipe 1.4", False, "start"),
]


def parsers():
    """Speed and accuracy of parsers on Greek GDT."""
    width, height, left, bottom = 700, 360, 60, 310

    def place(words, uas):
        return left + (math.log10(words) - 3) * 300, bottom - (uas - 86) * 48

    lines = [
        SVG.format(width, height, 14),
        "<title>Accuracy over speed of parsers on Greek GDT</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="24" fill="#333">UAS, Greek GDT, gold tags</text>',
        f'<text x="{width - 20}" y="{bottom + 40}" text-anchor="end" fill="#333">words per second, log scale</text>',
    ]
    for uas in range(86, 92):
        _, y = place(1000, uas)
        lines.append(
            f'<path d="M{left} {y} H{width - 20}" stroke="#ddd"/><text x="28" y="{y + 5}" fill="#666">{uas}</text>'
        )
    for words in (1000, 3000, 10_000, 30_000, 100_000):
        x, _ = place(words, 86)
        lines.append(f'<text x="{x}" y="{bottom + 20}" text-anchor="middle" fill="#666">{words:,}</text>')
    for words, uas, name, ours, side in PARSERS:
        x, y = place(words, uas)
        colour, shift = BLUE if ours else GREY, 12 if side == "start" else -12
        lines.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="6" fill="{colour}"/>')
        lines.append(f'<text x="{x + shift:.0f}" y="{y + 5:.0f}" text-anchor="{side}" fill="{colour}">{name}</text>')
    (FOLDER / "parsers.svg").write_text("\n".join([*lines, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    mixed_assignment()
    substructures()
    parsers()
