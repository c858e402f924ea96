"""The features of arcs in the kernels are those of the definition: the same number, and one key for each."""

from collections import Counter

import numpy as np
import pytest

from helpers.treebanks import arcs_of, as_arcs, columns_of, key_of_feature, keys_of, random_sentence
from swvp.features.parser_templates import ARC_ATOMS, COLUMNS, parse_arc_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.structures.tree.encoding import ranks_of
from swvp.structures.tree.first_order.features import FREE, NO_OWNERS, bin_of, place, score_sentence
from swvp.structures.tree.first_order.model import new_model
from swvp.structures.tree.reference import arc_features


def random_atom(rng, side):
    column = str(rng.choice([c for c in COLUMNS if c != "feats"]))
    inner = f"{side}.{column}" + (f"[{rng.integers(-3, 4):+d}]" if rng.random() < 0.5 else "")
    function = str(rng.choice(["", "", "", "lower", "prefix", "suffix", "shape", "kinds"]))
    if function in ("prefix", "suffix"):
        return f"{function}({inner}, {rng.integers(1, 4)})"
    return f"{function}({inner})" if function else inner


def random_template(rng, between):
    """One to four atoms of sides, and perhaps feats, a column in between or atoms of the arc."""
    atoms = [random_atom(rng, str(rng.choice(["h", "m"]))) for _ in range(rng.integers(0, 4))]
    kind = rng.integers(5)
    if kind == 0:
        atoms += [f"{side}.feats" for side in "hm" if rng.random() < 0.7]
    elif kind == 1:
        atoms += [f"between.{between}"]
    elif kind == 2:
        atoms += [atom for atom in ARC_ATOMS if rng.random() < 0.4]
    return " & ".join(rng.permutation(atoms)) or "bias"


def random_templates(rng):
    between = str(rng.choice(["pos", "tag", "word", "lemma"]))
    return parse_arc_templates([random_template(rng, between) for _ in range(rng.integers(1, 12))])


def random_treebank(rng, lengths=(1, 2, 3, 5, 8, 14)):
    return [random_sentence(rng, n) for n in lengths]


TEMPLATES = [random_templates(np.random.default_rng(seed)) for seed in range(12)]
TEMPLATES += [parse_arc_templates(PRESETS[name]) for name in PRESETS]


def features_by_template(templates, x, arc):
    return [feature for template in templates for feature in arc_features(template, x, *arc)]


@pytest.mark.parametrize("seed", range(len(TEMPLATES)))
def test_two_features_have_the_same_key_if_and_only_if_they_are_the_same(seed):
    rng, templates = np.random.default_rng(seed), TEMPLATES[seed]
    sentences = random_treebank(rng)
    key = key_of_feature(sentences, templates)
    assert len(set(key.values())) == len(key)
    problem = as_arcs(sentences, [], templates)
    for i, x in enumerate(sentences):
        arcs = arcs_of(x)
        for arc, keys in zip(arcs, keys_of(problem, i, arcs), strict=True):
            assert Counter(keys) == Counter(key[f] for f in features_by_template(templates, x, arc))


