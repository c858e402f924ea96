"""The features of second-order parts in the kernels are those of the definition."""

import numpy as np
import pytest

from helpers.part_treebanks import Both, random_sets
from swvp.features.parser_templates import parse_part_templates
from swvp.features.presets import PART_PRESETS
from swvp.structures import operations
from swvp.structures.tree.reference import all_parts, part_features, parts_of
from swvp.structures.tree.second_order.features import grandparent_names, sibling_names
from swvp.structures.tree.second_order.model import ARC, GRANDPARENT, SIBLINGS, new_part_model, part_keys

TEMPLATES = {
    "columns": ["h.pos & m.pos & s.pos", "g.word & h.lemma & m.tag", "h.marker & m.verbs & s.marker", "h.pos & s.tag"],
    "neighbours": ["h.pos[-1] & m.pos[+2] & s.word[-3]", "g.pos[+1] & h.pos[-1] & m.pos[+1]", "m.pos[-1] & s.pos[+1]"],
    "functions": [
        "lower(h.word) & suffix(m.word, 2) & shape(s.word)",
        "prefix(g.lemma, 1) & kinds(h.word) & m.pos",
        "lower(g.word[-1]) & shape(m.word)",
    ],
    "feats": ["m.feats & s.feats", "m.feats & s.pos", "g.feats & g.pos & m.feats", "siblings & m.feats", "s.feats"],
    "between": ["m.pos & s.pos & between.tag", "g.pos & between.pos", "grandparent & between.pos", "between.word"],
    "distance": [
        "m.pos & s.pos & distance",
        "siblings & length & verbs",
        "m.pos & s.pos & agreement.Case & agreement.Number",
        "g.pos & m.pos & agreement.Gender & agreement.Person",
        "g.pos & m.pos & punctuation & coordinators",
        "grandparent & distance",
        "verbs & length",
    ],
    "kinds": ["bias", "siblings", "grandparent", "siblings & h.pos & m.pos", "grandparent & h.pos & m.pos"],
    "one side": [
        "siblings & h.pos",
        "siblings & m.pos",
        "s.pos",
        "g.pos",
        "grandparent & h.pos",
        "grandparent & m.pos",
    ],
    "one kind": ["h.word & s.word"],
    "arcs": ["h.word & m.word", "m.feats"],
    **PART_PRESETS,
}
every_templates = pytest.mark.parametrize("name", TEMPLATES)


def both_of(name, seed, **kinds):
    rng = np.random.default_rng([seed, list(TEMPLATES).index(name)])
    size = 2**17 if name in PART_PRESETS else 2**14
    return Both(rng, TEMPLATES[name], lengths=(1, 2, 4, 5), size=size, **kinds)


@pytest.mark.parametrize("share", [1.0, 0.5], ids=["all-heads", "candidates"])
@every_templates
def test_the_score_of_every_part_is_the_sum_of_the_weights_of_its_features(name, share):
    """After the same random updates: no two features share a weight, none has two, for all parts that there are."""
    both = both_of(name, 1, share=share)
    both.shake()
    assert np.count_nonzero(both.learnt.w) > 1
    both.check(operations.weights(both.model), both.learnt.w)


@every_templates
def test_margins_and_directions_of_any_heads_are_those_of_the_definition(name):
    both = both_of(name, 2)
    both.shake(times=5)
    cycles = 0
    for i in range(len(both.X)):
        for _ in range(20):
            z = both.random_heads(i)
            if not (wrong := both.keep(i, z)):
                continue
            cycles += any(h and z[h - 1] == m for m, h in enumerate(z, 1))
            starts, positions, order, count, amounts = random_sets(both.rng, wrong)
            found, expected = np.zeros(3), np.zeros(3)
            operations.margins(both.problem, both.model, i, starts, positions, 3, found)
            operations.margins(both.generic, both.learnt, i, starts, positions, 3, expected)
            np.testing.assert_allclose(found, expected, atol=1e-9)
            given = starts, positions, order, count, amounts
            size, features, values = operations.direction(both.problem, both.model, i, *given)
            change = np.bincount(features[:size].astype(int), values[:size], minlength=len(both.model.w))
            _, _, definition = operations.direction(both.generic, both.learnt, i, *given)
            shown = [np.sort(v[abs(v) > 1e-9]) for v in (change, definition)]
            np.testing.assert_allclose(*shown, atol=1e-9)  # MIRA's norm among others
            np.testing.assert_allclose(change @ both.model.w, definition @ both.learnt.w, atol=1e-9)
    assert cycles > 10


