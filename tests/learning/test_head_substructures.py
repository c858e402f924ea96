"""The sub-structures of heads are what their definitions say, for trees and for heads that are none."""

import numpy as np
import pytest

from swvp import SequenceTagger
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.python_rule import sets_of
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.substructures import OF_HEADS
from swvp.structures.tree.decoding.chu_liu_edmonds import chu_liu_edmonds


def reaches(word, v, predicted):
    seen = set()
    while word and word not in seen:
        if word == v:
            return True
        seen.add(word)
        word = predicted[word - 1]
    return False


def wrong_words(gold, predicted):
    return [m for m in range(1, len(gold) + 1) if gold[m - 1] != predicted[m - 1]]


def subtrees_of(gold, predicted):
    wrong = wrong_words(gold, predicted)
    below = [[m for m in wrong if reaches(m, v, predicted)] for v in range(1, len(gold) + 1)]
    return {tuple(m - 1 for m in J) for J in [*below, wrong] if J}


def components_of(gold, predicted):
    wrong = wrong_words(gold, predicted)
    sets = {frozenset([m]) for m in wrong}
    for m in wrong:
        for h in (gold[m - 1], predicted[m - 1]):
            if h in wrong:
                joined = frozenset().union(*(J for J in sets if m in J or h in J))
                sets = {J for J in sets if not J & joined} | {joined}
    return {tuple(sorted(m - 1 for m in J)) for J in sets}


DEFINITIONS = {"subtrees": subtrees_of, "components": components_of}


def random_tree(rng, n):
    """Each word after those before it in a random order, from one of them or from the root."""
    heads, order = [0] * n, rng.permutation(n)
    for a in range(1, n):
        heads[order[a]] = int(rng.choice([0, *(order[:a] + 1)]))
    return heads


