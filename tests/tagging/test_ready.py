"""Ready features: lists and dicts mean what they mean to python-crfsuite, however many tokens are read at a time."""

import itertools
from collections import Counter, OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from swvp import InputError, SequenceTagger
from swvp.tagging import ready
from swvp.tagging.ready import FeatureEncoder

TOKENS = {
    "strings": {"word": "Ann", "shape": "Xxx"},
    "bools": {"title": True, "digit": False, "numpy": np.bool_(True)},
    "numbers": {"one": 1, "length": 0.25, "large": 700, "negative": -3, "numpy": np.float32(0.5), "int": np.int64(4)},
    "other numbers": {"decimal": Decimal("0.5"), "fraction": Fraction(1, 4)},
    "list of strings": ["bias", "word=Ann", "ä"],
    "set of strings": {"b", "a", "c"},
    "list in a dict": {"ends": ["A", "n"], "empty": []},
    "set in a dict": {"letters": {"n", "A", "x"}},
    "dict in a dict": {"-1": {"word": "saw", "title": False, "deeper": {"yet": ["x", "y"]}}},
    "bytes": {b"key": b"value", "word": b"\xc3\xa4"},
    "strings with colons": {"a:b": "c", "a": "b:c:d"},
    "empty dict": {},
    "empty list": [],
    "empty string": {"": "", "x": ""},
    "numpy string": {"word": np.str_("Ann")},
}


def plain(token, before=""):
    """The definition: the names and values of the attributes of a token."""
    if not isinstance(token, dict):
        return [(before + item, 1.0) for item in (sorted(token) if isinstance(token, set) else token)]
    result = []
    for key, value in token.items():
        key, value = (part.decode() if isinstance(part, bytes) else part for part in (key, value))
        if isinstance(value, str):
            result.append((f"{before}{key}:{value}", 1.0))
        elif isinstance(value, (list, set, dict, tuple)):
            result += plain(value, f"{before}{key}:")
        else:
            result.append((before + key, float(value)))
    return result


def read(tokens, **options):
    """What the encoder makes of one sentence: the names and values of each token, without values 0."""
    encoder = FeatureEncoder()
    attributes, values, starts = encoder.fit([tokens], **options)
    again = encoder.encode([tokens])
    for a, b in zip((attributes, values, starts), again, strict=True):
        np.testing.assert_array_equal(a, b)
    names = encoder.names(attributes.tolist())
    pairs = list(zip(names, values.tolist() if len(values) else [1.0] * len(names), strict=True))
    return [pairs[a:b] for a, b in itertools.pairwise(starts)], list(encoder.numbers)


def without_zeros(pairs):
    return [pair for pair in pairs if pair[1] != 0]


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("copies", [1, 40], ids=["one token", "many"])
def test_a_token_means_what_it_means_to_python_crfsuite(token, copies):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    expected = pycrfsuite.ItemSequence([token]).items()[0]
    encoded, names = read([token] * copies)
    assert sorted(names) == sorted(expected)
    for pairs in encoded:
        assert sorted(pairs) == sorted(without_zeros(expected.items()))


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("copies", [1, 40], ids=["one token", "many"])
def test_a_token_has_the_attributes_of_its_definition_in_their_order(token, copies):
    encoded, names = read([token] * copies)
    assert encoded == [without_zeros(plain(token))] * copies
    assert names == [name for name, _ in plain(token)]


def some_token(rng):
    """A token of one of a few layouts, with random values; some keys have values of several kinds."""
    word = lambda: "".join(rng.choice(list("ab:"), rng.integers(0, 3)))  # noqa: E731
    layouts = [
        lambda: {"w": word(), "t": bool(rng.integers(2)), "n": int(rng.integers(-300, 300))},
        lambda: {"w": word(), "x": float(rng.integers(3)) / 2, "+1": {"w": word(), "t": bool(rng.integers(2))}},
        lambda: {"w": word(), "all": [word() for _ in range(rng.integers(3))], "set": {word(), word()}},
        lambda: {"w": [word(), 1, True, {"w": word()}, (word(),)][rng.integers(5)]},
        lambda: {word(): float(rng.integers(-1, 2)) for _ in range(rng.integers(5))},
        lambda: {f"w{k}": word() for k in range(rng.integers(5))},
        lambda: [word() for _ in range(rng.integers(4))],
        lambda: {"d": {"e": {word(): word()}}},
    ]
    return layouts[rng.integers(len(layouts))]()


