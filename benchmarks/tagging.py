"""How good taggers are: chunking, Spanish named entities and English tags, several rules, several seeds, one table.

    python benchmarks/tagging.py FOLDER [--tasks chunking,entities,tags] [--seeds 3]

FOLDER holds conll2000/{train,test}.txt, conll2002-es/esp.{train,testa,testb} and ud-en_ewt/en_ewt-ud-*.conllu.
The epoch is chosen on the dev set: esp.testa, the dev file of EWT, and for chunking every tenth sentence of the
training file; the figures are those of the test files. The best β and C were chosen on development data, too.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np

from swvp.evaluation.counts import evaluate_phrases, token_accuracy
from swvp.evaluation.tags import compare_tags
from swvp.features.encoder import Columns
from swvp.io.table import read_table
from swvp.tagging.corpus import Labels
from swvp.tagging.files import layout_of, read_corpus
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import BETAS
from swvp.tagging.train import RULES as TRIED
from swvp.training.tune import candidates, tune

RULES = {
    "csp": {"rule": "csp"},
    "a-wm:segments:sqrt": {"rule": "a-wm:segments:sqrt", "beta": 0.5},
    "mira": {"rule": "mira", "C": 0.01},
    "mira:5": {"rule": "mira:5", "C": 0.01},
    "mira:10": {"rule": "mira:10", "C": 0.1},
    "csp, order 2": {"rule": "csp", "order": 2},
    "a-wm:segments:sqrt, order 2": {"rule": "a-wm:segments:sqrt", "order": 2},
}

TUNED = "SWVP, tuned"
"""The best of the other rules of `--tune`, each with four β, on development data with the first seed."""

TUTORIAL_ENTITIES = [
    "bias",
    *("lower(word[0])", "suffix(word[0], 3)", "suffix(word[0], 2)", "kinds(word[0])", "pos[0]", "prefix(pos[0], 2)"),
    *("lower(word[-1])", "kinds(word[-1])", "pos[-1]", "prefix(pos[-1], 2)"),
    *("lower(word[1])", "kinds(word[1])", "pos[1]", "prefix(pos[1], 2)"),
]
"""sklearn-crfsuite's tutorial: isupper, istitle and isdigit are in kinds, BOS and EOS in what is beyond the ends."""


def some(corpus, kept):
    """The sentences of a corpus for which `kept` is true."""
    tokens = np.repeat(kept, np.diff(corpus.offsets))
    offsets = np.concatenate([[0], np.cumsum(np.diff(corpus.offsets)[kept])])
    columns = Columns(corpus.columns.names, corpus.columns.strings, corpus.columns.ids[:, tokens], offsets)
    labels = Labels(corpus.labels.names, corpus.labels.ids[tokens])
    return corpus._replace(columns=columns, labels=labels, offsets=offsets, table=None)


def chunking(folder):
    tables = [read_table(folder / "conll2000" / f"{name}.txt") for name in ("train", "test")]
    layout = layout_of(tables[0], -1, ["word", "pos"])
    train, test = (read_corpus(table, layout, labelled=True) for table in tables)
    held_out = np.arange(len(train.offsets) - 1) % 10 == 9
    options = {"features": "chunk", "constraint": "iob2", "epochs": 15}
    return {"chunking": ((some(train, ~held_out), some(train, held_out), test), options)}


def entities(folder):
    tables = [read_table(folder / "conll2002-es" / f"esp.{name}") for name in ("train", "testa", "testb")]
    corpora = {}
    for name, columns, features in (
        ("entities, tutorial", ["word", "pos"], TUTORIAL_ENTITIES),
        ("entities, preset ner", ["word"], "ner"),
    ):
        layout = layout_of(tables[0], -1, columns)
        data = tuple(read_corpus(table, layout, labelled=True) for table in tables)
        corpora[name] = data, {"features": features, "constraint": "iob2", "epochs": 20}
    return corpora


def tags(folder):
    tables = [read_table(folder / "ud-en_ewt" / f"en_ewt-ud-{name}.conllu") for name in ("train", "dev", "test")]
    layout = layout_of(tables[0], "upos", None)
    return {
        "tags, preset pos": (
            tuple(read_corpus(table, layout, labelled=True) for table in tables),
            {"features": "pos", "epochs": 10},
        )
    }


def split(names, ids, offsets):
    strings = np.array(names, object)[ids].tolist()
    return [strings[a:b] for a, b in itertools.pairwise(offsets)]


def run(data, options, seeds):
    """Test scores over seeds, CPU seconds of one training, and the predictions of the first seed."""
    train, dev, test = data
    gold = split(*test.labels, test.offsets)
    scores, first, began = [], None, time.process_time()
    for seed in range(seeds):
        tagger = Tagger(random_state=seed, **options)
        training = tagger.start(train, dev)
        training.run(tagger.epochs)
        tagger.finish(training)
        predicted = split(*tagger.predict_labels(test), test.offsets)
        phrases = training.dev.metric == "F1"
        score = evaluate_phrases(gold, predicted).total.f1 if phrases else token_accuracy(gold, predicted)
        scores.append((100 * max(training.scores), 100 * score))
        first = predicted if first is None else first
    return np.array(scores), (time.process_time() - began) / seeds, gold, first, phrases


def tuned(data, options):
    """The rule of SWVP that does best on development data."""
    tagger = Tagger(random_state=0, **options)
    rules = candidates([rule for rule in TRIED if rule != "csp"], BETAS)
    _, best = tune(tagger.start(*data[:2]), rules, epochs=tagger.epochs, patience=None, jobs=2)
    return {"rule": best.rule.name, "beta": best.rule.beta}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", default="chunking,entities,tags")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rules", default=";".join([*RULES, TUNED]), help="separated by ;")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for task in options.tasks.split(","):
        for name, (data, settings) in {"chunking": chunking, "entities": entities, "tags": tags}[task](
            options.folder
        ).items():
            print(f"\n{name:40}{'dev':>8}{'test':>8}{'±':>6}{'CPU s':>8}{'against csp, p':>16}")
            base = None
            for rule in options.rules.split(";"):
                chosen = tuned(data, settings) if rule == TUNED else RULES[rule]
                scores, seconds, gold, first, phrases = run(data, settings | chosen, options.seeds)
                rule = f"{rule}: {chosen['rule']} β={chosen['beta']:g}" if rule == TUNED else rule
                p = ""
                if base is not None:
                    measure = "f1" if phrases else "accuracy"
                    p = f"{compare_tags(gold, base, first, measure=measure).permutation_p:16.3f}"
                base = first if rule == "csp" else base
                dev, test = scores.mean(axis=0)
                print(f"{rule:40}{dev:8.2f}{test:8.2f}{scores[:, 1].std():6.2f}{seconds:8.1f}{p}", flush=True)


if __name__ == "__main__":
    main()