def disturbed(rng, heads, share):
    """Some other heads: perhaps no tree any more, but no word is its own head."""
    n = len(heads)
    others = [int(rng.choice([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)]
    return [other if rng.random() < share else head for head, other in zip(heads, others, strict=True)]


@pytest.mark.parametrize("name", OF_HEADS)
@pytest.mark.parametrize("kind", ["trees", "near", "cycles"])
def test_a_family_has_the_sets_of_its_definition_each_once(name, kind):
    rng = np.random.default_rng(1)
    for _ in range(300):
        gold = random_tree(rng, int(rng.integers(1, 13)))
        predicted = random_tree(rng, len(gold)) if kind == "trees" else disturbed(rng, gold, rng.choice([0.2, 0.9]))
        if kind == "near":
            gold, predicted = predicted, gold
        found = sets_of(name, gold, predicted)
        assert len(found) == len(set(found))
        assert all(list(J) == sorted(J) for J in found)
        assert set(found) == (DEFINITIONS[name](gold, predicted) if gold != predicted else set())


def test_by_hand():
    # predicted 0 → 1 → 2 → 3 and 1 → 4; wrong are 1, 2 and 4, and gold has 2 above 1 and 3 above 4
    gold, predicted = [2, 0, 2, 3], [0, 1, 2, 1]
    assert sets_of("subtrees", gold, predicted) == [(1,), (3,), (0, 1, 3)]
    assert sets_of("components", gold, predicted) == [(0, 1, 3)]
    # 2 and 4 are wrong, 1 and 3 right: heads outside do not join
    assert sets_of("components", [0, 1, 1, 1], [0, 3, 1, 3]) == [(1,), (3,)]


@pytest.mark.parametrize("name", OF_HEADS)
def test_one_wrong_head_makes_one_set_and_none_makes_none(name):
    assert sets_of(name, [0, 1, 2], [0, 1, 1]) == [(2,)]
    assert sets_of(name, [0, 1, 2], [0, 1, 2]) == []


@pytest.mark.parametrize("name", OF_HEADS)
def test_labels_may_be_tuples_and_arrays(name):
    gold, predicted = [2, 0, 2, 3], [0, 1, 2, 1]
    for kind in (tuple, np.array, lambda heads: np.array(heads, np.uint8)):
        assert sets_of(name, kind(gold), kind(predicted)) == sets_of(name, gold, predicted)


def test_long_sentences():
    n = 2000
    star, chain = [0] * n, list(range(n))  # all heads but the first differ
    assert sets_of("components", star, chain) == [tuple(range(1, n))]
    assert len(sets_of("subtrees", star, chain)) == n - 1
    with pytest.raises(InputError, match="'subtrees' of 3999 wrong positions are too many"):
        sets_of("subtrees", [0] * 4000, list(range(4000)))
    assert len(sets_of("subtrees", list(range(4000)), [0] * 4000)) == 4000


@pytest.mark.parametrize("name", OF_HEADS)
@pytest.mark.parametrize(
    "labels", [(["N", "V"], ["V", "V"]), ([0, 3], [0, 1]), ([0, -1], [0, 1]), ([0.0, 1.0], [0, 0])]
)
def test_labels_that_are_no_heads_are_refused(name, labels):
    with pytest.raises(InputError, match=r"has no heads, 0 for the root .* use 'segments'") as caught:
        sets_of(name, *labels)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rule", ["a-wm:subtrees", "b-uniform:components:sqrt", "a-wm:components:mira"])
def test_short_names(rule):
    assert as_rule(rule).name == rule


def test_a_tagger_has_no_heads():
    sentences, tags = [["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    for rule in ("a-wm:subtrees", UpdateRule(substructures="subtrees", gamma=lambda margins, beta: margins * 0 + 1)):
        with pytest.raises(InputError, match=r"'subtrees' are for labels that are heads .* use 'segments'") as caught:
            SequenceTagger(rule=rule).fit(sentences, tags)
        assert "\n" not in str(caught.value)


class Parser:
    """x[h, m] is the feature of an arc."""

    size = 150

    def joint_feature(self, x, y):
        return np.bincount([x[h, m] for m, h in enumerate(y, 1)], minlength=self.size).astype(float)

    def argmax(self, x, w):
        heads = np.empty(len(x) - 1, np.int64)
        chu_liu_edmonds(w[x], len(heads), True, heads)
        return heads.tolist()


def random_parsing(rng, examples):
    """Sentences of 10 words, no feature twice in one; gold trees are those of weights and noise."""
    X = [rng.permutation(Parser.size)[:121].reshape(11, 11) for _ in range(examples)]
    w = rng.normal(size=Parser.size)
    return X, [Parser().argmax(x, w + rng.normal(size=Parser.size) / 4) for x in X], w


@pytest.mark.parametrize("rule", ["a-uniform:components", "a-wm:components:sqrt", "b-wm:components:impose"])
def test_one_component_is_a_violation(rule):
    rng = np.random.default_rng(2)
    X, Y, w = random_parsing(rng, 20)
    learner = StructuredPerceptron(Parser(), rule=rule, epochs=5, shuffle=False).fit(X, Y, initial=w)
    assert sum(epoch.mistakes for epoch in learner.history_) > 20
    assert sum(epoch.back_offs for epoch in learner.history_) == 0
    assert sum(epoch.violating for epoch in learner.history_) > sum(epoch.mistakes for epoch in learner.history_)


def test_components_that_all_take_part_are_csp():
    rng = np.random.default_rng(3)
    X, Y, w = random_parsing(rng, 20)
    csp, parts = (
        StructuredPerceptron(Parser(), rule=rule, epochs=1, shuffle=False).fit(X, Y, initial=w)
        for rule in ("csp", "b-uniform:components:count")
    )
    np.testing.assert_allclose(parts.last_coef_, csp.last_coef_, atol=1e-5)  # γ = 1/3 is rounded


def test_a_users_labels_are_looked_at_before_training():
    class Never(Parser):
        def argmax(self, x, w):
            raise AssertionError

    with pytest.raises(InputError, match="has no heads"):
        StructuredPerceptron(Never(), rule="a-wm:subtrees").fit([np.ones((3, 3), int)] * 2, [(0, 1), (0, 7)])
