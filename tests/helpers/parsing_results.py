"""Results of a parsing study, made up."""

import numpy as np

WORDS = 1000


def run(rule, beta, dev, test, *, treebank="x", order=1, draw=None):
    """A run on sentences of 10 words; `dev` and `test` are right words of 1000, spread evenly."""
    right = np.full(WORDS // 10, test // (WORDS // 10))
    right[: test % (WORDS // 10)] += 1
    return {
        "treebank": treebank,
        "order": order,
        "rule": rule,
        "beta": beta,
        "draw": draw,
        "dev": None if dev is None else [dev, WORDS],
        "test": [test, WORDS],
        "no_punctuation": [test // 2, WORDS // 2],
        "right": right.tolist(),
        "by_sentence_length": {"1-10": [test, WORDS]},
        "by_arc_length": {"1": [test // 2, WORDS // 2], "2": [test - test // 2, WORDS // 2], "3-5": [0, 0]},
        "pruning": {"recall": 0.99, "heads": 4.0},
        "certified": 1.0,
        "history": {
            "mistakes": [12, 13],
            "updates": [10, 10],
            "back_offs": [1, 0],
            "condition_2_failures": [4, 0],
            "without_violation": [2, 3],
            "violating": [30, 10],
            "non_violating": [10, 10],
        },
        "timing": {"train": 1.5, "parse": 0.5},
    }


def study(runs, *, sampled=False, control=False, orders=(1,), betas=(0.5, 1.0, 2.0, 4.0)):
    names = list(dict.fromkeys(run["treebank"] for run in runs))
    rules = [rule for rule in dict.fromkeys(run["rule"] for run in runs) if rule not in ("csp-rest", "csp-orders")]
    bank = {
        "sampled": sampled,
        "sentences": dict.fromkeys(("whole", "train", "dev", "test"), 100),
        "words": dict.fromkeys(("whole", "train", "dev", "test"), WORDS),
        "non_projective": 3,
        "several_roots": 0,
        "lengths": [10] * (WORDS // 10),
    }
    settings = {
        "study": "parsing",
        "version": "0",
        "code": "0",
        "treebanks": [
            {"name": name, "files": {"train": "a", "test": "b"}, "sha256": {"train": "1", "test": "2"}}
            for name in names
        ],
        "orders": list(orders),
        "rules": rules,
        "betas": list(betas),
        "epochs": 2,
        "control": control,
        "loaded": "",
    }
    return {"settings": settings, "treebanks": [{"name": name, **bank} for name in names], "runs": runs}


def two_banks():
    runs = [run("csp", None, 800, 800), run("b-wm", 0.5, 850, 900)]
    return [*runs, run("csp", None, 800, 800, treebank="y"), run("b-wm", 0.5, 850, 790, treebank="y")]
