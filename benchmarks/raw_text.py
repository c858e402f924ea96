"""From raw text to trees: trains a pipeline on treebanks and scores it on the text of their test sets, beside UDPipe 1.

    pip install '.[benchmarks]'
    python benchmarks/raw_text.py FOLDER... [--orders 1,2] [--set test] [--udpipe [--minutes 60]] [--json FILE]

A folder is a treebank of Universal Dependencies. Each pipeline is trained with the default options by
`swvp train pipeline` in a process of its own, whose CPU time is what training costs. Scores are the F1 of the CoNLL
2018 shared task on raw text. Speeds are tokens per CPU second from the bytes of a text to those of a file in CoNLL-U,
in one thread, the best of three runs, without loading the model.

`--udpipe` trains UDPipe 1 with its own defaults on the same files, in a process that is ended after so many minutes,
and measures it in the same way. Without it, the table has only what swvp reaches.
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

from swvp import Pipeline
from swvp.evaluation import evaluate_raw
from swvp.io import read_table
from swvp.io.treebank import Treebank, read_treebank
from swvp.text.files import analyse_file
from swvp.text.treebank_text import raw_text

MEASURES = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")
SHORTEST = 20_000
"""Speeds are measured on texts of at least so many tokens: a test set, several times if it is shorter."""


def only_file(folder: Path, part: str) -> Path:
    found = sorted(folder.glob(f"*-ud-{part}.conllu"))
    if len(found) != 1:
        sys.exit(f"{folder}: {len(found)} files *-ud-{part}.conllu")
    return found[0]


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def scores_of(gold: Path, predicted: str) -> dict[str, float]:
    measures = evaluate_raw(read_treebank(gold, heads=True), Treebank.from_text(predicted)).measures
    return {name: round(100 * measures[name].f1, 2) for name in MEASURES}


def speed_of(parse, text: str, tokens: int) -> float:
    """Tokens per CPU second of `parse` on a text; the first call is not measured."""
    parse(text)
    repeats = -(-SHORTEST // tokens)
    long_text = "\n\n".join([text.strip()] * repeats) + "\n"
    best = 0.0
    for _ in range(3):
        began = time.process_time()
        parse(long_text)
        best = max(best, repeats * tokens / (time.process_time() - began))
    return best


def measured(gold: Path, parse, train: float, model: Path) -> dict[str, float]:
    """The scores of `parse`, a function from text to CoNLL-U, and its costs."""
    table = read_table(gold, conllu=True)
    text = raw_text(table)
    return {
        **scores_of(gold, parse(text)),
        "tokens/s": round(speed_of(parse, text, table.tokens)),
        "train, CPU s": round(train),
        "MB": round(model.stat().st_size / 1e6, 1),
    }


# ---------------------------------------------------------------- swvp


def run_swvp(folder: Path, part: str, order: int, scratch: Path) -> dict[str, float]:
    model, text = scratch / "model.swvp", scratch / "text.txt"
    began = cpu_of_children()
    command = [sys.executable, "-m", "swvp", "train", "pipeline", str(folder)]
    subprocess.run([*command, "--model", str(model), "--order", str(order)], check=True, stdout=subprocess.DEVNULL)
    train = cpu_of_children() - began
    pipeline = Pipeline.load(model)

    def parse(content: str) -> str:
        text.write_text(content, encoding="utf-8")
        return b"".join(analyse_file(pipeline, str(text))).decode()

    return measured(only_file(folder, part), parse, train, model)


# ---------------------------------------------------------------- UDPipe 1


METHOD = "morphodita_parsito"
"""The only kind of model that UDPipe 1 can train."""


def train_udpipe(train: str, dev: str, model: str, options: tuple[str, str, str] = ("", "", "")) -> None:
    """Train UDPipe 1 and write the model; the options of its tokenizer, tagger and parser are its defaults."""
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences, Trainer

    def read(path: str):
        sentences, sentence = Sentences(), Sentence()
        reader = InputFormat.newConlluInputFormat()
        reader.setText(Path(path).read_text(encoding="utf-8"))
        while reader.nextSentence(sentence):
            sentences.append(sentence)
            sentence = Sentence()
        return sentences

    error = ProcessingError()
    content = Trainer.train(METHOD, read(train), read(dev), *options, error)
    if error.occurred():
        sys.exit(f"UDPipe: {error.message}")
    Path(model).write_bytes(content)


def run_udpipe(folder: Path, part: str, minutes: float, scratch: Path) -> dict[str, float] | None:
    """Train and measure UDPipe 1; None if its training takes too long."""
    from ufal.udpipe import Model, Pipeline

    model = scratch / "model.udpipe"
    files = [str(only_file(folder, which)) for which in ("train", "dev")]
    began = cpu_of_children()
    try:
        subprocess.run(
            [sys.executable, __file__, "--train-udpipe", *files, str(model)], check=True, timeout=60 * minutes
        )
    except subprocess.TimeoutExpired:
        print(f"{folder.name}: UDPipe was not trained in {minutes:g} minutes", file=sys.stderr)
        return None
    train = cpu_of_children() - began
    loaded = Model.load(str(model))  # a name keeps it alive: the pipeline only points to it
    pipeline = Pipeline(loaded, "tokenize", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    return measured(only_file(folder, part), pipeline.process, train, model)


# ---------------------------------------------------------------- table


def main() -> None:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--orders", default="1", help="orders of the parser, such as 1,2")
    parser.add_argument("--set", default="test", choices=("dev", "test"), help="what is scored")
    parser.add_argument("--udpipe", action="store_true", help="also train UDPipe 1, which takes long")
    parser.add_argument("--minutes", type=float, default=60, help="the longest training of UDPipe")
    parser.add_argument("--json", metavar="FILE", help="also write the figures there")
    parser.add_argument("--train-udpipe", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.train_udpipe:
        train_udpipe(*given.folders)
        return
    rows: dict[str, dict[str, float]] = {}
    for name in given.folders:
        folder = Path(name)
        with tempfile.TemporaryDirectory() as scratch:
            for order in map(int, given.orders.split(",")):
                show(rows, f"{folder.name}, order {order}", run_swvp(folder, given.set, order, Path(scratch)))
            if given.udpipe and (row := run_udpipe(folder, given.set, given.minutes, Path(scratch))):
                show(rows, f"{folder.name}, UDPipe 1", row)
        if given.json:
            Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def show(rows: dict[str, dict[str, float]], title: str, row: dict[str, float]) -> None:
    """Print a row of the table, and before the first one its head."""
    if not rows:
        print("| | " + " | ".join(row) + " |\n|" + "---|" * (len(row) + 1))
    rows[title] = row
    print(f"| {title} | " + " | ".join(f"{value:,}" for value in row.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
