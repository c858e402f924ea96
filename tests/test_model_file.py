"""The file of a tagger: nothing is lost in it, and a file that cannot be right is refused in one line."""

import json

import numpy as np
import pytest

from swvp import SequenceTagger, UpdateRule
from swvp.errors import InputError
from swvp.storage.container import read_container, write_container
from swvp.structures.chain.templates import parse_templates
from test_container import entry, forged, manifest

X, Y = [["the", "dog", "barks"], ["cats", "sleep"]], [["D", "N", "V"], ["N", "V"]]
LAYOUT = {"conllu": False, "names": ["word"], "inputs": [0], "label": 1, "width": 2}


def saved(path, **options):
    tagger = SequenceTagger(**{"epochs": 1, "random_state": 0, "features": ["word[0]"]} | options).fit(X, Y)
    tagger.save(path)
    return tagger


def changed(path, change):
    """The file after `change` of its description and arrays, with right checksums."""
    kind, meta, arrays = read_container(path, "tagger")
    meta, arrays = json.loads(json.dumps(meta)), dict(arrays)
    change(meta, arrays)
    write_container(path, kind, meta, arrays)
    return path


def set_to(**values):
    return lambda meta, arrays: meta.update(values)


def with_options(**values):
    return lambda meta, arrays: meta["options"].update(values)


def without_words(meta, arrays):
    meta["vocabularies"] = [[]]


def with_long_keys(meta, arrays):
    meta["templates"] = [" & ".join(["word[0]"] * 40)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_to(temperature=10**400), "OverflowError"),
        (set_to(dev_scores=[10**400]), "OverflowError"),
        (set_to(best_epoch=None), "TypeError"),
        (set_to(history=[{}]), "TypeError"),
        (set_to(templates=["word[12345678901234567890]"]), "offsets and numbers are at most 1000"),
        (set_to(templates=["word[4611686018427387904]"]), "offsets and numbers are at most 1000"),
        (set_to(layout=LAYOUT | {"names": ["form"]}), "its columns cannot be right"),
        (set_to(columns=["word", "word"]), "its columns cannot be right"),
        (set_to(columns=["word", "pos"]), "its columns cannot be right"),
        (without_words, "a vocabulary is empty"),
        (with_long_keys, "has too many possible values"),
    ],
)
def test_parts_that_cannot_be_right_are_refused(tmp_path, change, message):
    saved(tmp_path / "model")
    with pytest.raises(InputError, match=message) as caught:
        SequenceTagger.load(changed(tmp_path / "model", change))
    assert "\n" not in str(caught.value)


def test_a_history_holds_numbers(tmp_path):
    saved(tmp_path / "model")

    def change(meta, arrays):
        meta["history"][0]["norm"] = "x"

    with pytest.raises(InputError, match="its history cannot be right"):
        SequenceTagger.load(changed(tmp_path / "model", change))


@pytest.mark.parametrize("shape", [[2**47, 2**47, 0], [2**30, 0, 2**30]])
def test_an_empty_array_of_an_impossible_shape_is_refused(tmp_path, shape):
    (tmp_path / "model").write_bytes(forged(manifest(entry(shape=shape, crc32=0))))
    with pytest.raises(InputError, match="its array 'w' cannot have that shape"):
        read_container(tmp_path / "model", "tagger")


def test_numbers_beyond_all_bounds_are_refused(tmp_path):
    (tmp_path / "model").write_bytes(forged(b'{"kind": "tagger", "meta": {"x": 1e999}, "arrays": []}'))
    with pytest.raises(InputError, match="1e999 is no number"):
        read_container(tmp_path / "model", "tagger")


@pytest.mark.parametrize(("given", "taken"), [(4, 4), (10**9, 1), (0, 1), (-1, 1), (1.5, 1), ("x", 1), (True, 1)])
def test_a_file_cannot_ask_for_strange_numbers_of_threads(tmp_path, given, taken):
    saved(tmp_path / "model")
    loaded = SequenceTagger.load(changed(tmp_path / "model", with_options(n_jobs=given)))
    assert loaded.n_jobs == taken
    assert len(loaded.predict_marginals(X)) == len(X)


def test_numbers_of_numpy_are_saved(tmp_path):
    saved(tmp_path / "model", epochs=np.int64(3), beta=np.float64(0.25), minimum_count=np.int32(1), average=np.True_)
    loaded = SequenceTagger.load(tmp_path / "model")
    assert (loaded.epochs, loaded.beta, loaded.average) == (3, 0.25, True)
    assert type(loaded.epochs) is int


def test_a_rule_is_saved_with_its_numbers(tmp_path):
    rule = UpdateRule(substructures="segments", step="mira", beta=2.0, C=0.125)
    saved(tmp_path / "model", rule=rule, beta=None)
    assert SequenceTagger.load(tmp_path / "model")._rule() == rule
    saved(tmp_path / "model", rule=rule, beta=0.5, C=4.0)
    loaded = SequenceTagger.load(tmp_path / "model")
    assert (loaded.beta, loaded.C) == (0.5, 4.0)


def test_half_a_character_cannot_be_saved(tmp_path):
    tagger = SequenceTagger(epochs=1).fit([["a\ud800"]], [["X"]])
    with pytest.raises(InputError, match=r"half a character \('\\ud800'\) cannot be saved"):
        tagger.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("text", ["word[1001]", "word[-1001]", f"word[{'9' * 5000}]", f"prefix(word[0], {'9' * 5000})"])
def test_offsets_have_a_bound(text):
    with pytest.raises(InputError, match="offsets and numbers are at most 1000"):
        parse_templates([text], ["word"])
    assert parse_templates(["word[-01000]"], ["word"])[0].atoms[0].offset == -1000
