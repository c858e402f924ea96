"""Edit trees make the lemma that they were learnt from, whatever the strings."""

import json

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.text.edit_trees import apply, as_json, edit_tree, from_json

ALPHABETS = ["ab", "abcABC", "αάεέΑΣσς", "e\u0301a\u0308E", "İıIißẞ", "中文字", "😀a"]


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_a_tree_makes_its_own_lemma(alphabet):
    rng = np.random.default_rng(0)
    letters = list(alphabet)
    for _ in range(300):
        form, lemma = ("".join(rng.choice(letters, rng.integers(0, 9))) for _ in range(2))
        tree = edit_tree(form, lemma)
        assert apply(tree, form) == lemma
        assert from_json(json.loads(json.dumps(as_json(tree)))) == tree


def test_long_strings_are_replaced_as_a_whole():
    assert apply(edit_tree("a" * 500, "a" * 400), "a" * 500) == "a" * 400


def test_a_tree_fits_other_forms_with_the_same_ending():
    assert apply(edit_tree("κυβερνήσεων", "κυβέρνηση"), "Κυβερνήσεων") == "κυβέρνηση"
    assert apply(edit_tree("walked", "walk"), "TALKED") == "talk"
    assert apply(edit_tree("walked", "walk"), "talks") is None


def test_names_keep_their_casing():
    assert apply(edit_tree("London", "London"), "McDonald") == "McDonald"
    assert apply(edit_tree("LONDON", "London"), "PARIS") == "Paris"


@pytest.mark.parametrize(
    "value",
    [None, [], ["odd", [], [], False], ["keep", [-1], [], False], ["keep", [["a"]], [], False], ["keep", [], [], True]],
)
def test_what_is_no_tree_is_refused(value):
    with pytest.raises(InputError):
        from_json(value)
