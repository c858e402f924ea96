"""Templates are read as written, and encode what they say."""

import itertools

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.features import FUNCTIONS, PRESETS, parse_templates, register_function, register_preset
from swvp.features.encoder import TemplateEncoder, has_repeated
from swvp.features.templates import Atom
from swvp.tagging.corpus import as_columns, numbered


def atom(column, offset, function="", number=0):
    return Atom("", column, "", offset, function, number)


def test_atoms_conjunctions_and_functions_are_read():
    templates = parse_templates(
        ["# a comment", "", " word[0]&pos[-1] ", "suffix( word[+1] , 3 )", "bias"], ["word", "pos"]
    )
    assert [template.atoms for template in templates] == [
        (atom("word", 0), atom("pos", -1)),
        (atom("word", 1, "suffix", 3),),
        (),
    ]
    assert [template.text for template in templates] == ["word[0] & pos[-1]", "suffix(word[1], 3)", "bias"]


def test_files_of_crfpp_are_read():
    lines = ["# Unigram", "U00:%x[-2,0]", "U05:%x[-1,0]/%x[0,1]", "", "B"]
    assert [template.atoms for template in parse_templates(lines, ["word", "pos"])] == [
        (atom("word", -2),),
        (atom("word", -1), atom("pos", 0)),
    ]


def test_a_template_given_twice_is_one():
    assert len(parse_templates(["word[0]", "word[ 0 ]", "U:%x[0,0]"], ["word"])) == 1


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_templates_and_their_text_reads_back(name):
    templates = parse_templates(PRESETS[name], ["word", "pos"])
    assert len(templates) == len(PRESETS[name])
    assert parse_templates([template.text for template in templates], ["word", "pos"]) == templates


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("wrod[0]", r"unknown column in template line 2: 'wrod' \(did you mean 'word'\?\); known: word, pos"),
        ("lemma[0]", "unknown column"),
        ("7[0]", "unknown column"),
        ("U:%x[0,5]", "unknown column in template line 2: '5'; known: word, pos"),
        ("word", "cannot read 'word'"),
        ("word[0", "cannot read"),
        ("lower(word[0]", "cannot read"),
        ("word[0])", "cannot read"),
        ("word[0] & ", "cannot read ''"),
        ("upper(word[0])", "unknown function in template line 2: 'upper'"),
        ("prefix(word[0])", "prefix needs a length of at least 1"),
        ("prefix(word[0], 0)", "prefix needs a length of at least 1"),
        ("lower(word[0], 2)", "lower takes no number"),
        ("B01:%x[0,0]", "attributes of transitions are not supported"),
    ],
)
def test_what_is_no_template_is_refused_with_its_line(line, message):
    with pytest.raises(InputError, match=message):
        parse_templates(["word[0]", line], ["word", "pos"])


def test_no_template_at_all_is_refused():
    with pytest.raises(InputError, match="no template"):
        parse_templates(["# nothing"], ["word"])


def named(encoder, X, columns):
    """The names of the attributes of each token."""
    attributes, starts = encoder.encode(as_columns(X, columns))
    return [[encoder.name(a) for a in attributes[i:j]] for i, j in itertools.pairwise(starts)]


def test_attributes_are_what_the_templates_say():
    encoder = TemplateEncoder(
        parse_templates(["bias", "word[-1]", "lower(word[0]) & pos[2]", "suffix(word[0], 2)"], ["word", "pos"])
    )
    X = [[("The", "D"), ("dogs", "N"), ("bark", "V")], [("Dogs", "N")]]
    encoder.fit(as_columns(X, ["word", "pos"]))
    assert named(encoder, X, ["word", "pos"]) == [
        ["bias", "word[-1] = <-1>", "lower(word[0]) & pos[2] = the & V", "suffix(word[0], 2) = he"],
        ["bias", "word[-1] = The", "lower(word[0]) & pos[2] = dogs & <+1>", "suffix(word[0], 2) = gs"],
        ["bias", "word[-1] = dogs", "lower(word[0]) & pos[2] = bark & <+2>", "suffix(word[0], 2) = rk"],
        ["bias", "word[-1] = <-1>", "lower(word[0]) & pos[2] = dogs & <+2>", "suffix(word[0], 2) = gs"],
    ]


def test_what_training_did_not_see_has_no_attribute():
    encoder = TemplateEncoder(parse_templates(["word[0]", "word[-1] & word[0]"], ["word"]))
    encoder.fit(as_columns([["a", "b"], ["b"]], ["word"]))
    assert named(encoder, [["b", "a", "c"]], ["word"]) == [
        ["word[0] = b", "word[-1] & word[0] = <-1> & b"],
        ["word[0] = a"],
        [],
    ]


