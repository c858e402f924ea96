"""The small treebank of the documentation, and the text that a file in CoNLL-U holds."""

from pathlib import Path

from swvp.text.treebank_text import unescaped

FOLDER = Path(__file__).parent.parent.parent / "docs" / "data"
TRAIN, DEV = FOLDER / "garden-ud-train.conllu", FOLDER / "garden-ud-dev.conllu"


def joined(conllu):
    """The text that a file in CoNLL-U holds, by its forms and MISC."""
    text, covered = "", 0
    for line in conllu.split("\n"):
        fields = line.split("\t")
        if len(fields) < 10:
            covered = 0
            continue
        first, _, last = fields[0].partition("-")
        if int(first) <= covered:
            continue
        covered = int(last or 0)
        misc = dict(note.split("=", 1) for note in fields[9].split("|") if "=" in note)
        text += unescaped(misc.get("SpacesBefore", ""))
        text += unescaped(misc["SpacesInToken"]) if "SpacesInToken" in misc else fields[1]
        text += "" if misc.get("SpaceAfter") == "No" else unescaped(misc.get("SpacesAfter", r"\s"))
    return text


def without_columns(text, *numbers):
    """A file in CoNLL-U with `_` in these columns."""
    rows = [line.split("\t") for line in text.split("\n")]
    for row in rows:
        if len(row) > 1:
            for number in numbers:
                row[number] = "_"
    return "\n".join("\t".join(row) for row in rows)
