"""The memory of commands: bounded by the size of a model file, or by a block of the input; in their own processes."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from swvp import DependencyParser, SequenceTagger
from swvp.errors import InputError
from swvp.io.container import read_container, write_container
from swvp.io.model_files import MOST_MEMORY, PLUS, Memory, limit, page_bytes

PEAK = """
import sys
from swvp.cli import main
try:
    main()
except SystemExit as stop:
    code = stop.code or 0
status = open("/proc/self/status").read()
print(code, int(status.split("VmHWM:")[1].split()[0]) * 1024, file=sys.stderr)
"""
ITSELF = 2**28
"""Python, NumPy and Numba, and what they compile."""

linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


def inspected(path):
    """The exit code of `swvp inspect`, how much memory it took, and its last line to people."""
    return measured("inspect", path)


def measured(*arguments):
    """The exit code of a command, how much memory it took, and its last line to people."""
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    *lines, last = done.stderr.splitlines() or [""]
    assert done.returncode == 0, done.stderr
    code, peak = map(int, last.split())
    return code, peak, lines[-1] if lines else ""


def promised(path):
    """What SECURITY.md says."""
    return 80 * path.stat().st_size + 2**30


def tagger_file(path, *, attributes, labels, rows, columns, **meta):
    """A file of a tagger with hashed attributes and one weight each at these rows and columns."""
    SequenceTagger(epochs=1, random_state=0, hashed=64, features=["word[0]"]).fit([["a"]], [["X"]]).save(path)
    kind, old, arrays = read_container(path, "tagger")
    old["options"]["hashed"] = attributes
    old["labels"] = [f"L{k}" for k in range(labels)]
    arrays |= {
        "weights_per_attribute": np.bincount(rows, minlength=attributes).astype(np.uint32),
        "weight_labels": np.asarray(columns, np.uint32),
        "weights": np.ones(len(rows)),
        "transitions": np.zeros((labels + 1, labels + 1)),
        "allowed": np.ones((labels + 1, labels + 1), np.uint8),
    }
    write_container(path, kind, old | meta, arrays)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


@linux
def test_weights_that_are_0_take_no_memory(path):
    """8.4 MB that once took 2.6 GB, to rank all of 67 million weights."""
    tagger_file(path, attributes=2**21, labels=32, rows=np.arange(9), columns=np.arange(9))
    code, peak, _ = inspected(path)
    assert code == 0
    assert peak < 12 * path.stat().st_size + ITSELF


@linux
def test_weights_that_lie_far_apart_take_what_is_promised(path):
    rows = np.arange(0, 2**18, 3)
    tagger_file(path, attributes=2**18, labels=512, rows=rows, columns=rows % 512)
    code, peak, _ = inspected(path)
    assert code == 0
    assert 4096 * len(rows) < peak < promised(path)


@linux
def test_a_file_whose_weights_would_take_more_is_refused(path):
    rows = np.arange(2**18)
    tagger_file(path, attributes=2**18, labels=512, rows=rows, columns=rows % 512)
    code, peak, line = inspected(path)
    assert (code, peak < 12 * path.stat().st_size + ITSELF) == (2, True)
    assert "much more memory than the size of the file: if you trust it, set SWVP_MAX_MEMORY" in line


@linux
@pytest.mark.parametrize("things", [[{"": 0}] * 300_000, [[]] * 600_000], ids=["dicts", "lists"])
def test_a_description_of_many_small_things_takes_what_is_promised(path, things):
    tagger_file(path, attributes=64, labels=2, rows=[], columns=[])
    kind, meta, arrays = read_container(path, "tagger")
    write_container(path, kind, meta | {"options": meta["options"] | {"features": things}}, arrays)
    code, peak, _ = inspected(path)
    assert code in (0, 2)
    assert peak < 80 * path.stat().st_size + ITSELF


@linux
def test_a_large_vocabulary_takes_what_is_promised(path):
    words = [np.base_repr(k, 36) for k in range(300_000)]
    tagger_file(path, attributes=64, labels=2, rows=[], columns=[], vocabularies=[words])
    code, peak, _ = inspected(path)
    assert code == 0
    assert peak < 80 * path.stat().st_size + ITSELF


@linux
def test_a_parser_of_many_weights_takes_those_that_are_not_0(path):
    DependencyParser(epochs=1, random_state=0, hashed=64).fit([["a", "b"]], [[0, 1]]).save(path)
    kind, meta, arrays = read_container(path, "parser")
    write_container(path, kind, meta | {"size": 2**28}, arrays)
    code, peak, _ = inspected(path)
    assert code == 0
    assert peak < ITSELF


@linux
def test_an_array_that_nobody_reads_is_not_read(path):
    """A file with a hole takes no room on a disk."""
    tagger_file(path, attributes=64, labels=2, rows=[], columns=[])
    kind, meta, arrays = read_container(path, "tagger")
    write_container(path, kind, meta, arrays | {"unused": np.zeros(2**26)})
    code, peak, line = inspected(path)
    assert (code, peak < ITSELF) == (2, True)
    assert "it has an array 'unused' that nobody reads" in line


TEMPLATES = 20


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """The folder of a small and a large file of the same words, of templates, and of a model."""
    folder = tmp_path_factory.mktemp("texts")
    rng = np.random.default_rng(0)
    lines = [f"w{number % 997} {'AB'[number % 2]}\n" for number in rng.integers(0, 10_000, 4000)]
    sentences = "".join(line + "\n" * (k % 20 == 19) for k, line in enumerate(lines))
    (folder / "small").write_text(sentences)
    (folder / "large").write_text(sentences * 100)
    (folder / "templates").write_text("".join(f"prefix(word[0],{k})\n" for k in range(1, TEMPLATES + 1)))
    assert trained(folder, "small")[0] == 0
    return folder


def trained(folder, name):
    options = ["--features", folder / "templates", "--epochs", 1, "--model", folder / "model"]
    return measured("train", "tagger", folder / name, *options)


@linux
def test_the_memory_of_predict_does_not_grow_with_the_file(texts):
    peaks = {}
    for name in ("small", "large"):
        output = texts / f"{name} tagged"
        code, peaks[name], _ = measured("predict", texts / "model", texts / name, "-o", output, "--jobs", 2)
        assert code == 0
    assert peaks["large"] - peaks["small"] < 40 * 2**20
    assert (texts / "large tagged").read_bytes() == 100 * (texts / "small tagged").read_bytes()


@linux
def test_the_memory_of_training_is_that_of_attributes_and_little_more(texts):
    small, large = (trained(texts, name)[1] for name in ("small", "large"))
    tokens = 99 * 4000
    assert large - small < tokens * (4 * TEMPLATES + 120)


def test_a_limit_of_ones_own(path, monkeypatch):
    rows = np.arange(0, 2**14, 2)
    tagger_file(path, attributes=2**14, labels=512, rows=rows, columns=rows % 512)
    monkeypatch.setenv(MOST_MEMORY, "20M")
    with pytest.raises(InputError, match="set SWVP_MAX_MEMORY to what it may take"):
        SequenceTagger.load(path)
    monkeypatch.setenv(MOST_MEMORY, "64M")
    assert np.count_nonzero(SequenceTagger.load(path).coef_) == len(rows)


@pytest.mark.parametrize(
    ("text", "size"), [("", 64 * 100 + PLUS), ("500", 500), ("2K", 2048), ("16g", 2**34), (" 1GB ", 2**30)]
)
def test_limits_are_numbers_of_bytes(monkeypatch, text, size):
    monkeypatch.setenv(MOST_MEMORY, text)
    assert limit(100) == size


@pytest.mark.parametrize("text", ["x", "-1", "1.5G", "9" * 20])
def test_a_limit_that_is_none_is_told(monkeypatch, text):
    monkeypatch.setenv(MOST_MEMORY, text)
    with pytest.raises(InputError, match="SWVP_MAX_MEMORY must be a number of bytes"):
        limit(100)


@pytest.mark.parametrize(
    ("places", "pages"), [([], 0), ([0], 1), ([0, 511], 1), ([0, 512], 2), ([512, 0, 1], 2), ([5000, 1, 5001], 2)]
)
def test_pages_are_counted_once(places, pages):
    assert page_bytes(np.array(places, np.int64), 8) == 4096 * pages


def test_scattered_weights_are_in_their_places():
    places = np.array([0, 70_000, 2**20 - 1])
    found = Memory().filled((2**10, 2**10), places, np.array([1.0, 2.0, 3.0]))
    assert np.flatnonzero(found).tolist() == places.tolist()
    found[5, 5] = 4.0
    assert found.sum() == 10.0


def test_saving_what_cannot_be_loaded_without_a_limit_of_ones_own_warns(path, monkeypatch):
    tagger = SequenceTagger(epochs=1, random_state=0).fit([["a", "b"]], [["X", "Y"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagger.save(path)
    monkeypatch.setattr("swvp.io.model_files.PLUS", -(2**30))
    with pytest.warns(UserWarning, match="to load it, set the environment variable SWVP_MAX_MEMORY=1G"):
        tagger.save(path)
