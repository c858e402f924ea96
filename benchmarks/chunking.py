"""Chunking CoNLL-2000 from file to model and from file to file, against python-crfsuite's averaged perceptron.

    pip install '.[benchmarks]' && python benchmarks/chunking.py TRAIN TEST [--epochs 10] [--repeats 3]

TRAIN and TEST are column files (word, tag, chunk). Both programs get the features of CRFsuite's tutorial: words and
tags from -2 to 2, their bigrams, tag trigrams. (The preset `chunk` of swvp has more.) Each training runs in its own
process, so that its memory can be measured. Times are CPU times on one thread, the best of several runs, without the
start of Python and, for swvp, without compiling (machine code is cached after the first run).

    read      reading the file and, for CRFsuite, making its features in Python
    hand over CRFsuite's append; swvp's numbering of attributes
    train     the epochs alone
    model     everything, from the file to the model file
    tag       TEST from file to file, features included, in tokens per second
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RULES = ("csp", "a-wm:segments:sqrt", "mira:5")
CLOCK = time.process_time
TEMPLATES = [
    "bias",
    *(f"word[{k}]" for k in range(-2, 3)),
    *(f"word[{k}] & word[{k + 1}]" for k in (-1, 0)),
    *(f"pos[{k}]" for k in range(-2, 3)),
    *(f"pos[{k}] & pos[{k + 1}]" for k in range(-2, 2)),
    *(f"pos[{k}] & pos[{k + 1}] & pos[{k + 2}]" for k in range(-2, 1)),
]
"""The same features as those of `attributes`, for swvp."""


def attributes(sentence):
    """The attributes of CRFsuite's tutorial for chunking."""
    words = [token[0] for token in sentence]
    tags = [token[1] for token in sentence]
    n = len(sentence)

    def value(column, t):
        return column[t] if 0 <= t < n else f"__BOS{t}__" if t < 0 else f"__EOS{t - n + 1}__"

    windows = [("w", words, k, 1) for k in range(-2, 3)] + [("w", words, k, 2) for k in (-1, 0)]
    windows += [("pos", tags, k, size) for size in (1, 2, 3) for k in range(-2, 4 - size)]
    return [
        ["bias"]
        + [
            f"{name}[{k}]*{size}=" + "|".join([value(column, t + k + more) for more in range(size)])
            for name, column, k, size in windows
        ]
        for t in range(n)
    ]


def read_plainly(path):
    """Read a column file as the tutorials do: split its lines."""
    sentences, rows = [], []
    for line in Path(path).read_text().split("\n"):
        if line:
            rows.append(tuple(line.split(" ")))
        elif rows:
            sentences.append(rows)
            rows = []
    return [*sentences, rows] if rows else sentences


def crfsuite(train, test, output, epochs, rule):
    import pycrfsuite

    began = CLOCK()
    X, y = zip(*((attributes(s), [row[2] for row in s]) for s in read_plainly(train)), strict=True)
    read = CLOCK()
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": epochs, "epsilon": 0.0})
    for x, labels in zip(X, y, strict=True):
        trainer.append(x, labels)
    handed = CLOCK()
    trainer.train(f"{output}.model")
    done = CLOCK()
    memory = peak()
    tagger = pycrfsuite.Tagger()
    tagger.open(f"{output}.model")
    best = float("inf")
    for _ in range(3):
        start = CLOCK()
        sentences = read_plainly(test)
        lines = []
        for sentence in sentences:
            labels = tagger.tag(attributes(sentence))
            lines += [" ".join((*row, label)) for row, label in zip(sentence, labels, strict=True)] + [""]
        Path(output).write_text("\n".join(lines) + "\n")
        best = min(best, CLOCK() - start)
    times = {"read": read - began, "hand over": handed - read, "train": done - handed, "model": done - began}
    return times | {"tag": sum(map(len, sentences)) / best, "memory": memory}


def swvp(train, test, output, epochs, rule):
    from swvp.io.files import write_bytes
    from swvp.io.table import read_table
    from swvp.tagging.files import layout_of, read_corpus, write_labels
    from swvp.tagging.tagger import Tagger

    def learn(path, epochs, model):
        began = CLOCK()
        table = read_table(path)
        layout = layout_of(table, -1, ["word", "pos"])
        corpus = read_corpus(table, layout, labelled=True)
        read = CLOCK()
        tagger = Tagger(rule=rule, C=0.01, epochs=epochs, features=TEMPLATES, random_state=0)
        training = tagger.start(corpus)
        handed = CLOCK()
        training.run(epochs)
        trained = CLOCK()
        tagger.finish(training).save(model)
        done = CLOCK()
        times = {"read": read - began, "hand over": handed - read, "train": trained - handed, "model": done - began}
        return tagger, layout, times

    def tag(tagger, layout):
        start = CLOCK()
        table = read_table(test)
        labels = tagger.predict_labels(read_corpus(table, layout, labelled=False))
        write_bytes(output, write_labels(table, layout, labels))
        return table.tokens, CLOCK() - start

    with tempfile.TemporaryDirectory() as folder:
        learn(test, 1, Path(folder) / "model")  # load what is compiled
    tagger, layout, times = learn(train, epochs, f"{output}.model")
    memory = peak()
    runs = [tag(tagger, layout) for _ in range(6)]
    return times | {"tag": max(tokens / seconds for tokens, seconds in runs), "memory": memory}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024) / 1.0


def run_apart(program, rule, options):
    """Train and tag in a separate process; return its times and the F1 of the file it wrote."""
    from swvp.evaluation.counts import evaluate_phrases
    from swvp.io.table import read_table

    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "tagged.txt")
        command = [sys.executable, __file__, options.train, options.test, "--epochs", str(options.epochs)]
        command += ["--run", program, "--rule", rule, "--output", output]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        table = read_table(output)
        found["F1"] = (
            100 * evaluate_phrases(table.sentences(-2 % table.width), table.sentences(table.width - 1)).total.f1
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--run", choices=["crfsuite", "swvp"], help=argparse.SUPPRESS)
    parser.add_argument("--rule", default="csp", help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        program = {"crfsuite": crfsuite, "swvp": swvp}[options.run]
        print(json.dumps(program(options.train, options.test, options.output, options.epochs, options.rule)))
        return
    programs = [("crfsuite", "ap"), *(("swvp", rule) for rule in RULES)]
    runs = {name: [] for name in programs}
    for rule in RULES:
        run_apart("swvp", rule, options)  # compile
    for _ in range(options.repeats):
        for program, rule in programs:
            runs[program, rule].append(run_apart(program, rule, options))
    columns = ("read", "hand over", "train", "model")
    print(f"{'CPU seconds':26}" + "".join(f"{name:>11}" for name in columns) + f"{'tokens/s':>12}{'MB':>7}{'F1':>8}")
    base = {name: min(run[name] for run in runs["crfsuite", "ap"]) for name in columns}
    base_tag = max(run["tag"] for run in runs["crfsuite", "ap"])
    for (program, rule), found in runs.items():
        best = {name: min(run[name] for run in found) for name in columns}
        tag, memory = max(run["tag"] for run in found), min(run["memory"] for run in found)
        times = "".join(f"{best[name]:11.2f}" for name in columns)
        print(f"{program + ' ' + rule:26}{times}{tag:12,.0f}{memory:7.0f}{found[0]['F1']:8.2f}")
        if program == "swvp":
            ratios = "".join(f"{base[name] / best[name]:10.1f}x" for name in columns)
            print(f"{'  times as fast':26}{ratios}{tag / base_tag:11.1f}x")


if __name__ == "__main__":
    main()