@pytest.mark.parametrize("mode", ["hashed", "small", "exact", "full"])
@pytest.mark.parametrize("seed", range(0, len(TEMPLATES), 3))
def test_the_score_of_an_arc_is_the_sum_of_the_weights_of_its_features(seed, mode):
    rng, templates = np.random.default_rng(seed), TEMPLATES[seed]
    sentences = random_treebank(rng)
    problem = as_arcs(sentences, [], templates)
    every = [keys_of(problem, i, arcs_of(x)) for i, x in enumerate(sentences)]
    distinct = sorted({key for arcs in every for keys in arcs for key in keys})
    size = 2 ** (12 if mode == "small" else 20)
    owned = {"exact": distinct, "full": distinct[::2]}.get(mode, [])
    size = max(2, 2 ** (2 * len(owned)).bit_length()) if owned else size
    model = new_model(problem, size, exact=bool(owned))
    mask = np.uint64(size - 1)
    for key in owned:
        model.owners[place(np.uint64(key), model.owners, mask)] = key
    model.w[:] = rng.normal(size=size)
    if owned:
        model.w[model.owners == FREE] = 0
        assert len(set(model.owners[model.owners != FREE].tolist())) == len(owned)
    for i, x in enumerate(sentences):
        assert score_sentence(problem.nodes, problem.tables, i, model.w, model.owners, model.buffers) == len(x)
        for (h, m), keys in zip(arcs_of(x), every[i], strict=True):
            if owned:
                weight = {int(key): value for key, value in zip(model.owners, model.w, strict=True) if key}
                expected = sum(weight.get(key, 0.0) for key in keys)
            else:
                expected = sum(model.w[key & (size - 1)] for key in keys)
            np.testing.assert_allclose(model.buffers.scores[h, m], expected, atol=1e-9)


def test_the_preset_in_a_sentence_of_200_words():
    rng = np.random.default_rng(5)
    templates = parse_arc_templates(PRESETS["turbo"])
    sentences = [random_sentence(rng, 200), random_sentence(rng, 1)]
    problem = as_arcs(sentences, [], templates)
    model = new_model(problem, 2**16)
    model.w[:] = rng.normal(size=len(model.w))
    for i in (1, 0):  # what was in the buffers before does not matter
        score_sentence(problem.nodes, problem.tables, i, model.w, NO_OWNERS, model.buffers)
        arcs = arcs_of(sentences[i])
        arcs = [arcs[j] for j in rng.permutation(len(arcs))[:300]]
        for (h, m), keys in zip(arcs, keys_of(problem, i, arcs), strict=True):
            assert len(keys) == len(features_by_template(templates, sentences[i], (h, m)))
            expected = sum(model.w[key & (len(model.w) - 1)] for key in keys)
            np.testing.assert_allclose(model.buffers.scores[h, m], expected, atol=1e-9)


def test_pruned_arcs_are_minus_infinity_and_no_others():
    rng = np.random.default_rng(6)
    sentences = [random_sentence(rng, 6) for _ in range(5)]
    trees = [[0, *rng.integers(1, 3, size=5).tolist()] for _ in sentences]
    trees = [[h if h != m else 1 for m, h in enumerate(y, 1)] for y in trees]
    seen = {}
    for x, y in zip(sentences, trees, strict=True):
        for m, h in enumerate(y, 1):
            tags = "root" if h == 0 else x[h - 1]["pos"], x[m - 1]["pos"], m > h
            seen[tags] = max(seen.get(tags, 0), abs(h - m) if h else 1000)
    problem = as_arcs(sentences, trees, parse_arc_templates(["bias"]), prune=True)
    model = new_model(problem, 2**8)
    pruned = 0
    for i, x in enumerate(sentences):
        score_sentence(problem.nodes, problem.tables, i, model.w, NO_OWNERS, model.buffers)
        for h, m in arcs_of(x):
            tags = "root" if h == 0 else x[h - 1]["pos"], x[m - 1]["pos"], m > h
            expected = 0.0 if abs(h - m) <= seen.get(tags, 0) else -np.inf
            pruned += expected < 0
            assert model.buffers.scores[h, m] == expected
    assert pruned > 20


def test_values_that_training_has_not_seen_have_keys_of_their_own():
    rng = np.random.default_rng(7)
    sentences = [random_sentence(rng, 5) for _ in range(4)]
    ranks = ranks_of(columns_of(sentences))
    new = [dict(word, pos=f"NEW{k}", feats=f"New={k}") for k, word in enumerate(sentences[0])]
    templates = parse_arc_templates(["h.pos & m.pos", "h.feats & m.feats", "m.pos", "between.pos"])
    keys = {}
    for group in (sentences, [new]):
        problem = as_arcs(group, [], templates, ranks=ranks)
        for i, x in enumerate(group):
            for arc, found in zip(arcs_of(x), keys_of(problem, i, arcs_of(x)), strict=True):
                features = features_by_template(templates, x, arc)
                assert len(features) == len(found)
                keys.update(dict.fromkeys(found))
    every = [
        {f for x in group for arc in arcs_of(x) for f in features_by_template(templates, x, arc)}
        for group in (sentences, [new])
    ]
    assert len(every[1] - every[0]) > 20
    assert len(keys) == len(every[0] | every[1])


