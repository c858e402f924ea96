"""The labeller: children of a head as a chain, its features by a twin in plain Python, learning, model files."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.features.parser_templates import MANY, NODES, NUMBERS, many_of, parse_label_templates
from swvp.features.presets import LABEL_TEMPLATES as LABELS
from swvp.io.model_files import Memory
from swvp.io.table import Column
from swvp.io.treebank import Treebank, treebank_of
from swvp.learning.rule import as_rule
from swvp.parsing.labeller import Labeller
from swvp.structures.tree.labels import children_of, encode_words

LEMMAS = ("be", "cat", "of", "the", "run", "you")
TAGS = ("VERB", "NOUN", "ADP", "DET", "PUNCT", "CCONJ")
FEATS = ("_", "Case=Nom|Number=Sing", "Case=Acc|Number=Plur", "Number=Sing|VerbForm=Fin", "Number[psor]=Sing")
TWIN_TEMPLATES = (
    *LABELS,
    "h.word[-1] & m.word[+1] & first.pos[-2]",
    "between.pos & h.pos",
    "child.tag[+1] & child.lemma & m.feats.Number[psor]",
    "sibling.feats.Case & suffix(g.word, 2)",
    *NUMBERS,
)


def tree_of(rng, n):
    """Random heads of a tree, with several roots at times."""
    order = rng.permutation(n) + 1
    heads = np.zeros(n, int)
    for k, word in enumerate(order):
        heads[word - 1] = 0 if k == 0 or rng.random() < 0.05 else order[rng.integers(k)]
    return heads.tolist()


def random_treebank(seed, sentences=40, longest=9):
    rng = np.random.default_rng(seed)
    sizes = [1, *rng.integers(1, longest + 1, sentences - 1).tolist()]
    tokens = [
        [
            (f"{LEMMAS[k]}{rng.integers(3)}", LEMMAS[k], TAGS[k], TAGS[k][:1], FEATS[rng.integers(len(FEATS))])
            for k in rng.integers(len(LEMMAS), size=n)
        ]
        for n in sizes
    ]
    heads = [tree_of(rng, n) for n in sizes]
    labels = [
        [label_of(sentence, tree, m) for m in range(1, len(tree) + 1)]
        for sentence, tree in zip(tokens, heads, strict=True)
    ]
    return treebank_of(tokens, heads, labels)


def label_of(sentence, heads, m):
    """A label that depends on the tags of both words, and on whether a sibling like it comes before."""
    h, tag = heads[m - 1], sentence[m - 1][2]
    if h == 0:
        return "root"
    second = any(heads[k - 1] == h and sentence[k - 1][2] == tag for k in range(1, m))
    return f"{sentence[h - 1][2]}-{tag}" + ":more" * second


def rows_of(treebank):
    """Of each sentence its columns as lists, node 0 being the root, and its heads."""
    columns = {name: [column.strings[k] for k in column.ids] for name, column in treebank.columns().items()}
    for number in range(treebank.number_of_sentences):
        part = treebank.sentence(number)
        yield {name: [None, *column[part]] for name, column in columns.items()}, [0, *treebank.heads[part].tolist()]


def features(v):
    return [] if v in ("_", None) else v.split("|")


def twin(treebank, templates):
    """For each head with children, for each child, its features as strings."""
    chains = []
    for columns, heads in rows_of(treebank):
        n = len(heads) - 1
        for h in range(n + 1):
            children = [m for m in range(1, n + 1) if heads[m] == h]
            if children:
                chains.append([arc_features(columns, heads, h, m, templates) for m in children])
    return chains


def arc_features(columns, heads, h, m, templates):
    n = len(heads) - 1
    siblings = [k for k in range(1, n + 1) if heads[k] == h]
    own = [k for k in range(1, n + 1) if heads[k] == m]
    between = list(range(min(h, m) + 1, max(h, m)))
    at = siblings.index(m)
    nodes = {
        "h": h,
        "m": m,
        "g": heads[h] if h else None,
        "previous": siblings[at - 1] if at else None,
        "next": siblings[at + 1] if at + 1 < len(siblings) else None,
        "first": own[0] if own else None,
        "last": own[-1] if own else None,
    }
    length = abs(h - m)
    tags = [columns["pos"][k] for k in between]
    numbers = {
        "direction": m > h,
        "distance": length if length <= 5 else 6 if length <= 10 else 7,
        "verbs": min(tags.count("VERB"), 3),
        "punctuation": min(tags.count("PUNCT"), 3),
        "coordinators": min(tags.count("CCONJ"), 3),
        "children": min(len(own), 5),
        "siblings": min(len(siblings), 5),
        "place": min(len(set(siblings) & set(between)), 3),
    }
    h_feats, m_feats = features(columns["feats"][h]), features(columns["feats"][m])
    many = {
        "child": own,
        "sibling": [k for k in siblings if k != m],
        "between": between,
        "h.feats": h_feats,
        "m.feats": m_feats,
        "shared": [feature for feature in m_feats if feature in h_feats],
    }

    def value(atom, node):
        if node is None:
            return "no node"
        place = node + atom.offset
        if atom.offset and (place < 1 or node == 0):
            return "before"
        if place > n:
            return "after"
        if place == 0:
            return "root"
        string = columns[atom.column][place]
        if atom.name:
            return dict(part.split("=") for part in features(string)).get(atom.name, "")
        return {"": string, "lower": string.lower(), "suffix": string[-atom.number :]}[atom.function]

    found = []
    for template in templates:
        start = [template.text]
        start += [str(numbers[atom.side]) for atom in template.atoms if atom.side in numbers]
        start += [value(atom, nodes[atom.side]) for atom in template.atoms if atom.side in nodes and not many_of(atom)]
        for each in many.get(template.many, [None]):
            rest = [value(atom, each) for atom in template.atoms if atom.side in MANY]
            found.append((*start, *rest, each if isinstance(each, str) else ""))
    return found


def trained(treebank, dev=None, rule="csp", epochs=5, seed=0, **options):
    labeller = Labeller(**options)
    training = labeller.start(treebank, dev, rule=as_rule(rule), average=True, orders=np.random.default_rng(seed))
    training.run(epochs)
    labeller.finish(training)
    return labeller, training


def strings(column):
    return [column.strings[k] for k in column.ids]


def test_encoding_is_that_of_the_twin():
    treebank, templates = random_treebank(0), parse_label_templates(TWIN_TEMPLATES)
    assert treebank.several_roots
    chain = Labeller(TWIN_TEMPLATES, 2**22).trees(treebank, treebank.heads).chain(0, treebank.number_of_sentences)
    chains = twin(treebank, templates)
    assert np.diff(chain.offsets).tolist() == [len(positions) for positions in chains]
    positions = [features for positions in chains for features in positions]
    assert np.diff(chain.starts).tolist() == [len(features) for features in positions]
    flat = [feature for features in positions for feature in features]
    pairs = set(zip(flat, chain.attributes.tolist(), strict=True))
    assert len({feature for feature, _ in pairs}) == len(pairs)  # the same feature, the same row
    assert len({row for _, row in pairs}) >= 0.99 * len(pairs)  # and hardly any two features in one row


def test_parts_of_a_treebank_are_encoded_as_in_the_whole():
    treebank = random_treebank(1)
    trees = Labeller().trees(treebank, treebank.heads)
    whole, parts = trees.chain(0, 40), [trees.chain(a, a + 10) for a in range(0, 40, 10)]
    assert np.array_equal(whole.attributes, np.concatenate([part.attributes for part in parts]))
    assert np.array_equal(np.diff(whole.starts), np.concatenate([np.diff(part.starts) for part in parts]))
    assert np.array_equal(np.diff(whole.offsets), np.concatenate([np.diff(part.offsets) for part in parts]))
    assert whole.attributes.max() < Labeller().rows


def test_children_come_by_head_and_from_left_to_right():
    order, begins = children_of(np.array([2, 0, 2, 0], np.int32), np.array([0, 3, 4]))
    assert order.tolist() == [1, 0, 2, 3]
    assert begins.tolist() == [0, 1, 1, 3, 3, 4, 4]


@pytest.mark.parametrize("rule", ["csp", "mira", "a-wm:segments:sqrt"])
def test_labels_are_learnt(rule):
    treebank, dev = random_treebank(2, 300), random_treebank(3)
    labeller, training = trained(treebank, dev, rule, epochs=8)
    assert training.kind == "labels"
    assert training.dev.metric == "label accuracy"
    gold, found = strings(dev.labels), strings(labeller.predict(dev, dev.heads))
    right = np.mean([a == b for a, b in zip(gold, found, strict=True)])
    assert right == max(training.scores) > 0.9
    assert found[0] == "root"
    assert labeller.predict(dev, dev.heads, n_jobs=3).ids.tolist() == labeller.predict(dev, dev.heads).ids.tolist()


def test_siblings_tell_labels():
    """The first of two equal words is a, the second b: only the transitions know."""
    heads = [[0, 1, 1]] * 20
    treebank = treebank_of([["x", "y", "y"]] * 20, heads, [["root", "a", "b"]] * 20)
    labeller, _ = trained(treebank, features=["m.word"])
    assert strings(labeller.predict(treebank, treebank.heads))[:3] == ["root", "a", "b"]


def test_same_seed_same_weights():
    treebank = random_treebank(4)
    (a, _), (b, _), (c, _) = (trained(treebank, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a.arrays()[name], b.arrays()[name]) for name in a.arrays())
    assert a.meta() == b.meta()
    assert not np.array_equal(a.weights["w"], c.weights["w"])


def test_words_tags_and_labels_not_seen_in_training():
    labeller, _ = trained(random_treebank(5))
    dev = treebank_of([[("xyzzy", "ZZZ"), "new"], ["one"]], [[0, 1], [0]], [["root", "unheard"], ["root"]])
    assert set(strings(labeller.predict(dev, dev.heads))) <= set(labeller.classes)
    _, training = trained(random_treebank(5), dev, epochs=2)
    assert all(score <= 2 / 3 + 1e-12 for score in training.scores)


def test_probabilities():
    treebank = random_treebank(6)
    labeller, _ = trained(treebank)
    totals = np.zeros(treebank.tokens)
    for label in labeller.classes:
        one = Column([label], np.zeros(treebank.tokens, np.int32))
        totals += labeller.probabilities(treebank, treebank.heads, one, temperature=5.0)
    assert np.allclose(totals, 1)
    unknown = Column(["unheard"], np.zeros(treebank.tokens, np.int32))
    assert not labeller.probabilities(treebank, treebank.heads, unknown, n_jobs=2).any()
    best = labeller.predict(treebank, treebank.heads)
    assert labeller.probabilities(treebank, treebank.heads, best).mean() > 0.9


def test_other_heads_than_those_of_the_treebank():
    treebank = random_treebank(7)
    labeller, _ = trained(treebank)
    without = treebank.with_trees(None, None)
    found = labeller.predict(without, treebank.heads)
    assert np.array_equal(found.ids, labeller.predict(treebank, treebank.heads).ids)
    with pytest.raises(InputError, match="heads of shape"):
        labeller.predict(without, treebank.heads[1:])
    for wrong in (-1, 99):
        with pytest.raises(InputError, match="a head is the number"):
            labeller.predict(without, np.full(treebank.tokens, wrong, np.int32))


def test_training_needs_labels():
    with pytest.raises(InputError, match="without labels"):
        trained(treebank_of([["a"]], [[0]]))
    with pytest.raises(InputError, match="without heads"):
        trained(Treebank(*random_treebank(0).columns().values(), random_treebank(0).offsets, None, Column(["x"], [])))


def test_model_file_round_trip():
    treebank = random_treebank(8)
    labeller, _ = trained(treebank, features=LABELS[:9], rows=2**10)
    again = Labeller.rebuild(labeller.meta(), labeller.arrays(), Memory())
    assert again.meta() == labeller.meta()
    assert all(np.array_equal(again.weights[name], labeller.weights[name]) for name in ("w", "w_move"))
    assert np.array_equal(again.predict(treebank, treebank.heads).ids, labeller.predict(treebank, treebank.heads).ids)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": []},
        {"labels": ["a", "a"]},
        {"labels": "root"},
        {"labels": ["root", 3]},
        {"label_rows": 2**11},
        {"label_rows": 1000},
        {"label_rows": 2**60},
        {"label_rows": "1024"},
        {"label_templates": []},
        {"label_templates": ["x.pos"]},
        {"label_templates": ["m.marker"]},
        {"label_templates": [["m.pos"]]},
        {"label_transitions": np.zeros((3, 3))},
        {"label_weight_labels": np.full(10, 99, np.uint32), "label_weights": np.zeros(10)},
        {"label_weights": np.zeros(1)},
        {"label_weights_per_attribute": np.zeros((2, 512), np.uint32)},
    ],
)
def test_hostile_model_files(change):
    labeller, _ = trained(random_treebank(9), rows=2**10, epochs=1)
    meta, arrays = labeller.meta(), labeller.arrays()
    meta.update({name: value for name, value in change.items() if name in meta})
    arrays.update({name: value for name, value in change.items() if name in arrays})
    with pytest.raises(InputError):
        Labeller.rebuild(meta, arrays, Memory())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("m.pos & x.pos", "side"),
        ("m.nothing", "column"),
        ("m.marker", "column"),  # a column of arcs only
        ("h.verbs", "column"),
        ("upper(m.word)", "function"),
        ("suffix(m.word)", "needs a length"),
        ("lower(m.word, 3)", "takes no number"),
        ("m.pos[+9]", "farther"),
        ("m.pos.Case", "only feats"),
        ("child.feats", "write h.feats"),
        ("child.pos & sibling.pos", "many values"),
        ("m.feats & shared", "many values"),
        ("nonsense", "cannot read"),
        ("lower(m.word", "cannot read"),
    ],
)
def test_templates_that_are_wrong(line, message):
    with pytest.raises(InputError, match="labels line 2") as caught:
        Labeller(["bias", line])
    assert message in str(caught.value)


def test_templates_are_read_back():
    templates = parse_label_templates(["# a comment", "", *TWIN_TEMPLATES, "m.feats.Case[-1]"])
    assert parse_label_templates([template.text for template in templates]) == templates
    assert set(NODES) & set(MANY) == set()
    with pytest.raises(InputError, match="list of templates"):
        Labeller("m.pos")
    with pytest.raises(InputError, match="power of 2"):
        Labeller(rows=100)


def test_no_more_feats_than_can_be_looked_at():
    feats = "|".join(f"A{k}=1" for k in range(40))
    treebank = treebank_of([[("w", "w", "X", "X", feats)]], [[0]], [["root"]])
    assert encode_words(treebank.columns(), treebank.offsets, parse_label_templates(["m.feats"])).counts.max() == 24
    assert strings(trained(treebank)[0].predict(treebank, treebank.heads)) == ["root"]