def test_rare_attributes_are_left_out():
    encoder = TemplateEncoder(parse_templates(["word[0]"], ["word"]))
    encoder.fit(as_columns([["a", "b", "a", "c", "b"]], ["word"]), minimum_count=2)
    assert named(encoder, [["a", "b", "c"]], ["word"]) == [["word[0] = a"], ["word[0] = b"], []]


def test_different_attributes_have_different_numbers_on_random_text():
    rng = np.random.default_rng(0)
    X = [[str(word) for word in rng.integers(60, size=rng.integers(0, 9))] for _ in range(400)]
    columns = ["word"]
    encoder = TemplateEncoder(
        parse_templates(["word[0]", "word[-2] & word[1]", "word[0] & word[1] & word[2]"], columns)
    )
    encoder.fit(as_columns(X, columns))

    def at(sentence, k):
        return sentence[k] if 0 <= k < len(sentence) else f"<{k}>" if k < 0 else f"<+{k - len(sentence) + 1}>"

    expected = [
        [
            f"word[0] = {at(s, k)}",
            f"word[-2] & word[1] = {at(s, k - 2)} & {at(s, k + 1)}",
            f"word[0] & word[1] & word[2] = {at(s, k)} & {at(s, k + 1)} & {at(s, k + 2)}",
        ]
        for s in X
        for k in range(len(s))
    ]
    assert named(encoder, X, columns) == expected
    assert len(set(encoder.keys.tolist())) == len(encoder.keys) == len({name for names in expected for name in names})


def test_a_conjunction_with_too_many_values_is_refused():
    encoder = TemplateEncoder(parse_templates([" & ".join(f"word[{k}]" for k in range(8))], ["word"]))
    with pytest.raises(InputError, match="too many possible values; use fewer atoms"):
        encoder.fit(as_columns([[str(k) for k in range(500)]], ["word"]))


@pytest.mark.parametrize(
    ("function", "string", "number", "expected"),
    [
        ("lower", "ΑΘΉΝΑ", 0, "αθήνα"),
        ("prefix", "cat", 2, "ca"),
        ("prefix", "cat", 4, ""),
        ("suffix", "cat", 3, "cat"),
        ("shape", "U.N.-2030s", 0, "X.X.-dx"),
        ("shape", "", 0, ""),
        ("kinds", "iPhone7", 0, "x:Xdx"),
        ("kinds", "", 0, ""),
    ],
)
def test_functions_of_strings(function, string, number, expected):
    assert FUNCTIONS[function](string, number) == expected


# ---------------------------------------------------------------- encoders that grow, and hashed ones


def corpus(*sentences):
    return as_columns([list(sentence) for sentence in sentences], ["word"])


TEMPLATES = ["bias", "word[0]", "word[-1] & word[0]", "lower(word[0]) & word[1]", "suffix(word[2], 1)"]


def test_fitting_more_keeps_the_numbers_of_what_is_known():
    encoder = TemplateEncoder(parse_templates(TEMPLATES, ["word"]))
    encoder.fit(corpus("abA", "cab"))
    names = [encoder.name(k) for k in range(encoder.size)]
    attributes, starts = encoder.fit(corpus("zab", "abAzz"))
    assert [encoder.name(k) for k in range(len(names))] == names
    assert encoder.size > len(names)
    again, again_starts = encoder.encode(corpus("zab", "abAzz"))
    assert attributes.tolist() == again.tolist()
    assert starts.tolist() == again_starts.tolist()
    both = TemplateEncoder(parse_templates(TEMPLATES, ["word"]))
    both.fit(corpus("abA", "cab", "zab", "abAzz"))
    assert sorted(both.name(k) for k in range(both.size)) == sorted(encoder.name(k) for k in range(encoder.size))


@pytest.mark.parametrize("minimum_count", [1, 2, 3])
def test_fit_returns_what_encode_would(minimum_count):
    text = corpus("abcab", "bca", "ab", "dab")
    encoder = TemplateEncoder(parse_templates(TEMPLATES, ["word"]))
    attributes, starts = encoder.fit(text, minimum_count)
    expected, expected_starts = encoder.encode(text)
    assert attributes.tolist() == expected.tolist()
    assert starts.tolist() == expected_starts.tolist()
    counts = np.bincount(attributes, minlength=encoder.size)
    assert counts.min() >= minimum_count
    assert encoder.size < {1: 10**9, 2: 35, 3: 30}[minimum_count]


def test_hashed_attributes_stay_below_the_size_and_mean_the_same_everywhere():
    encoder = TemplateEncoder(parse_templates(TEMPLATES, ["word"]), hashed=16)
    attributes, starts = encoder.fit(corpus("abcab", "bca"))
    assert encoder.size == 16
    assert 5 < len(set(attributes.tolist())) <= 16
    again, _ = encoder.encode(corpus("bca"))
    assert again.tolist() == attributes[starts[5] :].tolist()


