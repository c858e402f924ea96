"""Small random treebanks for the tests, and the same ones for the kernels."""

import numpy as np

from swvp.features.context import fine_tag
from swvp.features.parser_templates import COLUMNS
from swvp.structures.tree.encoding import encode, longest_arcs, ranks_of, tables_of
from swvp.structures.tree.first_order.features import arc_keys, new_arc_buffers, node_keys
from swvp.structures.tree.first_order.model import Arcs
from swvp.structures.tree.reference import arc_features

WORDS = ["The", "the", "dog", "barks", ",", "and", "Über", "1997", "a-b", "x", "…", "Dog's"]
TAGS = ["DET", "NOUN", "VERB", "AUX", "PUNCT", "CCONJ", "ADJ"]
FINE = ["DT", "NN", "VBZ", "CC", "_", "v", "punc"]
FEATS = ["_", "", "Case=Nom", "Case=Acc|Number=Sing", "Number=Sing", "Case=Nom|Number=Plur|Gender=Fem,Neut", "A=1|A=1"]
"""Missing in two ways, one, many, and one twice."""


def random_sentence(rng, n, words=WORDS):
    """No word comes twice if there are enough."""
    chosen = rng.permutation(words)[:n] if n <= len(words) else rng.choice(words, n)
    sentence = [
        {
            "word": str(word),
            "lemma": str(word).lower()[:2],
            "pos": str(rng.choice(TAGS)),
            "tag": str(rng.choice(FINE)),
            "feats": str(rng.choice(FEATS)),
            "marker": ["of", "|VERB", ""][len(word) % 3],
            "follower": ["to", "", "|NOUN"][len(word) % 3],
            "verbs": ["0/0", "3/2"][len(word) % 2],
        }
        for word in chosen
    ]
    for word in sentence:
        word["fine"] = fine_tag(word["pos"], word["feats"]) if word["tag"] == "_" else word["tag"]
    return sentence


def columns_of(sentences):
    """The columns as (distinct strings, numbers)."""
    found = {}
    for name in COLUMNS:
        strings, ids = np.unique([word[name] for x in sentences for word in x] or [""], return_inverse=True)
        words = sum(map(len, sentences))
        found[name] = strings.tolist(), ids[:words]
    return found


def nodes_of(sentences, templates, ranks):
    return encode(columns_of(sentences), np.cumsum([0, *map(len, sentences)]), templates, ranks)


def as_arcs(sentences, trees, templates, *, projective=False, one_root=True, prune=False, margin=0.0, ranks=None):
    """The problem of the kernels; pruning is what these trees allow."""
    ranks = ranks or ranks_of(columns_of(sentences))
    ordered, tables = tables_of(templates)
    nodes = nodes_of(sentences, ordered, ranks)
    heads = np.array([h for y in trees for h in y], np.int32)
    if prune:
        tables = tables._replace(longest=longest_arcs(nodes.kinds, nodes.starts, heads, len(ranks["pos"])))
    return Arcs(nodes, tables, heads, projective, one_root, margin)


def arcs_of(x):
    return [(h, m) for h in range(len(x) + 1) for m in range(1, len(x) + 1) if h != m]


def keys_of(problem, i, arcs):
    """The keys of the features of arcs of sentence i."""
    nodes, tables = problem.nodes, problem.tables
    first, n = nodes.starts[i], int(nodes.starts[i + 1] - nodes.starts[i]) - 1
    buffers = new_arc_buffers(tables, nodes, n)
    node_keys(nodes, tables, first, n, buffers)
    out = np.zeros(len(buffers.features) + 1, np.uint64)
    found = []
    for h, m in arcs:
        size = arc_keys(nodes, tables, first, h, m, buffers, out)
        assert size < len(out)
        found.append([int(key) for key in out[:size]])
    return found


def key_of_feature(sentences, templates):
    """The key of every feature by definition, found with one template at a time; the same wherever it comes."""
    ranks, found = ranks_of(columns_of(sentences)), {}
    for template in templates:
        problem = as_arcs(sentences, [], [template], ranks=ranks)
        for i, x in enumerate(sentences):
            arcs = arcs_of(x)
            for arc, keys in zip(arcs, keys_of(problem, i, arcs), strict=True):
                for feature, key in zip(arc_features(template, x, *arc), keys, strict=True):
                    assert found.setdefault(feature, key) == key
    return found