@pytest.mark.parametrize("block", [7, 50, 10_000])
@pytest.mark.parametrize("few", [0, 10_000])
def test_random_tokens_have_the_attributes_of_their_definitions(block, few, monkeypatch):
    monkeypatch.setattr(ready, "BLOCK", block)
    monkeypatch.setattr(ready, "FEW", few)
    rng = np.random.default_rng(7)
    tokens = [some_token(rng) for _ in range(600)]
    tokens += [token for token in [some_token(rng) for _ in range(600)] if isinstance(token, dict)]
    expected = [plain(token) for token in tokens]
    encoded, names = read(tokens)
    assert encoded == [without_zeros(pairs) for pairs in expected]
    assert names == list(dict.fromkeys(name for pairs in expected for name, _ in pairs))
    counts = Counter(name for pairs in expected for name, _ in pairs)
    frequent = [name for name in dict.fromkeys(counts) if counts[name] >= 5]
    assert read(tokens, minimum_count=5)[1] == frequent
    assert 0 < len(frequent) < len(names)


def test_the_order_of_keys_may_differ():
    tokens = [{"a": "x", "b": "y"}, {"b": "z", "a": "w"}] * 20
    encoder = FeatureEncoder()
    for attributes, _, starts in (encoder.fit([tokens]), encoder.encode([tokens]), encoder.encode([tokens] * 10)):
        for token, (a, b) in zip(tokens, itertools.pairwise(starts), strict=False):
            assert sorted(encoder.names(attributes[a:b].tolist())) == sorted(name for name, _ in plain(token))


@pytest.mark.parametrize("make", [OrderedDict, lambda token: defaultdict(int, token)], ids=["OrderedDict", "default"])
def test_classes_derived_from_dict_are_dicts_and_stay_unchanged(make):
    tokens = [make({"a": "x"}), make({"b": 2.0})] * 20
    encoded, _ = read(tokens)
    assert encoded == [[("a:x", 1.0)], [("b", 2.0)]] * 20
    assert [list(token) for token in tokens] == [["a"], ["b"]] * 20


def test_known_attributes_keep_their_numbers_and_unknown_ones_are_left_out():
    encoder = FeatureEncoder(["w:b", "t"])
    encoder.fit([[{"w": "a", "t": 1}, {"w": "b", "t": 0}]])
    assert list(encoder.numbers) == ["w:b", "t", "w:a"]
    attributes, values, starts = encoder.encode([[{"w": "c", "t": 2}, {"w": "a", "u": 1}], []])
    assert attributes.tolist() == [1, 2]
    assert values.tolist() == [2, 1]
    assert starts.tolist() == [0, 1, 2]


def test_a_name_that_comes_from_several_pairs_is_one_attribute():
    tokens = [{"a": "b:c"}, {"a:b": "c"}, ["a:b:c"], {"a": {"b": "c"}}, {"a:b:c": 1}]
    assert read(tokens)[1] == ["a:b:c"]
    assert read(tokens, minimum_count=5)[1] == ["a:b:c"]
    assert read(tokens, minimum_count=6)[1] == []


def test_features_with_the_value_0_change_no_weight():
    words, y = [["a", "b", "c"], ["b", "c"]], [["X", "Y", "X"], ["Y", "X"]]

    def fitted(make):
        X = [[make(word) for word in sentence] for sentence in words]
        tagger = SequenceTagger(rule="csp", epochs=3, random_state=0).fit(X, y)
        return dict(zip(tagger.encoder_.numbers, tagger.coef_.tolist(), strict=True))

    with_zeros = fitted(lambda word: {"w": word, "b": word == "b", "never": False})
    assert with_zeros.pop("never") == [0, 0]
    assert with_zeros == fitted(lambda word: {"w": word, "b": True} if word == "b" else {"w": word})


@pytest.mark.parametrize("copies", [1, 40])
@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"a": None}, "the value of a feature is a string, a number, a list or a dict, not None"),
        ({"a": ["b", 3]}, "a feature in a list must be a string, not 3"),
        ({"a": {"b": [["c"]]}}, r"a feature in a list must be a string, not \['c'\]"),
        ([1.5], "a feature in a list must be a string, not 1.5"),
        ({"a": 10**400}, "the value of the feature 'a' is too large"),
        ({"a": float("inf")}, "a feature has the value NaN or infinity"),
        ({"a": -1e31}, r"a feature has the value 1e\+31; the largest is 1e\+30: scale the values"),
        ({"a": 1 + 2j}, "the value of a feature is a string, a number, a list or a dict, not"),
    ],
)
def test_what_is_no_feature_is_refused(token, message, copies):
    with pytest.raises(InputError, match=message):
        FeatureEncoder().fit([[token] * copies])
