"""Ready features, as sklearn-crfsuite's tutorial makes them, against sklearn-crfsuite's averaged perceptron.

    pip install '.[benchmarks]' && python benchmarks/ready_features.py FOLDER [--epochs 10] [--repeats 3]

FOLDER has esp.train and esp.testa of CoNLL-2002 (word, tag, label). The features are made before anything is measured.
The programs run in turn, each in a process of its own, so that memory is its own. Times are CPU seconds on one thread,
the best of several.

    start     the first training, of 20 sentences; swvp loads its machine code from the disk
    encode    CRFsuite's append, of which its fit consists in part; swvp's FeatureEncoder.fit
    fit       a training with features given
    predict   esp.testa, with features given
    one       the prediction of one sentence, in milliseconds
    memory    the peak until after fit
    own       the same without the imports and the features
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

CLOCK = time.process_time


def read(path):
    """Sentences of rows (word, tag, label)."""
    sentences, rows = [], []
    for line in Path(path).read_text().split("\n"):
        if line.strip():
            rows.append(tuple(line.split()))
        elif rows:
            sentences.append(rows)
            rows = []
    return [*sentences, rows] if rows else sentences


def features(sentence, t):
    """The features of the tutorial: of the word and its tag, and fewer of its neighbours."""
    word, tag = sentence[t][:2]
    made = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    if t > 0:
        word, tag = sentence[t - 1][:2]
        made |= {"-1:word.lower()": word.lower(), "-1:word.istitle()": word.istitle()}
        made |= {"-1:word.isupper()": word.isupper(), "-1:postag": tag, "-1:postag[:2]": tag[:2]}
    else:
        made["BOS"] = True
    if t + 1 < len(sentence):
        word, tag = sentence[t + 1][:2]
        made |= {"+1:word.lower()": word.lower(), "+1:word.istitle()": word.istitle()}
        made |= {"+1:word.isupper()": word.isupper(), "+1:postag": tag, "+1:postag[:2]": tag[:2]}
    else:
        made["EOS"] = True
    return made


def with_features(path):
    sentences = read(path)
    X = [[features(sentence, t) for t in range(len(sentence))] for sentence in sentences]
    return X, [[row[-1] for row in sentence] for sentence in sentences]


def peak():
    """The largest memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def crfsuite(epochs):
    import pycrfsuite
    import sklearn_crfsuite

    def encode(X, y):
        trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
        for x, labels in zip(X, y, strict=True):
            trainer.append(x, labels)

    return sklearn_crfsuite.CRF(algorithm="ap", max_iterations=epochs), encode


def swvp(epochs):
    from swvp import CRF
    from swvp.tagging.ready import FeatureEncoder

    return CRF(algorithm="ap", max_iterations=epochs), lambda X, y: FeatureEncoder().fit(X)


PROGRAMS = {"sklearn-crfsuite": crfsuite, "swvp": swvp}


def measure(program, folder, epochs):
    """Times, memory and accuracy of one program, in this process."""
    tagger, encode = PROGRAMS[program](epochs)
    X, y = with_features(folder / "esp.train")
    X_dev, y_dev = with_features(folder / "esp.testa")
    before, began, times = peak(), CLOCK(), {}

    def lap(name):
        nonlocal began
        times[name], began = CLOCK() - began, CLOCK()

    tagger.fit(X[:20], y[:20]).predict(X[:20])
    lap("start")
    tagger.fit(X, y)
    lap("fit")
    memory = peak()
    began = CLOCK()
    predicted = tagger.predict(X_dev)
    lap("predict")
    for x in X_dev[:300]:
        tagger.predict_single(x)
    lap("one")
    times["one"] *= 1000 / 300
    encode(X, y)
    lap("encode")
    right = [a == b for gold, labels in zip(y_dev, predicted, strict=True) for a, b in zip(gold, labels, strict=True)]
    return times | {"memory": memory, "own": memory - before, "accuracy": 100 * sum(right) / len(right)}


COLUMNS = {"start": 2, "encode": 2, "fit": 2, "predict": 3, "one": 2, "memory": 0, "own": 0, "accuracy": 2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=PROGRAMS, help="measure one program in this process, and print JSON")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.folder, options.epochs)))
        return
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.repeats):  # in turn, so that both meet the same noise
        for program in PROGRAMS:
            command = [
                sys.executable,
                __file__,
                str(options.folder),
                "--epochs",
                str(options.epochs),
                "--only",
                program,
            ]
            done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            best[program] = {name: min(value, best.get(program, done)[name]) for name, value in done.items()}
    print(f"{'':18}" + "".join(f"{name:>10}" for name in COLUMNS))
    for program, row in best.items():
        print(f"{program:18}" + "".join(f"{row[name]:10.{digits}f}" for name, digits in COLUMNS.items()))
    theirs, mine = best.values()
    print(f"{'ratio':18}" + "".join(f"{theirs[name] / mine[name]:10.1f}" for name in list(COLUMNS)[:-1]))
    both = (theirs["fit"] + theirs["predict"]) / (mine["fit"] + mine["predict"])
    print(f"fit and predict together: {both:.1f}")


if __name__ == "__main__":
    main()
