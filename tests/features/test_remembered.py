"""Numbers of strings that are remembered: those that would be computed, whatever came before."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from swvp.features.encoder import Columns, TemplateEncoder
from swvp.features.remembered import StringRows
from swvp.features.templates import FUNCTIONS, Slot, parse_templates, register_function
from swvp.structures.tree.encoding import hashed, hashes_of


def lengths(strings):
    return np.array([[len(string), string.count("a")] for string in strings], np.int64).reshape(-1, 2)


def test_rows_are_those_that_are_computed():
    rng = np.random.default_rng(0)
    words = ["a" * k + "b" * j for k in range(6) for j in range(6)]
    rows = StringRows(lengths, most=20)
    for size in (0, 1, 5, 30, 3, 36, 0, 10):
        strings = rng.choice(words, size).tolist()
        assert rows(strings).tolist() == lengths(strings).tolist()


def test_each_string_is_computed_once():
    computed = []
    rows = StringRows(lambda strings: computed.extend(strings) or lengths(strings))
    for strings in (["a", "b", "a"], ["b", "c"], ["a", "c"]):
        rows(strings)
    assert computed == ["a", "b", "c"]


def test_no_more_strings_are_remembered_than_allowed():
    rows = StringRows(lengths, most=3)
    for k in range(10):
        rows([f"{k}", f"{k + 1}"])
        assert len(rows._places) <= 3


def test_threads_share_what_is_remembered():
    rng = np.random.default_rng(1)
    rows = StringRows(lengths, most=50)
    lists = [[f"a{number}" * (number % 3) for number in rng.integers(0, 80, 30)] for _ in range(200)]
    with ThreadPoolExecutor(4) as pool:
        for strings, found in zip(lists, pool.map(rows, lists), strict=True):
            assert found.tolist() == lengths(strings).tolist()


def columns_of(*words):
    return Columns(("word",), [list(words)], np.arange(len(words), dtype=np.int32)[None], np.array([0, len(words)]))


def test_an_encoder_forgets_what_it_remembered_when_it_learns_more():
    encoder = TemplateEncoder(parse_templates(["word[0]", "lower(word[0])"], ["word"]))
    encoder.fit(columns_of("a", "B"))
    assert np.diff(encoder.encode(columns_of("c", "b"))[1]).tolist() == [0, 1]
    again = pickle.loads(pickle.dumps(encoder))
    encoder.fit(columns_of("c"))
    assert np.diff(encoder.encode(columns_of("c", "b"))[1]).tolist() == [2, 1]
    assert np.diff(again.encode(columns_of("c", "b"))[1]).tolist() == [0, 1]


def test_many_attributes_are_numbered_by_their_first_occurrence():
    words = [f"w{number}" for number in np.random.default_rng(2).integers(0, 60_000, 100_000)]
    numbers = {}
    ids = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32)
    columns = Columns(("word",), [list(numbers)], ids[None], np.array([0, len(words)]))
    for minimum_count in (1, 2):
        encoder = TemplateEncoder(parse_templates(["word[0]"], ["word"]))
        attributes, starts = encoder.fit(columns, minimum_count)
        frequent = np.flatnonzero(np.bincount(ids) >= minimum_count)
        expected = np.searchsorted(frequent, ids[np.isin(ids, frequent)])
        assert attributes.tolist() == expected.tolist()
        assert encoder.size == len(frequent)
        assert [a.tolist() for a in encoder.encode(columns)] == [attributes.tolist(), starts.tolist()]


def test_a_function_that_is_replaced_is_not_remembered():
    slot = Slot("word", function="strange")
    for end in ("x", "y"):
        register_function("strange", lambda string, end=end: string + end)
        assert hashes_of([slot], ["a", "b"]).tolist() == [[hashed("a" + end)], [hashed("b" + end)]]
        del FUNCTIONS["strange"]