def test_features_that_are_new_have_places_of_their_own_in_a_direction():
    """In a table that is almost half full: else MIRA's norm would take some for one."""
    both = both_of("columns", 4)
    size = 2 ** (2 * len(both.plain.numbers)).bit_length()
    for i in range(len(both.X)):
        both.model = new_part_model(both.problem, size, exact=True)
        if wrong := both.keep(i, both.random_heads(i)):
            given = random_sets(both.rng, wrong)
            count, features, values = operations.direction(both.problem, both.model, i, *given)
            _, _, definition = operations.direction(both.generic, both.learnt, i, *given)
            change = np.bincount(features[:count].astype(int), values[:count])
            shown = [np.sort(v[abs(v) > 1e-9]) for v in (change, definition)]
            np.testing.assert_allclose(*shown, atol=1e-9)
            before = both.model.owners.copy()
            operations.add(both.problem, both.model, i, *given, 0)
            assert (both.model.owners == before).all()
            np.testing.assert_allclose(both.model.w[: len(change)], change, atol=1e-9)


def keys_of_part(both, i, part):
    """The keys of the features of a part of sentence i, which was looked at; all heads are candidates."""
    if part[0] == "siblings":
        _, h, right, m, s = part
        last = (len(both.X[i]) - h if right else max(h - 1, 0)) + 1
        given = SIBLINGS, 2 * h + right, *((0 if m is None else abs(m - h)), (last if s is None else abs(s - h)))
    else:
        given = (ARC, *part[1:], 0) if part[0] == "arc" else (GRANDPARENT, *part[1:])
    count = part_keys(both.problem.nodes, both.problem.tables, both.model.buffers, i, *given)
    return both.model.buffers.features[:count].tolist()


@every_templates
def test_names_are_in_the_order_of_the_keys_and_each_has_one(name):
    both = both_of(name, 3)
    key_of, feature_of = {}, {}
    for i, x in enumerate(both.X):
        both.keep(i, both.Y[i])
        for part in all_parts(len(x)):
            for feature, key in zip(part_features(both.ordered, x, part), keys_of_part(both, i, part), strict=True):
                assert key_of.setdefault(feature, key) == key
                assert feature_of.setdefault(key, feature) == feature
    assert key_of.keys() == both.plain.numbers.keys()


def test_parts_of_heads_by_hand():
    assert parts_of((2, 0, 2, 3)) == [
        ("arc", 2, 1),
        ("grandparent", 0, 2, 1),
        ("arc", 0, 2),
        ("arc", 2, 3),
        ("grandparent", 0, 2, 3),
        ("arc", 3, 4),
        ("grandparent", 2, 3, 4),
        ("siblings", 0, False, None, None),
        ("siblings", 0, True, None, 2),
        ("siblings", 0, True, 2, None),
        ("siblings", 1, False, None, None),
        ("siblings", 1, True, None, None),
        ("siblings", 2, False, None, 1),
        ("siblings", 2, False, 1, None),
        ("siblings", 2, True, None, 3),
        ("siblings", 2, True, 3, None),
        ("siblings", 3, False, None, None),
        ("siblings", 3, True, None, 4),
        ("siblings", 3, True, 4, None),
        ("siblings", 4, False, None, None),
        ("siblings", 4, True, None, None),
    ]


def test_the_nearest_child_comes_first_and_a_circle_of_two_has_no_grandparents():
    found = parts_of((3, 3, 4, 3))
    assert [part for part in found if part[0] == "grandparent"] == [("grandparent", 4, 3, 1), ("grandparent", 4, 3, 2)]
    assert [part[3:] for part in found if part[:3] == ("siblings", 3, False)] == [(None, 2), (2, 1), (1, None)]


@pytest.mark.parametrize("n", [2, 3])
def test_all_parts_are_those_of_all_heads(n):
    choices = np.stack(np.meshgrid(*[range(n + 1)] * n), -1).reshape(-1, n).tolist()
    heads = [y for y in choices if all(h != m for m, h in enumerate(y, 1))]
    found = all_parts(n)
    assert len(found) == len(set(found))
    assert set(found) == {part for y in heads for part in parts_of(tuple(y))}


ROWS = [("A", "DET", "_"), ("dog", "NOUN", "A=1|B=2"), ("is", "VERB", "_"), (".", "X", "C=3")]
COLUMNS = dict(zip(("word", "pos", "feats"), map(list, zip(*ROWS, strict=True)), strict=True))
COLUMNS |= {"lemma": COLUMNS["word"], "tag": ["_"] * 4}


