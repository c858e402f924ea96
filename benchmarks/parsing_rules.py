"""Which update rule wins in dependency parsing, by treebank and by the number of training sentences, and why.

A FOLDER has one file each with train, dev and test in its name; without a dev file, the last 12 % of the training
sentences are held out. A size N is the first N training sentences in a random order, which depends on the seed; all
rules get the same sentences in the same orders. Each run trains without labels, uses the best epoch on dev, and is
scored on test (UAS, punctuation included).

The rule with the best mean on dev has a *. There is one test for each treebank and size: the best rule on dev other
than csp is compared with csp on test, by a paired permutation test over sentences, with the right words of all seeds
added up. The test takes the trained parsers as given; only the seeds show how much a gain depends on the order and the
choice of the training sentences.

    dev, test    mean UAS over the seeds
    ±            standard deviation of test over the seeds
    gain         mean test UAS minus that of csp
    won          seeds with which the rule is better than csp on test
    wrong words  wrong words per wrong sentence in training, over all epochs
    violating    share of mixed assignments that were violations, over all epochs
    back-off     share of updates that backed off to csp, over all epochs
    last epoch   sentences that were wrong in the last epoch; with a margin ρ > 0, those whose tree did not win by it
    train        UAS on the training sentences, with the weights of the best epoch
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from swvp import __version__
from swvp.compiled import fingerprint
from swvp.errors import InputError
from swvp.evaluation.paired import compare_counts
from swvp.io.treebank import read_treebank
from swvp.learning.rule import as_rule
from swvp.parsing.options import TREE_BETA
from swvp.parsing.parser import Parser

CSP = "csp"
HELD_OUT = 0.12
NO_DATA = ("readme", "license", "licence")
FEWEST_FOR_RANKS = 5
CAUSES = ("sentences", "length", "violating", "wrong words", "last epoch", "train")


def study(options):
    """Run what is missing, print everything."""
    rules = list(dict.fromkeys([CSP, *options.rules]))
    for rule in rules:
        rule_of(rule)
    data = {folder.resolve().name: read_folder(folder, options.encoding) for folder in options.folders}
    if len(data) < len(options.folders):
        raise InputError("two folders have the same name")
    settings = {"epochs": options.epochs, "margin": options.margin, "default_beta": TREE_BETA}
    runs = read_runs(options.json, settings)
    blocks = [
        (name, size)
        for name, (train, _, _) in data.items()
        for size in dict.fromkeys(train.number_of_sentences if n is None else n for n in options.sizes)
        if size <= train.number_of_sentences
    ]
    if not blocks:
        raise InputError("no treebank has as many sentences as the least of --sizes")
    for name, (train, _, _) in data.items():
        if more := [n for n in options.sizes if n is not None and n > train.number_of_sentences]:
            tell(f"note: {name} has {train.number_of_sentences:,} training sentences, not {more}: left out")
    wanted = [(name, size, rule, seed) for name, size in blocks for seed in range(options.seeds) for rule in rules]
    missing = [key for key in wanted if key not in runs]
    tell(f"{len(wanted)} runs, {len(wanted) - len(missing)} of them known; {options.jobs} at once")
    run_all(data, missing, runs, settings, options)
    summaries = []
    for name, size in blocks:
        block = {rule: [runs[name, size, rule, seed] for seed in range(options.seeds)] for rule in rules}
        summaries.append(show_block(name, block, data[name][2], settings))
    show_summary(summaries)


def run_all(data, missing, runs, settings, options):
    """Run in threads; keep what is done after each run."""
    began = time.monotonic()
    pool = ThreadPoolExecutor(options.jobs)
    futures = {pool.submit(run, data[key[0]], *key[1:], settings): key for key in missing}
    try:
        for done, future in enumerate(as_completed(futures), 1):
            key = futures[future]
            runs[key] = found = {**dict(zip(("treebank", "size", "rule", "seed"), key, strict=True)), **future.result()}
            write_runs(options.json, settings, runs)
            minutes = (time.monotonic() - began) / 60
            tell(
                f"{done} of {len(missing)}, {minutes:.1f} min: {key[0]}, {key[1]} sentences, {key[2]}, seed {key[3]}: "
                f"dev {100 * found['dev']:.2f}, test {100 * found['test']:.2f}"
            )
    finally:
        pool.shutdown(cancel_futures=True)


def run(data, size, rule, seed, settings):
    """One training: its scores, the right words of each test sentence, and the counts of its epochs."""
    train, dev, test = data
    order = np.random.default_rng(seed).permutation(train.number_of_sentences)
    train = train.select(order[:size])
    parser = Parser(
        rule=rule_of(rule), epochs=settings["epochs"], margin=margin_of(rule, settings), labels=False, random_state=seed
    )
    training = parser.start(train, dev)
    training.run(settings["epochs"])
    parser.finish(training)
    heads, _ = parser.predict_trees(test)
    right = np.add.reduceat(heads == test.trees, test.offsets[:-1], dtype=np.int64)
    return {
        "dev": max(training.scores),
        "test": float(right.sum() / test.tokens),
        "train": parser.score(train),
        "best_epoch": training.best_epoch,
        "dev_scores": training.scores,
        "words": train.tokens,
        "history": [epoch.as_dict() for epoch in training.history],
        "right": right.tolist(),
        "code": fingerprint()[:12],
    }


def rule_of(text):
    """A rule of a name, perhaps with its β and its margin: a-wm@0.25, a-uniform:mira/1."""
    name, _, beta = text.partition("/")[0].partition("@")
    try:
        number = float(beta or TREE_BETA)
    except ValueError:
        raise InputError(f"rule '{text}': what is after @ must be a number") from None
    return as_rule(name, beta=number)


def margin_of(text, settings):
    """The margin of a rule: its own, as in a-uniform:mira/1, or that of all."""
    own = text.partition("/")[2]
    try:
        return float(own) if own else float(settings["margin"])
    except ValueError:
        raise InputError(f"rule '{text}': what is after / must be a number") from None


def read_folder(folder, encoding):
    """The treebanks train, dev and test of a folder."""
    found = {}
    for part in ("train", "dev", "test"):
        names = [path for path in sorted(folder.glob(f"*{part}*")) if not path.name.lower().startswith(NO_DATA)]
        if len(names) > 1 or (not names and part != "dev"):
            raise InputError(f"{folder}: {len(names)} files with '{part}' in their names, not 1")
        found[part] = read_treebank(names[0], encoding=encoding, heads=True) if names else None
    train, dev, test = found.values()
    if dev is None:
        sentences = np.arange(train.number_of_sentences)
        kept = len(sentences) - round(HELD_OUT * len(sentences))
        train, dev = train.select(sentences[:kept]), train.select(sentences[kept:])
    return train, dev, test


def read_runs(path: Path | None, settings):
    """The runs of a file, by treebank, size, rule and seed."""
    if path is None or not path.exists():
        return {}
    content = json.loads(path.read_text())
    if content["settings"] != settings:
        raise InputError(f"{path} has runs with other settings, {content['settings']}; give another file")
    if any(run["code"] != fingerprint()[:12] for run in content["runs"]):
        tell(f"note: {path} has runs of other code than this one; they are kept")
    return {(run["treebank"], run["size"], run["rule"], run["seed"]): run for run in content["runs"]}


def write_runs(path: Path | None, settings, runs):
    if path is None:
        return
    rows = ",\n".join(json.dumps(run, ensure_ascii=False) for run in runs.values())
    new = path.with_name(path.name + ".new")
    new.write_text(f'{{"version": "{__version__}", "settings": {json.dumps(settings)}, "runs": [\n{rows}\n]}}\n')
    new.replace(path)


def total(runs, count):
    """A count, summed over all epochs of all runs."""
    return sum(epoch[count] for run in runs for epoch in run["history"])


def explained(runs):
    """What may explain who wins, over the seeds."""
    violating = total(runs, "violating")
    last = [run["history"][-1] for run in runs]
    return {
        "wrong words": total(runs, "wrong_positions") / max(total(runs, "mistakes"), 1),
        "violating": 100 * violating / max(violating + total(runs, "non_violating"), 1),
        "back-off": 100 * total(runs, "back_offs") / max(total(runs, "updates"), 1),
        "last epoch": 100 * float(np.mean([epoch["mistakes"] / epoch["examples"] for epoch in last])),
        "train": 100 * float(np.mean([run["train"] for run in runs])),
    }


def wins(runs, others):
    """With how many seeds these are better on test."""
    return f"{sum(run['test'] > other['test'] for run, other in zip(runs, others, strict=True))}/{len(runs)}"


def mean(runs, part):
    return 100 * float(np.mean([run[part] for run in runs]))


def counts(runs, test):
    """Right words and words of each test sentence, added up over the seeds."""
    right = np.sum([run["right"] for run in runs], axis=0)
    return np.stack([right, len(runs) * np.diff(test.offsets)], axis=1).astype(np.int64)


def show_block(name, block, test, settings):
    """The table of a treebank and a size; what of it goes into the summary."""
    first = block[CSP][0]
    size, length = first["size"], float(np.mean([run["words"] for run in block[CSP]])) / first["size"]
    dev = {rule: mean(runs, "dev") for rule, runs in block.items()}
    best = max(dev, key=dev.__getitem__)
    others = [rule for rule in block if rule != CSP]
    tested = max(others, key=dev.__getitem__) if others else None
    seeds = len(block[CSP])
    print(f"\n{name}: {size:,} sentences of {length:.1f} words; {seeds} seeds, margin {settings['margin']:g}")
    print(
        f"{'':30}{'dev':>7}{'test':>7}{'±':>6}{'gain':>7}{'won':>6}{'p':>8}"
        f"{'wrong words':>13}{'violating':>11}{'back-off':>10}{'last epoch':>11}{'train':>8}"
    )
    compared = None
    for rule, runs in block.items():
        p = ""
        if rule == tested:
            compared = compare_counts("uas", counts(block[CSP], test), counts(runs, test))
            p = f"{compared.permutation_p:.4f}"
        why = explained(runs)
        gain = "" if rule == CSP else f"{mean(runs, 'test') - mean(block[CSP], 'test'):+.2f}"
        won = "" if rule == CSP else wins(runs, block[CSP])
        spread = 100 * float(np.std([run["test"] for run in runs], ddof=min(1, seeds - 1)))
        print(
            f"{rule + ' *' * (rule == best):30}{dev[rule]:7.2f}{mean(runs, 'test'):7.2f}{spread:6.2f}{gain:>7}{won:>6}"
            f"{p:>8}{why['wrong words']:13.1f}{why['violating']:10.1f}%{why['back-off']:9.1f}%"
            f"{why['last epoch']:10.1f}%{why['train']:8.2f}"
        )
    summary = {"name": name, "sentences": size, "length": length, "best": best, "tested": tested}
    if compared is None:
        return summary
    low, high = compared.interval
    gains = {"gain on dev": dev[tested] - dev[CSP], "gain": 100 * compared.difference}
    gains["won"] = wins(block[tested], block[CSP])
    why = explained(block[CSP]) | {"violating": explained(block[tested])["violating"]}  # that of csp is always 100 %
    return summary | gains | {"low": 100 * low, "high": 100 * high, "p": compared.permutation_p} | why


def show_summary(summaries):
    """Print a line for each treebank and size, and how the gain depends on what may explain it."""
    summaries = [found for found in summaries if found["tested"]]
    if not summaries:
        return
    print("\nThe best rule on dev other than csp, against csp. violating: of that rule; the columns after it: of csp")
    print(
        f"{'':20}{'sentences':>10}{'length':>8}  {'rule':28}{'dev':>7}{'test':>7}{'won':>6}{'95 % interval':>18}"
        f"{'p':>8}{'violating':>11}{'wrong words':>13}{'last epoch':>11}{'train':>8}"
    )
    for found in summaries:
        interval = f"{found['low']:+.2f} to {found['high']:+.2f}"
        print(
            f"{found['name']:20}{found['sentences']:10,}{found['length']:8.1f}  {found['tested']:28}"
            f"{found['gain on dev']:+7.2f}{found['gain']:+7.2f}{found['won']:>6}{interval:>18}{found['p']:8.4f}"
            f"{found['violating']:10.1f}%{found['wrong words']:13.1f}{found['last epoch']:10.1f}%{found['train']:8.2f}"
        )
    if len(summaries) >= FEWEST_FOR_RANKS:
        causes = [cause for cause in CAUSES if len({found[cause] for found in summaries}) > 1]
        gains = [found["gain"] for found in summaries]
        ranks = [f"{cause} {spearmanr([s[cause] for s in summaries], gains).statistic:+.2f}" for cause in causes]
        print("rank correlation of the gain on test (few points, not independent): " + ", ".join(ranks))


def tell(text):
    print(text, file=sys.stderr, flush=True)
