"""One program for sklearn-crfsuite and swvp: only the import of `CRF` differs.

    python examples/from_crfsuite.py

It learns to find names in made-up sentences, with dicts of features, and prints what both packages say of new ones.
Without sklearn-crfsuite it runs swvp only.
"""

from __future__ import annotations

import importlib
import random
from typing import Any

FIRST = ["Ann", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana"]
LAST = ["Lee", "Ortiz", "Park", "Quist", "Rossi", "Sato"]
CITIES = ["Lima", "Oslo", "Paris", "Quito", "Riga", "Seoul"]
FRAMES = ["PER saw PER in LOC .", "the mayor of LOC met PER .", "PER left LOC .", "LOC is old .", "they like PER ."]


def sentence(random_numbers: random.Random) -> list[tuple[str, str]]:
    """A sentence of (word, label)."""
    tokens = []
    for word in random_numbers.choice(FRAMES).split():
        if word == "PER":
            tokens.append((random_numbers.choice(FIRST), "B-PER"))
            if random_numbers.random() < 0.5:
                tokens.append((random_numbers.choice(LAST), "I-PER"))
        elif word == "LOC":
            tokens.append((random_numbers.choice(CITIES), "B-LOC"))
        else:
            tokens.append((word, "O"))
    return tokens


def features(words: list[str], t: int) -> dict[str, Any]:
    """Strings, bools, numbers, lists and dicts: both packages give them the same meaning."""
    word = words[t]
    return {
        "bias": 1.0,
        "lower": word.lower(),
        "title": word.istitle(),
        "length": len(word) / 10,
        "ends": [word[:1], word[-2:]],
        "before": {"lower": words[t - 1].lower(), "title": words[t - 1].istitle()} if t else {"start": True},
    }


def dataset(sentences: int, seed: int) -> tuple[list[list[dict[str, Any]]], list[list[str]]]:
    """Features and labels of made-up sentences."""
    random_numbers = random.Random(seed)
    made = [sentence(random_numbers) for _ in range(sentences)]
    words = [[word for word, _ in tokens] for tokens in made]
    X = [[features(line, t) for t in range(len(line))] for line in words]
    return X, [[label for _, label in tokens] for tokens in made]


def report(package: str, **options: Any) -> None:
    """Train and test the class `CRF` of a package, and print what it learnt."""
    try:
        CRF = importlib.import_module(package).CRF
    except ImportError:
        print(f"{package}: not installed")
        return
    X, y = dataset(200, seed=0)
    X_test, y_test = dataset(50, seed=1)
    crf = CRF(**options).fit(X, y)
    predicted = crf.predict(X_test)
    pairs = zip(y_test, predicted, strict=True)
    right = [a == b for gold, labels in pairs for a, b in zip(gold, labels, strict=True)]
    of_label = {name: weight for (name, label), weight in crf.state_features_.items() if label == "B-LOC"}
    print(f"{package} {options['algorithm']}: {100 * sum(right) / len(right):.1f} % right")
    print(f"  labels: {', '.join(sorted(crf.classes_))}")
    print(f"  of the first sentence: {' '.join(crf.predict_single(X_test[0]))}")
    print(f"  P({y_test[0][0]}) of its first token: {crf.predict_marginals_single(X_test[0])[0][y_test[0][0]]:.2f}")
    print(f"  the feature that speaks most for B-LOC: {max(of_label, key=lambda name: of_label[name])}")


def main() -> None:
    for options in ({"algorithm": "ap", "max_iterations": 10}, {"algorithm": "lbfgs", "c2": 0.1}):
        for package in ("sklearn_crfsuite", "swvp"):
            report(package, **options)


if __name__ == "__main__":
    main()
