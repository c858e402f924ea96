"""Training a chunker on CoNLL-2000 against python-crfsuite's averaged perceptron, same features, same run.

    pip install '.[benchmarks]' && python benchmarks/chunking.py TRAIN TEST [--epochs 10] [--repeats 3]

TRAIN and TEST are column files (word, tag, chunk). Features are those of CRFsuite's tutorial: words and tags from -2
to 2, their bigrams, tag trigrams. Times are CPU times on one thread, the best of several; python-crfsuite's features
are made in Python before its clock starts, ours are made by the encoder while the clock runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import pycrfsuite

from swvp import SequenceTagger
from swvp.data.columns import read_columns
from swvp.structures.chain.templates import PRESETS, parse_templates
from swvp.tagging.evaluate import evaluate_phrases

RULES = ("csp", "a-wm:segments:sqrt")


def split(sentences):
    return [[row[:2] for row in rows] for rows in sentences], [[row[2] for row in rows] for rows in sentences]


def attributes(sentence):
    """The preset `chunk` as strings, for CRFsuite."""
    columns = dict(zip(("word", "pos"), zip(*sentence, strict=True), strict=True))

    def value(atom, t):
        at = t + atom.offset
        return columns[atom.column][at] if 0 <= at < len(sentence) else f"<{at - len(sentence) + 1 if at > 0 else at}>"

    return [
        [template.text + "=" + "|".join(value(atom, t) for atom in template.atoms) for template in TEMPLATES]
        for t in range(len(sentence))
    ]


TEMPLATES = parse_templates(PRESETS["chunk"], ["word", "pos"])


def crfsuite(train, test, gold, epochs):
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": epochs, "epsilon": 0.0})
    began = time.process_time()
    for x, y in train:
        trainer.append(x, y)
    taken = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        done = time.process_time()
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        predicted = [tagger.tag(x) for x in test]
        tagger.close()
    return done - taken, done - began, evaluate_phrases(gold, predicted).total.f1


def swvp(train, test, gold, epochs, rule):
    began = time.process_time()
    tagger = SequenceTagger(rule=rule, epochs=epochs, features="chunk", random_state=0).fit(*train)
    done = time.process_time()
    predicted = tagger.predict(test)
    tagged = time.process_time() - done
    tokens = sum(map(len, test))
    training = sum(epoch.seconds for epoch in tagger.history_)
    return training, done - began, evaluate_phrases(gold, predicted).total.f1, tokens / tagged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    X, y = split(read_columns(options.train).sentences)
    X_test, gold = split(read_columns(options.test).sentences)
    theirs = list(zip(map(attributes, X), y, strict=True))
    theirs_test = [attributes(sentence) for sentence in X_test]
    for rule in RULES:
        swvp((X[:50], y[:50]), X_test[:50], gold[:50], 1, rule)  # compile
    print(f"{'':28}{'train s':>9}{'data and train s':>18}{'F1':>8}{'tokens/s, tagging':>20}")
    runs = {name: [] for name in ("python-crfsuite ap", *(f"swvp {rule}" for rule in RULES))}
    for _ in range(options.repeats):
        runs["python-crfsuite ap"].append(crfsuite(theirs, theirs_test, gold, options.epochs))
        for rule in RULES:
            runs[f"swvp {rule}"].append(swvp((X, y), X_test, gold, options.epochs, rule))
    for name, found in runs.items():
        training, total = (min(run[k] for run in found) for k in (0, 1))
        speed = f"{max(run[3] for run in found):20,.0f}" if len(found[0]) > 3 else ""
        print(f"{name:28}{training:9.2f}{total:18.2f}{100 * found[0][2]:8.2f}{speed}")


if __name__ == "__main__":
    main()
