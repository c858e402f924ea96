"""Pruning by tags and lengths, against brute force."""

import numpy as np
import pytest

from helpers.treebanks import arcs_of, columns_of, nodes_of, random_sentence
from swvp.features.parser_templates import parse_arc_templates
from swvp.structures.tree.encoding import ANY_LENGTH, all_allowed, allowed, longest_arcs, pruned, ranks_of
from swvp.structures.tree.reference import trees

BIAS = parse_arc_templates(["bias"])


def random_treebank(rng, sentences=8):
    X = [random_sentence(rng, int(n)) for n in rng.integers(1, 5, size=sentences)]
    every = {n: list(trees(n)) for n in range(1, 5)}
    return X, [every[len(x)][rng.integers(len(every[len(x)]))] for x in X]


def flat(Y):
    return np.array([h for y in Y for h in y], np.int32)


def table(X, Y, ranks):
    nodes = nodes_of(X, BIAS, ranks)
    return longest_arcs(nodes.kinds, nodes.starts, flat(Y), len(ranks["pos"]))


def tag(x, v):
    return x[v - 1]["pos"] if v else "root"


def longest_by_hand(X, Y):
    found = {}
    for x, y in zip(X, Y, strict=True):
        for m, h in enumerate(y, 1):
            kind = tag(x, h), tag(x, m), m > h
            found[kind] = max(found.get(kind, 0), abs(h - m) if h else 10**6)
    return found


def is_allowed(found, known, x, h, m):
    unseen = {tag(x, h), tag(x, m)} - known
    return bool(unseen) or abs(h - m) <= found.get((tag(x, h), tag(x, m), m > h), 0)


def test_longest_arcs_are_those_of_the_treebank():
    rng = np.random.default_rng(1)
    X, Y = random_treebank(rng, 30)
    ranks = ranks_of(columns_of(X))
    longest, found = table(X, Y, ranks), longest_by_hand(X, Y)
    number = {"root": 0, **{name: 1 + rank for name, rank in ranks["pos"].items()}}
    assert longest.shape == (len(number) + 1, len(number) + 1, 2)
    for a, h in number.items():
        for b, m in number.items():
            for right in (0, 1):
                length = found.get((a, b, bool(right)), 0)
                assert longest[h, m, right] == (ANY_LENGTH if a == "root" and length else length)
    assert (longest[-1] == ANY_LENGTH).all()
    assert (longest[:, -1] == ANY_LENGTH).all()


@pytest.mark.parametrize("seed", range(5))
def test_what_is_counted_is_what_brute_force_counts(seed):
    rng = np.random.default_rng(seed)
    X, Y = random_treebank(rng)
    ranks = ranks_of(columns_of(X))
    longest, found, known = table(X, Y, ranks), longest_by_hand(X, Y), {"root", *ranks["pos"]}
    other, gold = random_treebank(rng)
    other[0][0]["pos"] = "NEW"
    for sentences, trees_of in ((X, Y), (other, gold)):
        nodes = nodes_of(sentences, BIAS, ranks)
        result = pruned(longest, nodes.kinds, nodes.starts, flat(trees_of))
        words = sum(map(len, sentences))
        kept = right = every = 0
        for i, (x, y) in enumerate(zip(sentences, trees_of, strict=True)):
            for h, m in arcs_of(x):
                every += 1
                inside = is_allowed(found, known, x, h, m)
                assert allowed(longest, nodes.kinds, nodes.starts[i], h, m) == inside
                kept += inside
                right += inside and y[m - 1] == h
        assert result == pytest.approx((right / words, kept / words, kept / every))
    assert 0 < result.share < 1
    nodes = nodes_of(X, BIAS, ranks)
    assert pruned(longest, nodes.kinds, nodes.starts, flat(Y)).recall == 1.0


def test_tags_not_seen_in_training_are_allowed_everything():
    rng = np.random.default_rng(3)
    X, Y = random_treebank(rng)
    ranks = ranks_of(columns_of(X))
    new = [dict(word, pos="NEW") for word in random_sentence(rng, 6)]
    nodes = nodes_of([new], BIAS, ranks)
    result = pruned(table(X, Y, ranks), nodes.kinds, nodes.starts, np.zeros(6, np.int32))
    assert result == (1.0, 6.0, 1.0)


def test_the_table_that_prunes_nothing():
    X = [random_sentence(np.random.default_rng(4), n) for n in (1, 5, 9)]
    nodes = nodes_of(X, BIAS, ranks_of(columns_of(X)))
    result = pruned(all_allowed(), nodes.kinds, nodes.starts, np.zeros(15, np.int32))
    assert result == (1.0, (1 + 25 + 81) / 15, 1.0)


def test_no_sentences_at_all():
    ranks = ranks_of(columns_of([random_sentence(np.random.default_rng(5), 3)]))
    empty = np.zeros(0, np.int32)
    longest = longest_arcs(empty, np.zeros(1, np.int64), empty, len(ranks["pos"]))
    assert pruned(longest, empty, np.zeros(1, np.int64), empty) == (0.0, 0.0, 0.0)