def test_the_labels_of_words_are_learnt_in_training():
    words = ["run", "run", "Run", "the", "the", "the", "the", "the", "a", "run", "run"]
    labels = numbered(["V", "N", "V", "D", "D", "D", "D", "X", "D", "V", "V"])
    text = as_columns([words[:5], words[5:]], ["word"])
    encoder = TemplateEncoder(parse_templates(["tags(word[0])", "tags(word[1]) & word[0]"], ["word"]))
    encoder.fit(text, 1, *labels)
    assert encoder.lexicons == {"word": {"run": "V|N", "the": "D|X"}}
    names = {encoder.name(k) for k in range(encoder.size)}
    assert {"tags(word[0]) = V|N", "tags(word[0]) = ", "tags(word[1]) & word[0] = D|X & Run"} <= names
    attributes, starts = encoder.encode(as_columns([["RUN"]], ["word"]))
    assert [encoder.name(k) for k in attributes[starts[0] : starts[1]]] == ["tags(word[0]) = V|N"]
    with pytest.raises(InputError, match="the function tags needs the labels of training"):
        TemplateEncoder(parse_templates(["tags(word[0])"], ["word"])).fit(text)


def test_labels_that_few_occurrences_of_a_word_have_are_left_out():
    labels = numbered(["A"] * 96 + ["B"] * 4)
    encoder = TemplateEncoder(parse_templates(["tags(word[0])"], ["word"]))
    encoder.fit(as_columns([["w"] * 100], ["word"]), 1, *labels)
    assert encoder.lexicons["word"]["w"] == "A"


def test_names_that_look_like_crfpp_are_columns():
    templates = parse_templates(["Upos[0]", "Base[1] & Upos[-1]", "U01:%x[0,1]", "U02", "B"], ["word", "Upos", "Base"])
    assert [template.text for template in templates] == ["Upos[0]", "Base[1] & Upos[-1]", "bias"]
    for line in ("U01:%x[0,0", "U01:%y[0,0]"):
        with pytest.raises(InputError, match=r"template line 1: cannot read"):
            parse_templates([line], ["word"])


def test_a_function_of_your_own_is_one_registration(monkeypatch):
    for name in ("initial", "middle"):
        monkeypatch.setitem(FUNCTIONS, name, None)
        del FUNCTIONS[name]
    register_function("initial", lambda string: string[:1])
    register_function("middle", lambda string, number: string[1 : 1 + number], takes_number=True)
    templates = parse_templates(["initial(word[0])", "middle(word[-1], 2)"], ["word"])
    assert [template.text for template in templates] == ["initial(word[0])", "middle(word[-1], 2)"]
    encoder = TemplateEncoder(templates)
    encoder.fit(as_columns([["dogs", "bark"]], ["word"]))
    assert named(encoder, [["dogs", "bark"]], ["word"])[1] == ["initial(word[0]) = b", "middle(word[-1], 2) = og"]
    with pytest.raises(InputError, match="initial takes no number"):
        parse_templates(["initial(word[0], 2)"], ["word"])
    for name in ("initial", "no such", ""):
        with pytest.raises(InputError, match="cannot name a function"):
            register_function(name, str.upper)
    with pytest.raises(InputError, match="must be callable"):
        register_function("other", "upper")


def test_a_preset_of_your_own_is_one_registration(monkeypatch):
    monkeypatch.setitem(PRESETS, "mine", None)
    del PRESETS["mine"]
    register_preset("mine", ["bias", "word[0]"])
    assert [template.text for template in parse_templates(PRESETS["mine"], ["word"])] == ["bias", "word[0]"]
    with pytest.raises(InputError, match="there is one with this name"):
        register_preset("mine", ["bias"])
    with pytest.raises(InputError, match="unknown kind of preset 'tree'"):
        register_preset("other", ["bias"], kind="tree")


@pytest.mark.parametrize("numbers", [[], [3], [3, 1, 2], [3, 1, 3], [0, 0], [2**62, -1, 2**62]])
def test_repeated_numbers_are_noticed(numbers):
    assert has_repeated(np.array(numbers, np.int64)) == (len(set(numbers)) < len(numbers))


def test_a_corpus_that_is_numbered_in_parts_gets_the_same_attributes(monkeypatch):
    rng = np.random.default_rng(0)
    X = [[f"w{word}" for word in rng.integers(0, 9, length)] for length in rng.integers(0, 6, 40)]
    whole = TemplateEncoder(parse_templates(["word[0]", "word[-1] & word[0]"], ["word"]))
    in_parts = TemplateEncoder(whole.templates)
    expected = whole.fit(as_columns(X, ["word"]))
    monkeypatch.setattr("swvp.features.encoder.PART", 7)
    for one, other in zip(in_parts.fit(as_columns(X, ["word"])), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(in_parts.keys, whole.keys)
