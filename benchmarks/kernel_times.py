"""Measure which kernels common commands compile, and for how many CPU seconds; write `swvp/cli/kernel_times.json`.

    python benchmarks/kernel_times.py

Run it after changes to kernels; it takes about five minutes. Each command runs in a process of its own, on the example
of `swvp warmup`, and all share a new cache folder. A kernel in the cache counts with the seconds it took to compile.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import swvp

TARGET = Path(swvp.__file__).parent / "cli" / "kernel_times.json"

COMMANDS = {
    "train tagger": "train tagger chunks.txt --dev chunks.txt --epochs 1 -m chunker.swvp",
    "predict tagger": "predict chunker.swvp chunks.txt -o chunked.txt",
    "warmup tagger": "warmup tagger",
    "train parser": "train parser trees.conllu --dev trees.conllu --epochs 1 -m parser.swvp",
    "predict parser": "predict parser.swvp trees.conllu -o parsed.conllu",
    "warmup parser": "warmup parser",
    "train parser --order 2": "train parser trees.conllu --dev trees.conllu --order 2 --epochs 1 -m second.swvp",
    "predict parser --order 2": "predict second.swvp trees.conllu -o parsed.conllu",
    "warmup parser --order 2": "warmup parser --order 2",
}

PROGRAM = """
import json, sys, time
from swvp.cache import KernelCache
from swvp.cli import app

events, started = [], {}
load, save = KernelCache.load_overload, KernelCache.save_overload

def timed_load(cache, types, context):
    loaded = load(cache, types, context)
    events.append([cache._kernel, str(types), None])
    if loaded is None:
        started[cache._kernel, str(types)] = len(events) - 1, time.process_time()
    return loaded

def timed_save(cache, types, compiled):
    place, start = started[cache._kernel, str(types)]
    events[place][2] = time.process_time() - start
    save(cache, types, compiled)

KernelCache.load_overload, KernelCache.save_overload = timed_load, timed_save
app(sys.argv[1].split(), standalone_mode=False)
print(json.dumps(events))
"""


def measured() -> dict[str, list[tuple[str, float]]]:
    """The kernels of each command in the order of their first use, with CPU seconds."""
    seconds: dict[tuple[str, str], float] = {}
    plans = {}
    with tempfile.TemporaryDirectory() as folder:
        from swvp.cli.warmup import write_examples

        write_examples(Path(folder))
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        for name, command in COMMANDS.items():
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, command],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            events = json.loads(done.stdout.splitlines()[-1])
            seconds |= {(kernel, types): taken for kernel, types, taken in events if taken is not None}
            plans[name] = [(kernel, round(seconds[kernel, types], 1)) for kernel, types, _ in events]
            print(f"{name}: {len(plans[name])} kernels, {sum(s for _, s in plans[name]):.0f} s", file=sys.stderr)
    return plans


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(kernels)}" for name, kernels in measured().items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
