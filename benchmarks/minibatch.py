"""Measure training in minibatches: dev UAS, wall and CPU time for several batch sizes and numbers of threads.

    python benchmarks/minibatch.py train.conllu dev.conllu --order 2 --epochs 5

Prints a JSON line for each training. `updates` is the CPU time outside of the threads that predict, which no thread can
share; `decoding` is the rest. So the best speed-up on k cores is (decoding + updates) / (decoding / k + updates).
"""

from __future__ import annotations

import argparse
import json
import os
import time

from swvp.io.treebank import read_treebank
from swvp.learning import minibatch
from swvp.parsing.parser import Parser

decoding = 0.0
predict = minibatch.find_mistakes


def timed(*arguments):
    global decoding
    began = time.thread_time()
    result = predict(*arguments)
    decoding += time.thread_time() - began  # approximate: threads may overwrite each other's sums
    return result


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("train")
    options.add_argument("dev")
    options.add_argument("--order", type=int, default=2)
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--sizes", type=int, nargs="+", default=[1, 8, 16, 64])
    options.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    options.add_argument("--seeds", type=int, nargs="+", default=[0])
    given = options.parse_args()
    minibatch.find_mistakes = timed
    train, dev = (read_treebank(path, heads=True) for path in (given.train, given.dev))
    for size in given.sizes:
        for jobs in given.jobs if size > 1 else [1]:
            for seed in given.seeds:
                print(json.dumps(measured(given, train, dev, size, jobs, seed)), flush=True)


def parser(given, size, jobs, seed, epochs):
    return Parser(
        order=given.order, epochs=epochs, labels=False, batch_size=size, n_jobs=jobs, random_state=seed, margin=1.0
    )


def measured(given, train, dev, size, jobs, seed):
    """Train once; the first epoch may compile, so times are those of the others."""
    global decoding
    learner = parser(given, size, jobs, seed, given.epochs)
    training = learner.start(train)
    scores, marks = [], []
    from swvp.parsing.parser import DevTrees

    dev_set = DevTrees(learner, dev)

    def watch(progress):
        marks.append((time.perf_counter(), time.process_time(), decoding))
        scores.append(round(100 * dev_set.score(training.weights(), training.model), 2))
        starts.append((time.perf_counter(), time.process_time(), decoding))

    starts = [(time.perf_counter(), time.process_time(), decoding)]
    training.run(given.epochs, None, watch)
    wall, cpu, in_decoding = (
        sum(mark[k] - start[k] for start, mark in list(zip(starts, marks, strict=False))[1:]) for k in range(3)
    )
    return {
        "order": given.order,
        "batch": size,
        "jobs": jobs,
        "seed": seed,
        "dev UAS": scores,
        "mistakes": [epoch.mistakes for epoch in training.history],
        "wall": round(wall, 2),
        "cpu": round(cpu, 2),
        "decoding": round(in_decoding, 2),
        "updates": round(cpu - in_decoding, 2),
        "load": os.getloadavg()[0],
    }


if __name__ == "__main__":
    main()
