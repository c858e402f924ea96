"""Multiword tokens: seen forms, forms that resemble them, and forms that are ambiguous."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.model_files import Memory
from swvp.io.table import table_of
from swvp.text.multiword import Expander


def line(number, form):
    return f"{number}\t{form}" + 8 * "\t_" + "\n"


def sentence(*tokens):
    """Tokens as text; a tuple is a multiword token and its words."""
    rows, number = "", 1
    for token in tokens:
        form, words = (token, ()) if isinstance(token, str) else (token[0], token[1:])
        if words:
            rows += line(f"{number}-{number + len(words) - 1}", form)
        for word in words or (form,):
            rows += line(number, word)
            number += 1
    return rows + "\n"


def treebank():
    clitics = [(f"{stem}lo", stem, "lo") for stem in ("far", "dar", "star", "mangiar", "guardar", "trovar")]
    text = "".join(sentence("voglio", clitic, ".") + sentence("voglio", clitic[1], ".") for clitic in clitics)
    text += sentence(("della", "di", "la"), "casa") * 6 + sentence(("nel", "in", "il"), "mare") * 6
    text += "".join(sentence(word, "bello") for word in ("cielo", "solo", "velo", "palo", "filo", "gelo"))
    for noun in ("anni", "mesi", "giorni"):  # dei: two words after a noun, one word at the beginning
        text += sentence("fine", ("dei", "di", "i"), noun) * 3 + sentence("dei", noun, "fa") * 3
    return table_of("made.conllu", text.encode())


@pytest.fixture(scope="module")
def expander():
    return Expander.train(treebank())


def test_forms_of_training_have_their_words_in_the_case_of_the_token(expander):
    assert expander.expand("della") == ("di", "la")
    assert expander.expand("Della") == ("Di", "la")
    assert expander.expand("NEL") == ("IN", "IL")
    assert expander.expand("casa") is None
    assert expander.expand("Cielo") is None


def test_a_new_form_is_divided_as_those_that_end_alike(expander):
    assert expander.expand("cantarlo") == ("cantar", "lo")
    assert expander.expand("melo") is None


def test_neighbours_decide_about_an_ambiguous_form(expander):
    forms = ["fine", "dei", "giorni", "dei", "mesi", "fa"]
    assert expander.expand_all(forms, [0, 3, 6]) == [None, ("di", "i"), None, None, None, None]


def test_its_contents_give_the_same_words_and_a_seed_the_same_contents(expander):
    meta, arrays = expander.contents()
    restored = Expander.from_contents(meta, arrays, Memory())
    forms = ["cantarlo", "dei", "Nel", "casa"]
    assert restored.expand_all(forms, [0, 4]) == expander.expand_all(forms, [0, 4])
    same_meta, same_arrays = Expander.train(treebank()).contents()
    assert meta == same_meta
    assert all(np.array_equal(arrays[name], same_arrays[name]) for name in Expander.array_names(meta))


def test_without_multiword_tokens_nothing_is_expanded():
    none = Expander.train(table_of("made.conllu", sentence("a", "b").encode()))
    assert none.expand_all(["a", "dello"], [0, 2]) == [None, None]


@pytest.mark.parametrize("change", [{"words": []}, {"trees": []}, {"trees": 1}, {"forms": [1]}, {"trees": [["x"]]}])
def test_expansions_that_do_not_fit_are_refused(expander, change):
    meta, arrays = expander.contents()
    with pytest.raises((InputError, ValueError)):
        Expander.from_contents(meta | change, arrays, Memory())


def test_one_word_has_no_edit_tree(expander):
    meta, arrays = expander.contents()
    counts = arrays["counts"].copy()
    counts[meta["words"].index(""), 1] = len(meta["trees"])
    with pytest.raises(InputError):
        Expander.from_contents(meta, arrays | {"counts": counts}, Memory())


def test_feats_of_ranges_are_learnt_and_kept_in_files():
    rows = ["1-2\tdont\t_\t_\t_\tTypo=Yes\t_\t_\t_\t_", "1\tdo" + 8 * "\t_", "2\tnt" + 8 * "\t_", ""]
    expander = Expander.train(table_of("typo.conllu", "\n".join(rows * 6).encode()))
    assert expander.feats == {"dont": "Typo=Yes"}
    meta, arrays = expander.contents()
    assert Expander.from_contents(meta, arrays, Memory()).feats == expander.feats
    with pytest.raises(InputError, match="FEATS"):
        Expander.from_contents(meta | {"feats": [["dont", "a\tb"]]}, arrays, Memory())
