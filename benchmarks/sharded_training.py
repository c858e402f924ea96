"""Accuracy, bytes and CPU seconds of training on shards against serial training, and wall time by a simple model.

    python benchmarks/sharded_training.py parser TRAIN DEV --shards 1,2,4,8,16 --rounds 16 -o sharded.json
    python benchmarks/sharded_training.py tagger TRAIN DEV --shards 1,2,4,8,16 --rounds 16 -o sharded.json
    python benchmarks/sharded_training.py plot sharded.json sharded.png

Each shard is trained in this process; CPU seconds do not depend on what else runs here. Simulated wall time of a round
with one worker for each shard: the slowest shard, mixing, and the bytes through the leader's network (1 Gbit/s). The
weights of a round leave the leader once, and the workers hand them on as in a tree.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from swvp.cluster.threads import Threads
from swvp.parsing.parser import Parser
from swvp.parsing.train_shards import train_parser_on_shards
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import TaggerFiles
from swvp.tagging.train_shards import train_tagger_on_shards
from swvp.training.rounds import RoundTraining, Sharding
from swvp.training.run import Run

BYTES_PER_SECOND = 125e6


def train(
    kind: str, train: str, dev: str, *, shards: int, rounds: int, mixing: str, keep: str | None, order: int
) -> RoundTraining:
    """Train on shards; a parser without labels, whose scores would not tell more."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(train=train, dev=dev, model=Path(folder, "model"), checkpoint=1e9)
        sharding = Sharding(shards, mixing=mixing, keep=keep, folder=str(Path(folder, "shards")))
        if kind == "tagger":
            tagger = Tagger(epochs=rounds, random_state=0)
            return train_tagger_on_shards(run, [train], TaggerFiles(), tagger, sharding, workers=Threads())
        parser = Parser(epochs=rounds, random_state=0, margin=1.0, labels=False, order=order)
        return train_parser_on_shards(run, [train], parser, sharding, workers=Threads())[0]


def measured(training: RoundTraining, mixing: str, order: int) -> dict[str, Any]:
    """What a training says, round by round."""
    shards = len(training.shards)
    walls, wall = [], 0.0
    for seconds, mixed, (down, up) in zip(training.seconds, training.mixing_seconds, training.traffic, strict=True):
        network = 0.0 if shards == 1 else (down * (1 + math.log2(shards)) + up) / BYTES_PER_SECOND
        wall += max(seconds) + (0.0 if shards == 1 else mixed) + network
        walls.append(wall)
    return {
        "kind": training.kind,
        "order": order,
        "metric": "" if training.dev is None else training.dev.metric,
        "shards": shards,
        "mixing": mixing,
        "scores": training.scores,
        "seconds": [max(seconds) for seconds in training.seconds],
        "mixing_seconds": training.mixing_seconds,
        "down": [down for down, _ in training.traffic],
        "up": [up for _, up in training.traffic],
        "wall": walls,
    }


def row(result: dict[str, Any]) -> str:
    """A line of the table."""
    scores = result["scores"]
    best = max(range(len(scores)), key=scores.__getitem__)
    return (
        f"{result['kind']:7}{result['shards']:4} {result['mixing']:9}{100 * scores[best]:7.2f}@{best + 1:<3}"
        f"{max(result['down']) / 1e6:7.1f}{max(result['up']) / 1e6 / result['shards']:8.1f}"
        f"{sorted(result['seconds'])[len(scores) // 2]:9.2f}{sorted(result['mixing_seconds'])[len(scores) // 2]:8.2f}"
        f"{result['wall'][best]:9.1f}"
    )


def plot(source: Path, target: Path) -> None:
    """Draw dev scores against rounds and against simulated wall time."""
    import matplotlib.pyplot as plt

    results = json.loads(source.read_text())
    kinds = list(dict.fromkeys(result["kind"] for result in results))
    figure, axes = plt.subplots(len(kinds), 2, figsize=(9, 3.4 * len(kinds)), squeeze=False, sharey="row")
    for line, kind in zip(axes, kinds, strict=True):
        for result in results:
            if result["kind"] != kind:
                continue
            scores = [100 * score for score in result["scores"]]
            style = "-" if result["mixing"] == "uniform" else "--"
            label = f"{result['shards']}, {result['mixing']}"
            line[0].plot(range(1, len(scores) + 1), scores, style, label=label)
            line[1].plot(result["wall"], scores, style, label=label)
            line[0].set_ylabel(f"{kind}: dev {result['metric']}")
        line[0].set_xlabel("rounds")
        line[1].set_xlabel("simulated wall time, seconds")
        line[1].legend(title="shards, mixing", fontsize=7)
    figure.tight_layout()
    figure.savefig(target, dpi=110)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tagger", "parser", "plot"))
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--shards", default="1,2,4,8,16")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--mixing", default="uniform")
    parser.add_argument("--keep", default=None)
    parser.add_argument("--order", type=int, default=1, help="of parsers")
    parser.add_argument("-o", "--output", type=Path, default=Path("sharded.json"))
    given = parser.parse_args()
    if given.what == "plot":
        plot(Path(given.first), Path(given.second))
        return
    print("kind    shards mixing  best@round  MB down  MB up  s/shard  mixing  s until best")
    for shards in map(int, given.shards.split(",")):
        began = time.process_time()
        how = {"mixing": given.mixing, "keep": given.keep, "order": given.order}
        training = train(given.what, given.first, given.second, shards=shards, rounds=given.rounds, **how)
        results = json.loads(given.output.read_text()) if given.output.exists() else []
        results.append(measured(training, given.mixing, given.order))
        given.output.write_text(json.dumps(results))
        print(row(results[-1]), f"  ({time.process_time() - began:.0f} CPU s)", flush=True)


if __name__ == "__main__":
    main()
