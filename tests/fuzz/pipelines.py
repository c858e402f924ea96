"""The campaign of pipelines: a small one with all stages, changed with right checksums, loaded, used, saved."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from swvp import Pipeline
from swvp.errors import InputError
from swvp.text.files import analyse_file

from .mutate import mutated

TEXT = "Le roi du chat dort. Zut 3,5 x@y.z\n\nUn autre\u00a0texte : l'eau… 👍🏽"


def treebank(path: Path) -> Path:
    """Write a treebank of a few sentences with multiword tokens, tags, lemmas and trees."""
    words = [("le", "le", "DET", "Definite=Def", 2, "det"), ("roi", "roi", "NOUN", "Number=Sing", 6, "nsubj")]
    words += [("de", "de", "ADP", "_", 5, "case"), ("le", "le", "DET", "Definite=Def", 5, "det")]
    words += [("chat", "chat", "NOUN", "Number=Sing", 2, "nmod"), ("dort", "dormir", "VERB", "Tense=Pres", 0, "root")]
    words += [(".", ".", "PUNCT", "_", 6, "punct")]
    lines = []
    for noun in ("roi", "chat", "chien", "mur"):
        for number, (form, lemma, upos, feats, head, label) in enumerate(words, 1):
            if number == 3:
                lines.append("3-4\tdu\t_\t_\t_\tTypo=Yes\t_\t_\t_\t_")
            own = (noun, noun) if form == "roi" else (form, lemma)
            space = "SpaceAfter=No" if form == "dort" else "_"
            lines.append("\t".join([str(number), *own, upos, "_", feats, str(head), label, "_", space]))
        lines.append("")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def new(folder: Path) -> Callable[[np.random.Generator], str | None]:
    """Rounds that change a pipeline trained here."""
    good, model, text = folder / "good", folder / "model", folder / "text"
    short = {"epochs": 1, "places": 64}
    pipeline = Pipeline.train(
        treebank(folder / "train.conllu"),
        order=1,
        folds=1,
        tokens={"epochs": 1},
        tags=short,
        lemmas=short,
        parser={"epochs": 1, "hashed": 256},
        n_jobs=1,
    )
    pipeline.add_lexicon({("roi", ""): "roi"})
    pipeline.save(good)
    content = good.read_bytes()
    text.write_text(TEXT, encoding="utf-8")
    assert use(good, text) is None

    def round_of(rng: np.random.Generator) -> str | None:
        model.write_bytes(mutated(content, rng))
        return use(model, text)

    return round_of


def use(path: Path, text: Path) -> str | None:
    """Load a pipeline, if that is not refused, and do all that users do with one; what is saved must load."""
    with contextlib.suppress(InputError):
        pipeline = Pipeline.load(path)
        questions: list[Callable[[], object]] = [
            lambda: pipeline(TEXT).to_conllu(),
            lambda: pipeline([["du", "roi"], ["x"]], confidence=True).to_json(),
            lambda: b"".join(analyse_file(pipeline, str(text), input="presegmented", output="json")),
            lambda: (
                pipeline.parts["lemmas"].explain("rois", "NOUN", "Number=Sing") if "lemmas" in pipeline.parts else 0
            ),
        ]
        for question in questions:
            with contextlib.suppress(InputError):
                question()
        pipeline.save(path)
        try:
            Pipeline.load(path)
        except InputError as error:
            return f"what was saved is refused: {error}"
    return None
