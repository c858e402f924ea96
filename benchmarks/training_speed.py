"""Token visits per CPU second of training, against python-crfsuite's averaged perceptron in the same run.

    pip install '.[benchmarks]' && python benchmarks/training_speed.py [--epochs 10] [--repeats 5]

Both programs train on the same sequences of the synthetic study, one thread each, for the same number of epochs;
a visit is one token in one epoch. CRFsuite's attributes can express (x, y) and the label transitions (y', y)
only; ours has all six features of the paper, (x, y', y) included, so it does more work per token. CRFsuite's
time is that of `train()`, without the time to hand over the data, which is shown apart. Times are CPU times, the
best of several; the machine should do little else.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pycrfsuite

from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import PAPER_RULES, as_rule
from swvp.structures.chain.indicator import IndicatorChain, new_model
from swvp.structures.operations import averaged_weights
from swvp.studies.synthetic.runs import accuracy, make_dataset
from swvp.studies.synthetic.settings import FULL, LENGTH, SETUPS


def cpu_seconds(function):
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def swvp(train: IndicatorChain, test: IndicatorChain, setup: int, rule: str, epochs: int) -> tuple[float, float]:
    """Seconds of training, and the accuracy of the averaged weights."""
    given, examples = SETUPS[setup], len(train.offsets) - 1
    model = new_model(given.symbols, given.labels, LENGTH)
    seconds, _ = cpu_seconds(lambda: list(run_epochs(train, model, as_rule(rule), examples=examples, epochs=epochs)))
    return seconds, accuracy(averaged_weights(model, examples * epochs), test, given)


def crfsuite(train: IndicatorChain, test: IndicatorChain, epochs: int) -> tuple[float, float, float]:
    """Seconds of training, the accuracy, and the seconds to hand over the data."""

    def sentences(data):
        x, y = data.x.reshape(-1, LENGTH), data.y.reshape(-1, LENGTH)
        return [([[str(a)] for a in row], [str(b) for b in labels]) for row, labels in zip(x, y, strict=True)]

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    options = {"max_iterations": epochs, "epsilon": 0.0}
    options |= {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer.set_params(options)
    data = sentences(train)
    append, _ = cpu_seconds(lambda: [trainer.append(x, y) for x, y in data])
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        seconds, _ = cpu_seconds(lambda: trainer.train(path))
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        right = [a == b for x, y in sentences(test) for a, b in zip(tagger.tag(x), y, strict=True)]
        tagger.close()
    return seconds, float(np.mean(right)), append


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for setup in SETUPS:
        data = make_dataset(FULL, setup, 0)
        visits = len(data.train.x) * options.epochs / 1e6
        theirs, best = [], dict.fromkeys(PAPER_RULES, (np.inf, 0.0))
        for rule in PAPER_RULES:
            swvp(data.train, data.test, setup, rule, 1)  # compile
        for _ in range(options.repeats):  # in turn, so that both meet the same noise
            theirs.append(crfsuite(data.train, data.test, options.epochs))
            for rule in PAPER_RULES:
                best[rule] = min(best[rule], swvp(data.train, data.test, setup, rule, options.epochs))
        seconds, right, append = min(theirs)
        print(f"\nsetup {setup}: {visits:.2f} million visits, ceiling {data.ceiling:.4f}")
        print(f"{'':22}{'CPU s':>8}{'M visits/s':>12}{'ratio':>8}{'accuracy, averaged':>20}")
        print(f"{'python-crfsuite ap':22}{seconds:8.3f}{visits / seconds:12.2f}{1:8.1f}{right:20.4f}")
        for rule, (mine, accurate) in best.items():
            print(f"{'swvp ' + rule:22}{mine:8.3f}{visits / mine:12.2f}{seconds / mine:8.1f}{accurate:20.4f}")
        print(f"(python-crfsuite's time to take in the data: {append:.3f} s)")


if __name__ == "__main__":
    main()
