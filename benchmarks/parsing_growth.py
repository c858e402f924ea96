"""How the time for a sentence grows with its length, by the stages of parsing.

Sentences of TEST are joined to sentences of n words, longer than those of the training set. Each stage is timed by
itself: CPU time of one thread, the best of three runs. Each size is timed alone, so that its buffers are not those of a
longer sentence.

    pruning     scores of the pruner, probabilities, and the heads that are kept
    parts       the parts of the kept heads, their features and scores
    tree        the best tree of these parts
    parsing     all of them

The exponent is the slope of log time over log n, from one size to the next and as a line through the sizes from 25 on.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from swvp.errors import InputError

CLOCK = time.process_time
REPEATS = 3
LONG = 25


def joined(treebank, n, number):
    """The tokens of `number` sentences of n words."""
    from swvp.io.treebank import treebank_of

    columns = [treebank.words, treebank.lemmas, treebank.upos, treebank.xpos, treebank.feats]
    tokens = list(zip(*([column.strings[k] for k in column.ids.tolist()] for column in columns), strict=True))
    while len(tokens) < n * number:
        tokens += tokens
    return treebank_of([tokens[k * n : (k + 1) * n] for k in range(number)])


def best(function):
    """Milliseconds."""
    found = []
    for _ in range(REPEATS):
        began = CLOCK()
        function()
        found.append(CLOCK() - began)
    return 1000 * min(found)


def stages(parser, treebank):
    """Milliseconds of each stage for a sentence of the treebank, all of one length, and their heads a word."""

    from swvp.structures.tree.second_order.model import SecondOrder, new_part_model, predict_parts, score_all_parts

    sentences = treebank.number_of_sentences
    nodes = parser.model_.encode(treebank)
    problem = parser._problem(nodes)
    if not isinstance(problem, SecondOrder):
        return {"parsing": best(lambda: parser._predict_heads(problem, parser._weights)) / sentences}
    pruning = best(lambda: parser.pruner_.candidates(nodes)) if parser.pruner_ is not None else 0.0
    model = new_part_model(problem, len(parser.coef_), w=parser.coef_)._replace(owners=parser.owners_)
    out = np.zeros(treebank.tokens, np.int32)
    parts = best(lambda: score_all_parts(problem, model, 0, sentences))
    model.solved[:] = 0
    whole = best(lambda: predict_parts(problem, model, 0, sentences, out))
    found = {"pruning": pruning, "parts": parts, "tree": max(whole - parts, 0.0), "parsing": pruning + whole}
    found = {name: value / sentences for name, value in found.items()}
    heads = len(problem.candidates.heads) / treebank.tokens
    return found | {"heads": heads, "certified": 100 * model.solved[1] / model.solved[0]}


def measure(options):
    from swvp.io.treebank import read_treebank
    from swvp.parsing.parser import Parser

    long = [n for n in options.sizes if n >= LONG]
    if len(long) < 2:
        raise InputError(f"--sizes needs two or more of at least {LONG}, between which the exponent is measured")
    given = {"order": options.order, "projective": options.projective, "epochs": options.epochs}
    parser = Parser(**given, labels=False, random_state=0).fit(read_treebank(options.train, heads=True))
    test = read_treebank(options.test, heads=False)
    stages(parser, joined(test, 5, 2))  # loads what is compiled
    rows = {n: stages(parser, joined(test, n, max(3, options.sentences * 10 // n))) for n in options.sizes}
    names = list(rows[options.sizes[0]])
    print(f"milliseconds for a sentence of n words, {'first' if options.order == 1 else 'second'} order")
    print(f"{'n':>5}" + "".join(f"{name:>11}" for name in names) + f"{'exponent':>11}")
    before = None
    for n, found in rows.items():
        slope = (
            "" if before is None else f"{np.log(found['parsing'] / rows[before]['parsing']) / np.log(n / before):.2f}"
        )
        print(f"{n:>5}" + "".join(f"{found[name]:>11.3f}" for name in names) + f"{slope:>11}")
        before = n
    for name in (name for name in names if name not in ("heads", "certified")):
        slope = np.polyfit(np.log(long), np.log([max(rows[n][name], 1e-6) for n in long]), 1)[0]
        print(f"{name}: n^{slope:.2f} for n of {LONG} to {long[-1]}")
    if options.plot is not None:
        draw(rows, [name for name in names if name not in ("heads", "certified")], options.plot)


def draw(rows, names, path: Path):
    """Milliseconds over n, both logarithmic, with lines of n and n²."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.6), layout="constrained")
    axes = figure.subplots()
    sizes = np.array(list(rows))
    for name in names:
        axes.plot(sizes, [rows[n][name] for n in sizes], marker="o", markersize=4, label=name)
    last = rows[sizes[0]]["parsing"]
    for power, style in ((1, ":"), (2, "--")):
        axes.plot(sizes, last * (sizes / sizes[0]) ** power, style, color="grey", label="n" if power == 1 else "n²")
    axes.set(xscale="log", yscale="log", xlabel="words of the sentence", ylabel="ms for a sentence (CPU)")
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
    print(f"figure: {path}")