@pytest.mark.parametrize(
    ("template", "part", "expected"),
    [
        ("s.pos & m.pos & h.pos", (1, 2, 3, True), ["h.pos=DET & m.pos=NOUN & s.pos=VERB, right"]),
        ("h.pos & m.pos & s.pos", (4, 3, 1, False), ["h.pos=X & m.pos=VERB & s.pos=DET, left"]),
        ("h.pos & m.pos & s.pos", (0, None, 1, True), ["h.pos=(root) & m.pos=(start) & s.pos=DET, right"]),
        ("h.pos & m.pos & s.pos", (2, 1, None, False), ["h.pos=NOUN & m.pos=DET & s.pos=(stop), left"]),
        ("h.pos & s.pos", (2, None, None, False), ["h.pos=NOUN & m=(start) & s.pos=(stop), left"]),
        ("s.pos[-1] & s.word & h.pos", (2, 1, None, False), ["h.pos=NOUN & s.pos[-1]=(stop) & s.word=(stop), left"]),
        ("siblings", (2, 3, 4, True), ["siblings, right"]),
        ("siblings", (2, None, 4, True), ["siblings & m=(start), right"]),
        ("siblings & h.pos & m.pos", (2, 3, 4, True), ["siblings & h.pos=NOUN & m.pos=VERB, right"]),
        ("s.pos[-1] & m.pos & h.pos[+1]", (1, 3, 4, True), ["h.pos[+1]=NOUN & m.pos=VERB & s.pos[-1]=VERB, right"]),
        ("m.pos & s.pos & distance", (1, 2, 4, True), ["m.pos=NOUN & s.pos=X & distance=2, right"]),
        ("m.pos & s.pos & distance", (1, None, 4, True), []),
        ("m.pos & s.pos & distance", (1, 4, None, True), []),
        (
            "s.feats & m.feats",
            (1, 2, 4, True),
            ["m.feats=A=1 & s.feats=C=3, right", "m.feats=B=2 & s.feats=C=3, right"],
        ),
        ("siblings & between.pos", (1, 2, 4, True), ["siblings & between.pos=VERB, right"]),
        ("siblings & m.pos", (4, 3, 2, False), ["siblings & m.pos=VERB, left"]),
        ("s.word & between.pos", (4, 3, 1, False), ["s.word=A & between.pos=NOUN, left"]),
    ],
)
def test_the_names_of_siblings_by_hand(template, part, expected):
    found = sibling_names(COLUMNS, parse_part_templates([template]), *part)
    assert [name for _, name in found] == expected


@pytest.mark.parametrize(
    ("template", "part", "expected"),
    [
        ("m.pos & h.pos & g.pos", (1, 2, 3), ["g.pos=DET & h.pos=NOUN & m.pos=VERB, right, beyond h"]),
        ("g.pos & h.pos & m.pos", (3, 2, 1), ["g.pos=VERB & h.pos=NOUN & m.pos=DET, left, beyond h"]),
        ("g.pos & h.pos", (1, 3, 2), ["g.pos=DET & h.pos=VERB, left, between h and g"]),
        ("g.pos & h.pos", (3, 1, 2), ["g.pos=VERB & h.pos=DET, right, between h and g"]),
        ("g.pos & h.pos", (2, 3, 1), ["g.pos=NOUN & h.pos=VERB, left, beyond g"]),
        ("g.pos & h.pos", (2, 1, 3), ["g.pos=NOUN & h.pos=DET, right, beyond g"]),
        ("grandparent", (0, 2, 1), ["grandparent, left, between h and g"]),
        ("grandparent & h.pos & m.pos", (0, 2, 3), ["grandparent & h.pos=NOUN & m.pos=VERB, right, beyond h"]),
        ("g.word & m.word[-1]", (0, 2, 1), ["g.word=(root) & m.word[-1]=(begin), right"]),
        ("g.pos & m.pos & length & verbs", (4, 3, 1), ["g.pos=X & m.pos=DET & length=3 & verbs=1, left"]),
        ("g.feats", (2, 3, 4), ["g.feats=A=1, right", "g.feats=B=2, right"]),
        ("g.feats & m.pos", (0, 3, 4), []),
        ("grandparent & m.feats", (1, 3, 4), ["grandparent & m.feats=C=3, right"]),
        ("grandparent & distance", (1, 4, 2), ["grandparent & distance=1, right"]),
    ],
)
def test_the_names_of_grandparents_by_hand(template, part, expected):
    found = grandparent_names(COLUMNS, parse_part_templates([template]), *part)
    assert [name for _, name in found] == expected


@every_templates
def test_features_of_one_name_are_of_one_template(name):
    rng = np.random.default_rng(5)
    both = Both(rng, TEMPLATES[name], lengths=(3,))
    templates = {}
    for part in all_parts(3):
        for text, feature in part_features(both.ordered, both.X[0], part):
            assert templates.setdefault(feature, text) == text
    assert len(templates) == len(both.plain.numbers)
