"""The campaign of model files: golden ones, changed with right checksums, loaded, used in every way, saved."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from swvp import DependencyParser, SequenceTagger
from swvp.cli.inspect import described_parser, described_tagger
from swvp.errors import InputError

from .mutate import mutated

GOLDEN = Path(__file__).parent.parent / "golden"
SENTENCES = {
    "words": [["the", "dog", "barks"], ["unknown"]],
    "columns": [[("Ann", "NNP"), ("left", "VB")], [("x", "y")]],
    "features": [[{"w": "a", "n": 0.5}, {"w": "b"}], [{"z": 1.0}]],
    "trees": [[("the", "DET"), ("cat", "NOUN"), ("barks", "VERB"), (".", "PUNCT")], [("new", "ADJ")]],
}


def new(folder: Path) -> Callable[[np.random.Generator], str | None]:
    """Rounds that change one of the golden files."""
    files = [path.read_bytes() for path in sorted(GOLDEN.glob("format-*/*.swvp"))]
    names = [path.stem for path in sorted(GOLDEN.glob("format-*/*.swvp"))]
    for path in sorted(GOLDEN.glob("format-*/*.swvp")):  # or nothing would be asked, and no round could fail
        (SequenceTagger if path.stem.startswith("tagger") else DependencyParser).load(path)

    def round_of(rng: np.random.Generator) -> str | None:
        k = int(rng.integers(len(files)))
        (folder / "model").write_bytes(mutated(files[k], rng))
        learner = SequenceTagger if names[k].startswith("tagger") else DependencyParser
        return use(learner, folder / "model")

    return round_of


def use(learner: Any, path: Path) -> str | None:
    """Load a model, if that is not refused, and do all that users do with one; what is saved must load."""
    with contextlib.suppress(InputError):
        model = learner.load(path)
        ask = ask_tagger if learner is SequenceTagger else ask_parser
        for question in ask(model, path):
            with contextlib.suppress(InputError):
                question()
        model.save(path)
        try:
            learner.load(path)
        except InputError as error:
            return f"what was saved is refused: {error}"
    return None


def ask_tagger(tagger: Any, path: Path) -> list[Callable[[], object]]:
    X = SENTENCES[tagger.kind_]
    if tagger.kind_ == "columns":
        X = [[(*token, *"zzzzzzzz")[: len(tagger.columns_)] for token in sentence] for sentence in X]

    def predict() -> None:
        assert [len(labels) for labels in tagger.predict(X)] == [len(sentence) for sentence in X]

    return [
        predict,
        lambda: described_tagger(tagger, path),
        lambda: str(tagger.top_features()),
        lambda: str(tagger.top_transitions()),
        lambda: str(tagger.explain(X[0])),
        lambda: tagger.confidence(X),
        lambda: tagger.predict_k_best(X, 3),
        lambda: tagger.predict_marginals(X),
    ]


def ask_parser(parser: Any, path: Path) -> list[Callable[[], object]]:
    X = SENTENCES["trees"]

    def predict() -> None:
        assert [len(tree) for tree in parser.predict(X)] == [len(sentence) for sentence in X]

    return [
        predict,
        lambda: described_parser(parser, path),
        lambda: str(parser.top_features(X)),
        lambda: str(parser.explain(X[0])),
        lambda: parser.confidence(X),
        lambda: parser.predict_k_best(X, 3),
        lambda: parser.predict_marginals(X),
        lambda: parser.certified(X),
    ]
