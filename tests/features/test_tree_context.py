"""What a word's surroundings say of it equals the definition."""

import numpy as np
import pytest

from swvp.features.context import fine_tag, flags_of_tag, is_punctuation, with_context

TAGS = ["NOUN", "VERB", "AUX", "PUNCT", "CCONJ", "ADP", "ADJ", "DET"]


def marker(words, tags, k):
    for before in range(k - 1, max(k - 9, -1), -1):
        if tags[before] in ("ADP", "CCONJ"):
            return words[before].lower()
        if tags[before] in ("VERB", "AUX", "PUNCT"):
            return f"|{tags[before]}"
    return ""


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_the_surroundings(seed):
    rng = np.random.default_rng(seed)
    lengths = [1, 2, 30, 7, 15]
    words = [[f"Word{rng.integers(9)}" for _ in range(n)] for n in lengths]
    tags = [[str(rng.choice(TAGS, p=[0.5, *[0.5 / 7] * 7])) for _ in range(n)] for n in lengths]
    flat_words, flat_tags = [w for x in words for w in x], [t for x in tags for t in x]
    columns = {}
    for name, values in (
        ("word", flat_words),
        ("pos", flat_tags),
        ("tag", ["_"] * len(flat_tags)),
        ("feats", ["_"] * len(flat_tags)),
    ):
        strings, ids = np.unique(values, return_inverse=True)
        columns[name] = strings.tolist(), ids
    found = with_context(columns, np.cumsum([0, *lengths]))
    shown = {name: [strings[k] for k in ids] for name, (strings, ids) in found.items()}
    assert shown["marker"] == [marker(w, t, k) for w, t in zip(words, tags, strict=True) for k in range(len(w))]
    backwards = [
        marker(w[::-1], t[::-1], len(w) - 1 - k) for w, t in zip(words, tags, strict=True) for k in range(len(w))
    ]
    assert shown["follower"] == backwards
    around = []
    for t in tags:
        verbs = [tag == "VERB" for tag in t]
        around += [f"{min(sum(verbs[:k]), 3)}/{min(sum(verbs[k + 1 :]), 3)}" for k in range(len(t))]
    assert shown["verbs"] == around


FEATS = ["_", "Case=Nom|Gender=Fem|Number=Sing", "Tense=Past|VerbForm=Part", "Number[psor]=Plur|Case=Acc"]


@pytest.mark.parametrize("seed", range(5))
def test_fine_tags_are_xpos_or_else_upos_with_features(seed):
    rng = np.random.default_rng(seed)
    size = 40
    coarse = [str(rng.choice(["NOUN", "VERB", "_"])) for _ in range(size)]
    tags = [str(rng.choice(["_", tag, "NN", "VBD"])) for tag in coarse]
    feats = [str(rng.choice(FEATS)) for _ in range(size)]
    columns = {}
    for name, values in (("word", coarse), ("pos", coarse), ("tag", tags), ("feats", feats)):
        strings, ids = np.unique(values, return_inverse=True)
        columns[name] = strings.tolist(), ids
    strings, ids = with_context(columns, np.array([0, 10, size]))["fine"]
    assert [strings[k] for k in ids] == [
        fine_tag(pos, morphology) if tag in ("_", pos) else tag
        for pos, tag, morphology in zip(coarse, tags, feats, strict=True)
    ]


def test_a_fine_tag_has_no_gender_and_no_features_of_possessors():
    assert [fine_tag("NOUN", feats) for feats in FEATS] == [
        "NOUN",
        "NOUN|Case=Nom|Number=Sing",
        "NOUN|VerbForm=Part",
        "NOUN|Case=Acc",
    ]


def test_fine_tags_of_no_words():
    columns = {name: ([], np.zeros(0, np.int64)) for name in ("word", "pos", "tag", "feats")}
    strings, ids = with_context(columns, np.array([0]))["fine"]
    assert (len(strings), len(ids)) == (0, 0)


def test_tags_of_other_treebanks():
    assert flags_of_tag("VERB") == flags_of_tag("vm") != flags_of_tag("AUX")
    assert flags_of_tag("PUNCT") == flags_of_tag("Punc") > 0 == flags_of_tag("PRON")
    assert [is_punctuation(form) for form in ("", "...", "$", "a.")] == [False, True, False, False]
