"""Results of a parsing study, made up."""

from pathlib import Path

import numpy as np

from swvp.studies import ParsingResults, ParsingSettings
from swvp.studies.common.sources import Source
from swvp.studies.parsing.runs import Pruning, Run, Share, Timing
from swvp.studies.parsing.study import TreebankSizes

WORDS = 1000


def run(rule, beta, dev, test, *, treebank="x", order=1, draw=None):
    """A run on sentences of 10 words; `dev` and `test` are correct words of 1000, spread evenly."""
    right = np.full(WORDS // 10, test // (WORDS // 10))
    right[: test % (WORDS // 10)] += 1
    return Run(
        treebank=treebank,
        order=order,
        rule=rule,
        beta=beta,
        draw=draw,
        dev=None if dev is None else Share(dev, WORDS),
        test=Share(test, WORDS),
        no_punctuation=Share(test // 2, WORDS // 2),
        right=right.tolist(),
        by_sentence_length={"1-10": Share(test, WORDS)},
        by_arc_length={
            "1": Share(test // 2, WORDS // 2),
            "2": Share(test - test // 2, WORDS // 2),
            "3-5": Share(0, 0),
        },
        pruning=Pruning(0.99, 4.0),
        certified=1.0,
        history={
            "mistakes": [12, 13],
            "updates": [10, 10],
            "back_offs": [1, 0],
            "condition_2_failures": [4, 0],
            "without_violation": [2, 3],
            "violating": [30, 10],
            "non_violating": [10, 10],
        },
        timing=Timing(1.5, 0.5),
    )


def study(runs, *, sampled=False, control=False, orders=(1,), betas=(0.5, 1.0, 2.0, 4.0)):
    """The results of a study with these runs."""
    names = list(dict.fromkeys(run.treebank for run in runs))
    rules = [rule for rule in dict.fromkeys(run.rule for run in runs) if rule not in ("csp-rest", "csp-orders")]
    digests = (("train", "1"), ("test", "2"))
    settings = ParsingSettings(
        treebanks=tuple(Source(name, Path("a"), None, Path("b"), digests) for name in names),
        orders=orders,
        rules=tuple(rules),
        betas=betas,
        epochs=2,
        control=control,
    )
    parts = ("whole", "train", "dev", "test")
    treebanks = [
        TreebankSizes(
            name=name,
            sampled=sampled,
            sentences=dict.fromkeys(parts, 100),
            words=dict.fromkeys(parts, WORDS),
            non_projective=3,
            several_roots=0,
            lengths=[10] * (WORDS // 10),
        )
        for name in names
    ]
    return ParsingResults(settings, treebanks, runs, settings.to_json())


def two_banks():
    """CSP and B-WM on two treebanks: B-WM is better on x and worse on y."""
    runs = [run("csp", None, 800, 800), run("b-wm", 0.5, 850, 900)]
    return [*runs, run("csp", None, 800, 800, treebank="y"), run("b-wm", 0.5, 850, 790, treebank="y")]
