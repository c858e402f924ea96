"""Rules with `parts`: a sub-structure's Δφ is that of the parts of its words."""

import itertools

import numpy as np
import pytest

from helpers import part_treebanks
from helpers.part_treebanks import KINDS, LINES
from helpers.slow import in_plain_python, without_jit
from helpers.trees import toy
from swvp import DependencyParser
from swvp.errors import InputError
from swvp.learning.epoch import COUNTS
from swvp.learning.perceptron import sweep_of
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.generic import PythonModel, PythonProblem
from swvp.structures.tree.reference import parts_of, trees, word_parts
from swvp.structures.tree.second_order.model import new_part_model

RULES = ["b-wm:parts", "a-wm:parts", "a-uniform:mira:parts", "b-wmr:components:parts", "b-softmin:pairs:impose:parts"]


class Told:
    """A problem that predicts what it is told."""

    def __init__(self, plain):
        self.plain, self.said = plain, None

    def argmax(self, x, w):
        return self.said

    def joint_feature(self, x, y):
        return self.plain.joint_feature(x, y)


class WordParts(PythonProblem):
    """The definition: Δφ by parts of words."""

    def difference(self, i, predicted, J):
        gold, plain = self.Y[i], self.problem.plain
        rows = plain.parts(self.X[i])
        total = np.zeros(len(plain.numbers))
        for sign, heads, other in ((1, gold, predicted), (-1, predicted, gold)):
            for word, parts in word_parts(tuple(heads), tuple(other)).items():
                if word - 1 in J:
                    for part in parts:
                        np.add.at(total, rows[part], sign)
        return total


@pytest.mark.parametrize(
    ("rule", "kind"),
    in_plain_python(
        [(rule, kind) for rule in RULES for kind in KINDS if "mira" not in rule or kind == "any"],
        rare=lambda value: "mira" in value[0] or "projective" in value[1],
    ),
)
def test_kernels_and_definition_learn_the_same_weights_from_zero(rule, kind):
    rng = np.random.default_rng([RULES.index(rule), 3])
    both = part_treebanks.Both(rng, LINES, share=0.7, lengths=(1, 2, 3, 4, 4, 5), **KINDS[kind])
    both.model = new_part_model(both.problem, 2**22, word_parts=True)  # hashed, but hardly any place is shared
    definition = Told(both.plain)
    learnt = PythonModel(np.zeros(len(both.plain.numbers)))
    given = as_rule(rule, beta=float(rng.uniform(0.3, 3)), C=0.3)
    assert given.name == rule
    sides = ((both.problem, both.model), (WordParts(definition, both.X, both.Y), learnt))
    runs = [(*sweep_of(given, problem), problem, model, np.zeros(1)) for problem, model in sides]
    counts = np.zeros((2, len(COUNTS)), np.int64)
    for clock in range(4 * len(both.X)):
        i = clock % len(both.X)
        for which, (run, compiled, problem, model, largest) in enumerate(runs):
            run(problem, model, compiled, np.array([i]), clock, 1.0, largest, counts[which])
            definition.said = tuple(both.model.predicted[: len(both.X[i])].tolist())
    assert counts[0].tolist() == counts[1].tolist()
    assert counts[0][COUNTS.index("updates")] > 1
    both.check(both.model.w, learnt.w, atol=0.0)


@pytest.mark.parametrize("projective", [False, True])
def test_every_part_that_differs_belongs_to_one_wrong_word(projective):
    every = list(trees(4, projective))
    for gold, predicted in itertools.product(every, every):
        owned = word_parts(gold, predicted)
        assert set(owned) == {m for m in range(1, 5) if gold[m - 1] != predicted[m - 1]}
        found = sorted(itertools.chain(*owned.values()), key=str)
        assert found == sorted(set(parts_of(gold)) - set(parts_of(predicted)), key=str)


@without_jit
def test_margins_of_single_words_add_up_to_that_of_the_prediction():
    rng = np.random.default_rng(5)
    both = part_treebanks.Both(rng, LINES, lengths=(4, 5, 5))
    both.model = new_part_model(both.problem, 2**14, exact=True, word_parts=True)
    both.shake()
    checked = 0
    for i in range(len(both.X)):
        wrong = np.zeros(5, np.int64)
        k = operations.find_mistakes(both.problem, both.model, i, wrong)
        single, whole = np.zeros(k), np.zeros(1)
        operations.margins(both.problem, both.model, i, np.arange(k + 1), wrong, k, single)
        operations.margins(both.problem, both.model, i, np.array([0, k]), wrong, 1, whole)
        assert single.sum() == pytest.approx(whole[0])
        assert whole[0] <= 1e-9
        checked += k > 1
    assert checked > 0


def test_parts_change_what_a_second_order_parser_learns():
    X, y = toy(count=40, wrong=0.2)
    weights = [
        DependencyParser(rule=rule, order=2, epochs=3, margin=0, random_state=0).fit(X, y).coef_
        for rule in ("b-wm", "b-wm:parts", "csp", "csp:parts")
    ]
    assert not np.array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[2], weights[3])  # the whole prediction has all parts


def test_parts_change_nothing_in_first_order():
    X, y = toy(count=20, wrong=0.2)
    weights = [DependencyParser(rule=rule, epochs=2, random_state=0).fit(X, y).coef_ for rule in ("b-wm", "b-wm:parts")]
    np.testing.assert_array_equal(*weights)


def test_parts_are_refused_where_labels_are_not_trees():
    from swvp import SequenceTagger

    with pytest.raises(InputError, match="parts are for trees of second order"):
        SequenceTagger(rule="b-wm:parts").fit([["a", "b"]], [["x", "y"]])