def test_the_first_features_of_a_word_with_too_many_are_looked_at():
    x = random_sentence(np.random.default_rng(8), 2)
    x[0]["feats"], x[1]["feats"] = "|".join(f"F{k}=1" for k in range(40)), "A=1"
    templates = parse_arc_templates(["h.feats", "h.feats & m.feats", "m.feats"])
    problem = as_arcs([x], [], templates)
    for arc, keys in zip(arcs_of(x), keys_of(problem, 0, arcs_of(x)), strict=True):
        assert len(keys) == len(set(keys)) == len(features_by_template(templates, x, arc))
    assert len(features_by_template(templates, x, (1, 2))) == 24 + 24 + 1


def test_bins_of_distances():
    found = [bin_of(length) for length in range(1, 300)]
    expected = [sum(length > far for far in (1, 2, 3, 4, 5, 10, 20, 30, 40)) + 1 for length in range(1, 300)]
    assert found == expected


@pytest.mark.parametrize(
    ("template", "arc", "expected"),
    [
        ("h.pos & m.pos", (3, 1), ["h.pos=VERB & m.pos=DET, left"]),
        ("h.word & m.word[-1]", (0, 1), ["h.word=(root) & m.word[-1]=(begin), right"]),
        ("h.word[+1] & m.word[+1]", (0, 4), ["h.word[+1]=(begin) & m.word[+1]=(end), right"]),
        ("suffix(m.word, 2) & prefix(h.lemma, 9)", (3, 2), ["prefix(h.lemma, 9)= & suffix(m.word, 2)=og, left"]),
        ("h.feats & m.feats", (2, 4), ["h.feats=A=1 & m.feats=C=3, right", "h.feats=B=2 & m.feats=C=3, right"]),
        ("h.feats", (0, 4), []),
        ("m.feats & bias", (0, 3), []),
        ("between.pos", (4, 1), ["between.pos=NOUN, left", "between.pos=VERB, left"]),
        ("between.pos", (1, 2), []),
        ("verbs & distance", (1, 4), ["distance=3 & verbs=1, right"]),
        ("distance", (0, 4), ["distance=4, right"]),
        ("punctuation & coordinators & length", (0, 4), ["length=4 & punctuation=0 & coordinators=0, right"]),
        ("bias", (2, 1), ["bias, left"]),
        ("agreement.Case & m.pos", (2, 5), ["m.pos=ADJ & agreement.Case=second only, right"]),
        ("agreement.Case", (4, 3), ["agreement.Case=none, left"]),
        (
            "agreement.Person & agreement.Number & agreement.Gender",
            (0, 5),
            ["agreement.Gender=second only & agreement.Number=second only & agreement.Person=none, right"],
        ),
    ],
)
def test_the_definition_by_hand(template, arc, expected):
    rows = [
        ("A", "a", "DET", "_"),
        ("dog", "dog", "NOUN", "A=1|B=2"),
        ("is", "be", "VERB", "_"),
        (".", ".", "X", "C=3"),
    ]
    rows += [("x", "x", "ADJ", "Case=Nom|Gender=Fem|Number=Sing")] if "agreement" in template else []
    x = [dict(zip(("word", "lemma", "pos", "feats"), row, strict=True), tag="_") for row in rows]
    (parsed,) = parse_arc_templates([template])
    assert [name for _, name in arc_features(parsed, x, *arc)] == expected
