"""The campaign of killed training runs: SIGKILL at random times, then resume; the model has the same bytes.

A training run is first left undisturbed. A round kills the same run a few times, at any moment, and resumes it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

EPOCHS = "60"
RUN = ["--epochs", EPOCHS, "--checkpoint", "0", "--log", "log", "--model", "model"]
COMMANDS = {
    "tagger": ["train", "tagger", "train.txt", "--dev", "dev.txt", *RUN],
    "parser": ["train", "parser", "train.conllu", "--dev", "dev.conllu", "--hashed", "1024", *RUN],
    "pipeline": ["train", "pipeline", "train.conllu", "--dev", "dev.conllu", "--checkpoint", "0", "--model", "model"],
}
FILES = {
    "tagger": ["dev.txt", "train.txt"],
    "parser": ["dev.conllu", "train.conllu"],
    "pipeline": ["dev.conllu", "train.conllu"],
}
MOST_KILLS = 5


def new(folder: Path) -> Callable[[np.random.Generator], str | None]:
    """Return rounds that kill the training of a tagger, a parser or a pipeline."""
    rng = np.random.default_rng(0)
    for name, sentences in (("train", 12), ("dev", 6)):
        (folder / f"{name}.txt").write_text("".join(random_columns(rng) for _ in range(sentences)))
        (folder / f"{name}.conllu").write_text("".join(random_tree(rng) for _ in range(sentences)))
    undisturbed: dict[str, tuple[bytes, float]] = {}

    def round_of(rng: np.random.Generator) -> str | None:
        kind = str(rng.choice(list(COMMANDS)))
        place = folder / "run"
        if kind not in undisturbed:
            began = time.monotonic()
            code, err = train(kind, folder, place, None)
            if code != 0:
                return f"the undisturbed training of a {kind} ended with {code}\n{err}"
            undisturbed[kind] = (place / "model").read_bytes(), time.monotonic() - began
            shutil.rmtree(place)
        model, seconds = undisturbed[kind]
        times = [float(rng.uniform(0, 1.2 * seconds)) for _ in range(int(rng.integers(1, MOST_KILLS + 1)))]
        try:
            return killed(kind, folder, place, times, model)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    return round_of


def killed(kind: str, folder: Path, place: Path, times: list[float], model: bytes) -> str | None:
    """Kill a training run after each of these times, resume it, and return what is wrong with its model, or None."""
    for seconds in [*times, None]:
        code, err = train(kind, folder, place, seconds)
        if code == 0:
            break
        if code != -signal.SIGKILL or "Traceback" in err:
            return f"a {kind} killed after {times} seconds ended with {code}\n{err}"
    if (place / "model").read_bytes() != model:
        return f"a {kind} killed after {times} seconds is another model"
    left = sorted(set(os.listdir(place)) - {*FILES[kind], "model", "log"})
    return f"a {kind} killed after {times} seconds leaves {left}" if left else None


def train(kind: str, folder: Path, place: Path, seconds: float | None) -> tuple[int, str]:
    """Start or resume training, kill it after `seconds`, and return its exit code and messages."""
    place.mkdir(exist_ok=True)
    for name in FILES[kind]:
        if not (place / name).exists():
            shutil.copy(folder / name, place / name)
    command = [sys.executable, "-m", "swvp", *COMMANDS[kind]]
    process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        _, err = process.communicate()
    finally:
        process.kill()
    return process.returncode, err


def random_columns(rng: np.random.Generator) -> str:
    """Return a sentence whose labels are partly random, so that no epoch is without a mistake."""
    words = rng.integers(0, 9, int(rng.integers(2, 7)))
    labels = ["ABC"[word % 3] if rng.random() < 0.6 else "ABC"[int(rng.integers(3))] for word in words]
    return "".join(f"w{word} {label}\n" for word, label in zip(words, labels, strict=True)) + "\n"


def random_tree(rng: np.random.Generator) -> str:
    """Return a sentence in which the head of each word is a word before it, or the root."""
    lines = []
    for k in range(1, int(rng.integers(3, 8))):
        head = int(rng.integers(1, k)) if k > 1 else 0
        tag, label = "XYZ"[int(rng.integers(3))], "root" if head == 0 else "ab"[int(rng.integers(2))]
        lines.append(f"{k}\tw{rng.integers(9)}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n")
    return "".join(lines) + "\n"
