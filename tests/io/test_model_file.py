"""The file of a tagger: nothing is lost in it, and a file that cannot be right is refused in one line."""

import json

import numpy as np
import pytest

from helpers.containers import ONE, entry, forged, manifest
from swvp import SequenceTagger, UpdateRule
from swvp.errors import InputError
from swvp.features.templates import parse_templates
from swvp.io.container import read_container, write_container
from swvp.io.model_files import Migration
from swvp.tagging import persistence as tagging_model

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


def with_array(meta, arrays):
    arrays["more"] = np.zeros(3)


def without_keys(meta, arrays):
    del arrays["keys"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_to(temperature=10**400), "OverflowError"),
        (set_to(dev_scores=[10**400]), "its scores cannot be right"),
        (set_to(best_epoch=None), "its best epoch cannot be right"),
        (set_to(best_epoch=2), "its best epoch cannot be right"),
        (set_to(history=[{}]), "its history cannot be right"),
        (set_to(history={}), "its history cannot be right"),
        (set_to(dev_scores=["1"]), "its scores cannot be right"),
        (set_to(dev_scores=[True]), "its scores cannot be right"),
        (set_to(templates=["word[12345678901234567890]"]), "looks farther than 1000|has a number of more than 1000"),
        (set_to(templates=["word[4611686018427387904]"]), "looks farther than 1000|has a number of more than 1000"),
        (set_to(layout=LAYOUT | {"names": ["form"]}), "its columns cannot be right"),
        (set_to(columns=["word", "word"]), "its columns cannot be right"),
        (set_to(columns=["word", "pos"]), "its columns cannot be right"),
        (without_words, "a vocabulary is empty"),
        (with_long_keys, "has too many possible values"),
        (with_options(l2="x"), "its l2 cannot be right"),
        (with_options(l2=None), "its l2 cannot be right"),
        (with_options(l2=10**400), "its l2 cannot be right"),
        (with_options(rule="own", beta=10**400), "its beta cannot be right"),
        (with_options(beta=True), "its beta cannot be right"),
        (with_options(C=-1), "its C cannot be right"),
        (with_options(epochs="x"), "its epochs cannot be right"),
        (with_options(hashed=True), "its hashed cannot be right"),
        (with_options(minimum_count=2**70), "its minimum_count cannot be right"),
        (with_options(patience=0), "its patience cannot be right"),
        (set_to(format=0), "its version cannot be right"),
        (set_to(format="1"), "its version cannot be right"),
        (set_to(format=2), "a tagger of version 2, this swvp reads up to 1: use a newer swvp"),
        (with_array, "it has an array 'more' that nobody reads"),
        (without_keys, "it lacks its array 'keys'"),
        (set_to(templates=[f"word[{k}]" for k in range(-1000, 1001)]), "2,001 templates, the most are 2,000"),
        (set_to(templates=[" & ".join(["word[0]"] * 101)]), "more than 100 atoms"),
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
    with pytest.raises(InputError, match=r"an unpaired surrogate \('\\ud800'\) cannot be saved"):
        tagger.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["mistakes", "seconds"])
@pytest.mark.parametrize("value", [True, None, "1", -1, 10**400, [1]])
def test_a_history_holds_numbers_of_the_right_kind(tmp_path, name, value):
    saved(tmp_path / "model")

    def change(meta, arrays):
        meta["history"][0][name] = value

    with pytest.raises(InputError, match="its history cannot be right"):
        SequenceTagger.load(changed(tmp_path / "model", change))


@pytest.mark.parametrize("escaped", [b"\\ud800", b"\\uDFFF", b"\\ude00\\ud83d"])
def test_half_a_character_in_a_file_is_refused(tmp_path, escaped):
    (tmp_path / "model").write_bytes(forged(b'{"kind": "tagger", "meta": {"x": "%s"}, "arrays": []}' % escaped))
    with pytest.raises(InputError, match="has an unpaired surrogate"):
        read_container(tmp_path / "model", "tagger")


@pytest.mark.parametrize(("escaped", "text"), [(b"\\ud83d\\ude00", "😀"), (b"\\\\ud800", "\\ud800")])
def test_two_halves_and_a_backslash_are_characters(tmp_path, escaped, text):
    text_and_array = b'{"kind": "tagger", "meta": {"x": "%s"}, "arrays": [%s]}' % (
        escaped,
        json.dumps(entry()).encode(),
    )
    (tmp_path / "model").write_bytes(forged(text_and_array, ONE))
    assert read_container(tmp_path / "model", "tagger").meta == {"x": text}


def feature_tagger(value, **options):
    X = [[{"a": value}, {"b": -value, "a": 1.0}, {"b": 1.0}]]
    return SequenceTagger(epochs=3, random_state=0, **options).fit(X, [["x", "y", "y"]])


@pytest.mark.parametrize("value", [1.1e30, -1e150, 1e154, 1e308, 10**31])
def test_feature_values_have_a_bound(value):
    with pytest.raises(InputError, match=r"the largest is 1e\+30: scale the values"):
        feature_tagger(value)


@pytest.mark.parametrize("rule", ["csp", "a-wm:segments:sqrt", "mira", "crf"])
@pytest.mark.parametrize("value", [1e30, 1e-30, 5e-324])
def test_a_tagger_of_the_largest_values_is_saved_and_loaded(tmp_path, rule, value):
    tagger = feature_tagger(value, rule=rule)
    tagger.save(tmp_path / "model")
    np.testing.assert_array_equal(SequenceTagger.load(tmp_path / "model").coef_, tagger.coef_)


@pytest.mark.parametrize("weight", [np.nan, np.inf, 1e101])
def test_weights_that_cannot_be_loaded_are_not_saved(tmp_path, weight):
    tagger = SequenceTagger(epochs=1, random_state=0).fit(X, Y)
    tagger.coef_[0, 0] = weight
    with pytest.raises(InputError, match=r"would hold NaN, infinity or numbers beyond 1e\+100"):
        tagger.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_older_version_is_migrated(tmp_path, monkeypatch):
    saved(tmp_path / "model")

    def apply(contents):
        return contents._replace(meta=contents.meta | {"temperature": 2.5})

    newer = tagging_model.FORMAT._replace(version=2, migrations={1: Migration(tagging_model.FORMAT.arrays, apply)})
    monkeypatch.setattr(tagging_model, "FORMAT", newer)
    assert SequenceTagger.load(tmp_path / "model").temperature_ == 2.5


def test_a_version_that_is_too_old_is_told(tmp_path, monkeypatch):
    saved(tmp_path / "model")
    monkeypatch.setattr(tagging_model, "FORMAT", tagging_model.FORMAT._replace(version=2))
    with pytest.raises(InputError, match="a tagger of version 1, which this swvp cannot read any more: train again"):
        SequenceTagger.load(tmp_path / "model")


def test_a_file_without_a_version_is_of_the_first(tmp_path):
    saved(tmp_path / "model")
    assert SequenceTagger.load(changed(tmp_path / "model", lambda meta, arrays: meta.pop("format")))


@pytest.mark.parametrize("text", ["word[1001]", "word[-1001]", f"word[{'9' * 5000}]", f"prefix(word[0], {'9' * 5000})"])
def test_offsets_have_a_bound(text):
    with pytest.raises(InputError, match=r"looks farther than 1000|has a number of more than 1000"):
        parse_templates([text], ["word"])
    assert parse_templates(["word[-01000]"], ["word"])[0].atoms[0].offset == -1000
