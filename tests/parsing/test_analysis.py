"""Explanations, k-best trees and probabilities of a parser, against enumerations of all trees."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from scipy.special import softmax

from helpers.trees import conllu, heads_only, toy
from swvp import DependencyParser
from swvp.errors import InputError
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.io.container import read_container, write_container
from swvp.parsing import parser as parser_module
from swvp.parsing.analysis import arc_scores, best_temperature, distribution, kernel_model
from swvp.parsing.first_order import contributions
from swvp.parsing.tree import treebank_from
from swvp.parsing.tree_model import sentence_columns
from swvp.structures.tree.first_order.features import arc_keys, feature_names, node_keys
from swvp.structures.tree.first_order.probabilities import table_of, tables_begin
from swvp.structures.tree.reference import trees

X, Y = toy(0, 25, wrong=0.3)
FOUR = [
    [("the", "DET"), ("dog", "NOUN"), ("sees", "VERB"), ("cat", "NOUN")],
    [("dog", "NOUN")],
    [("old", "ADJ"), ("sees", "VERB"), ("xyzzy", "NEW")],
]
KINDS = [(False, True), (False, False), (True, True), (True, False)]


@pytest.fixture(scope="module", params=KINDS, ids=["any", "any, several roots", "projective", "projective, several"])
def parser(request):
    projective, one_root = request.param
    options = {"random_state": 0, "epochs": 2, "hashed": 2**14, "prune": False}
    return DependencyParser(projective=projective, one_root=one_root, **options).fit(X, Y)


@pytest.fixture(scope="module")
def pruned():
    return DependencyParser(random_state=0, epochs=2, hashed=2**14).fit(X, Y)


def scores_of(parser, sentence):
    """The scores of all arcs by their features' weights alone."""
    treebank = treebank_from([sentence], heads=None)
    problem = parser._encoded(treebank)
    model, columns = kernel_model(problem, parser._weights), sentence_columns(treebank, 0)
    n = len(sentence)
    scores = np.full((n + 1, n + 1), -np.inf)
    for m in range(1, n + 1):
        for h in range(n + 1):
            if h != m:
                scores[h, m] = sum(w for _, w in contributions(parser.templates_, problem, model, columns, 0, h, m))
    return scores


def every_tree(parser, sentence):
    """Every tree with its score, best first."""
    scores = scores_of(parser, sentence)
    found = [
        (heads, sum(float(scores[h, m]) for m, h in enumerate(heads, 1)))
        for heads in trees(len(sentence), parser.projective, parser.one_root)
    ]
    return sorted(found, key=lambda pair: -pair[1])


# ---------------------------------------------------------------- the next best


def test_the_k_best_are_the_best_of_all(parser):
    for sentence, found in zip(FOUR, parser.predict_k_best(FOUR, 40), strict=True):
        expected = every_tree(parser, sentence)
        assert len(found) == min(40, len(expected))
        np.testing.assert_allclose([score for _, score in found], [score for _, score in expected[:40]], atol=1e-9)
        by_heads = dict(expected)
        assert all(by_heads[tree.heads] == pytest.approx(score) for tree, score in found)
        assert len({tree.heads for tree, _ in found}) == len(found)
    assert [found[0][0] for found in parser.predict_k_best(X, 1)] == parser.predict(X).tolist()
    assert [found[0][0] for found in parser.predict_k_best(X, 3)] == parser.predict(X).tolist()
    assert parser.predict_k_best([], 3) == []


def test_the_labels_of_the_next_best_trees_are_the_best_for_them(pruned):
    treebank = treebank_from(FOUR, heads=None)
    for i, found in enumerate(pruned.predict_k_best(FOUR, 5)):
        for tree, _ in found:
            heads = np.concatenate([tree.heads if j == i else [0] * len(other) for j, other in enumerate(FOUR)])
            labels = pruned.labeller_.predict(treebank, heads.astype(np.int32))
            part = treebank.sentence(i)
            assert tree.labels == tuple(labels.strings[k] for k in labels.ids[part])


def test_gold_trees_stand_beside(pruned):
    (found, *_) = pruned.predict_k_best(conllu(X, Y), 2)
    assert found[1][0].gold_heads == tuple(heads_only(Y)[0])


# ---------------------------------------------------------------- probabilities


@pytest.mark.parametrize("temperature", [1.0, 9.0])
def test_probabilities_are_those_over_all_trees(parser, temperature):
    parser = copy.deepcopy(parser)
    parser.temperature_ = temperature
    marginals, sure = parser.predict_marginals(FOUR), parser.confidence(FOUR)
    for sentence, table, tree in zip(FOUR, marginals, sure, strict=True):
        every = every_tree(parser, sentence)
        p = softmax([score / temperature for _, score in every])
        n = len(sentence)
        assert table.shape == (n + 1, n + 1)
        np.testing.assert_array_equal(table[:, 0], 0.0)
        np.testing.assert_allclose(table[:, 1:].sum(axis=0), 1.0, rtol=1e-9)
        for m in range(1, n + 1):
            for h in range(n + 1):
                expected = sum(q for q, (heads, _) in zip(p, every, strict=True) if heads[m - 1] == h)
                assert table[h, m] == pytest.approx(expected, rel=1e-7, abs=1e-12)
        assert tree.heads == every[0][0]
        assert tree.confidence == pytest.approx([table[h, m] for m, h in enumerate(tree.heads, 1)])
    assert parser.predict_marginals([]) == []
    assert parser.confidence([]).shape == (0,)


def test_pruned_arcs_have_probability_zero(pruned):
    for sentence, table in zip(X, pruned.predict_marginals(X), strict=True):
        np.testing.assert_allclose(table[:, 1:].sum(axis=0), 1.0, rtol=1e-9)
        for m, (_, tag) in enumerate(sentence, 1):
            for h, (_, head_tag) in enumerate(sentence, 1):
                if head_tag == "PUNCT":  # never a head
                    assert table[h, m] == 0.0
                if (head_tag, tag) == ("DET", "PUNCT"):
                    assert table[h, m] == 0.0


def test_where_every_tree_has_a_pruned_arc_those_with_the_fewest_count(pruned):
    odd = [("the", "DET"), ("dog", "NOUN"), (".", "PUNCT"), ("the", "DET")]  # no head for the last two, no root
    problem = pruned._encoded(treebank_from([odd], heads=None))
    allowed = np.isfinite(table_of(arc_scores(problem, pruned._weights), tables_begin(problem), 0))
    scores = scores_of(pruned, odd)
    words = range(1, 5)
    every = [
        (heads, sum(not allowed[h, m] for m, h in enumerate(heads, 1)), sum(scores[heads, words])) for heads in trees(4)
    ]
    least = min(count for _, count, _ in every)
    assert least > 1
    best = sorted(((heads, score) for heads, count, score in every if count == least), key=lambda pair: -pair[1])
    p = softmax([score for _, score in best])
    (table,) = pruned.predict_marginals([odd])
    for m in words:
        for h in range(5):
            expected = sum(q for q, (heads, _) in zip(p, best, strict=True) if heads[m - 1] == h)
            assert table[h, m] == pytest.approx(expected, abs=1e-9)
    (tree,) = pruned.predict([odd])
    assert tree.heads == best[0][0]
    (found,) = pruned.predict_k_best([odd], 1000)
    assert [score for _, score in found] == pytest.approx([score for _, score in best])
    assert found[0][0] == tree
    assert tree.heads == pruned.predict([X[0], odd, X[1]])[1].heads
    assert pruned.confidence([odd])[0].confidence == pytest.approx([table[h, m] for m, h in enumerate(tree.heads, 1)])
    assert "(none)" not in {row[3] for row in pruned.explain(odd).rows}
    mixed = pruned.predict_marginals([X[0], odd, X[1]])
    np.testing.assert_allclose(mixed[1], table)
    np.testing.assert_allclose(mixed[2], pruned.predict_marginals([X[1]])[0])


def calibration_error(parser, X, y, bins=10):
    """How far confidence and accuracy are apart, on average over words of about the same confidence."""
    sure = parser.confidence(X)
    p = np.concatenate([tree.confidence for tree in sure])
    right = np.concatenate([np.array(tree.heads) == gold for tree, gold in zip(sure, heads_only(y), strict=True)])
    which = np.minimum((p * bins).astype(int), bins - 1)
    return sum(abs(p[which == k].sum() - right[which == k].sum()) for k in range(bins)) / len(p)


def test_a_fitted_temperature_makes_confidences_right_on_average():
    found = DependencyParser(random_state=0, epochs=3, hashed=2**14).fit(*toy(0, 150, wrong=0.3))
    held_out, test = toy(1, 150, wrong=0.3), toy(2, 150, wrong=0.3)
    before, predicted = calibration_error(found, *test), found.predict(test[0]).tolist()
    assert found.fit_temperature(*held_out) is found
    after = calibration_error(found, *test)
    assert found.temperature_ > 1.5
    assert before > 0.05
    assert after < 0.5 * before
    assert found.predict(test[0]).tolist() == predicted
    by_text = found.temperature_
    assert found.fit_temperature(conllu(*held_out)).temperature_ == by_text


@pytest.mark.parametrize("of", ["arcs", "trees"])
def test_the_temperature_is_the_one_that_makes_gold_heads_most_probable(pruned, of):
    dev = treebank_from(*toy(3, 40, wrong=0.3), heads=True)
    problem = pruned._encoded(dev)

    def loss(temperature):
        found = distribution(problem, pruned._weights, temperature)
        p = found.of(problem, dev.trees)
        if of == "arcs":
            return -np.log(p[p > 0]).sum()
        total = 0.0
        for i in range(dev.number_of_sentences):
            part = dev.sentence(i)
            heads = dev.trees[part]
            table = table_of(found.scores, found.begins, i)
            score = table[heads, np.arange(1, len(heads) + 1)].sum()
            if np.isfinite(score) and (heads == 0).sum() == 1:
                total += found.log_z[i] - score / temperature
        return total

    best = best_temperature(problem, pruned._weights, dev, of)
    assert loss(best) <= min(loss(best * factor) for factor in (0.02, 0.5, 0.97, 1.03, 2.0, 50.0))


def test_the_temperature_is_kept_in_files_and_pickles_but_not_by_another_fit(pruned, tmp_path):
    found = copy.deepcopy(pruned)
    assert DependencyParser().temperature_ == found.temperature_ == 1.0
    found.fit_temperature(*toy(1, 20, wrong=0.3))
    found.save(tmp_path / "model")
    assert found.temperature_ != 1.0
    assert DependencyParser.load(tmp_path / "model").temperature_ == found.temperature_
    again = pickle.loads(pickle.dumps(found))
    assert again.temperature_ == found.temperature_
    assert again.partial_fit(X, Y).temperature_ == 1.0
    kind, meta, arrays = read_container(tmp_path / "model", "parser")
    write_container(tmp_path / "old", kind, {k: v for k, v in meta.items() if k != "temperature"}, arrays)
    assert DependencyParser.load(tmp_path / "old").temperature_ == 1.0
    for forged in (0, -1.0, "1", None, True):
        write_container(tmp_path / "forged", kind, json.loads(json.dumps(meta)) | {"temperature": forged}, arrays)
        with pytest.raises(InputError, match="its temperature cannot be right"):
            DependencyParser.load(tmp_path / "forged")


def test_bad_questions_are_one_clear_line(pruned):
    with pytest.raises(InputError, match="k must be a whole number of at least 1, not 0"):
        pruned.predict_k_best(X, 0)
    with pytest.raises(InputError, match="unknown measure 'arc'"):
        pruned.fit_temperature(X, Y, of="arc")
    with pytest.raises(InputError, match="y is missing"):
        pruned.fit_temperature(X)
    with pytest.raises(InputError, match="no gold trees that the parser can predict"):
        pruned.fit_temperature([[("the", "DET"), ("dog", "NOUN")]], [[0, 0]], of="trees")
    with pytest.raises(InputError, match="there is no word 5: the sentence has words 1 to 4"):
        pruned.explain(FOUR[0], word=5)
    with pytest.raises(InputError, match="there is no word 0"):
        pruned.explain(FOUR[0], word=0)
    with pytest.raises(InputError, match="n must be a whole number of at least 0, not -1"):
        pruned.explain(FOUR[0], n=-1)
    with pytest.raises(InputError, match="n must be a whole number"):
        pruned.top_features(X, 1.5)


def test_long_sentences(parser):
    long = [("dog", "NOUN"), ("sees", "VERB"), ("cat", "NOUN")] * 20
    (tree,) = parser.confidence([long])
    assert all(0 < p <= 1 for p in tree.confidence)
    (found,) = parser.predict_k_best([long], 3)
    assert len(found) == 3


# ---------------------------------------------------------------- names and weights


RICH = [
    ("Wir", "wir", "PRON", "PPER", "Case=Nom|Number=Plur"),
    ("sahen", "sehen", "VERB", "VVFIN", "Tense=Past"),
    (",", ",", "PUNCT", "$,", "_"),
    ("und", "und", "CCONJ", "KON", "_"),
    ("alte", "alt", "ADJ", "ADJA", "Case=Acc|Gender=Masc|Number=Plur"),
    ("Hunde", "Hund", "NOUN", "NN", "Case=Acc|Number=Plur"),
    ("bellten", "bellen", "VERB", "VVFIN", "Tense=Past|Number=Plur"),
    ("sehr", "sehr", "ADV", "ADV", "|".join(f"F{k}=x" for k in range(30))),
]
TEMPLATES = [*PRESETS["turbo"], *PRESETS["first-order"], "suffix(h.word, 2) & m.word[+5]", "shape(m.word) & length"]


@pytest.mark.parametrize(
    "features",
    ["first-order", "turbo", TEMPLATES, ["bias"], ["h.feats & m.feats"]],
    ids=["first-order", "turbo", "many", "bias", "feats"],
)
def test_names_are_those_of_the_keys_one_by_one(features):
    """Equal names on arcs of a treebank have equal keys, different ones different keys."""
    found = DependencyParser(random_state=0, epochs=1, hashed=2**10, features=features, prune=False)
    long = [*RICH, *RICH[:5]] * 4
    sentences = [RICH, RICH[::-1], long]
    found.fit(sentences, [[0, *[1] * (len(sentence) - 1)] for sentence in sentences])
    treebank = treebank_from(sentences, heads=None)
    problem = found._encoded(treebank)
    model = kernel_model(problem, found._weights)
    key_of, name_of = {}, {}
    for i, sentence in enumerate(sentences):
        first, columns = problem.nodes.starts[i], sentence_columns(treebank, i)
        node_keys(problem.nodes, problem.tables, first, len(sentence), model.buffers)
        for m in range(1, min(len(sentence), 9) + 1):
            for h in range(len(sentence) + 1):
                if h == m:
                    continue
                size = arc_keys(problem.nodes, problem.tables, first, h, m, model.buffers, model.buffers.features)
                names = feature_names(columns, found.templates_, h, m)
                assert len(names) == size
                for name, key in zip(names, model.buffers.features[:size].tolist(), strict=True):
                    assert key_of.setdefault(name, key) == key
                    assert name_of.setdefault(key, name) == name


def test_names_are_readable():
    found = DependencyParser(
        features=["h.pos & m.pos & distance", "bias", "between.tag", "m.word[-1]", "h.feats & verbs"]
    )
    with pytest.raises(InputError, match="exclude each other"):
        found.fit([RICH], [[0] + [1] * 7])
    found.set_params(features=["h.pos & m.pos & distance", "bias", "between.tag", "m.word[-1]", "h.feats"])
    found.set_params(hashed=64).fit([RICH], [[0] + [1] * 7])
    columns = sentence_columns(treebank_from([RICH], heads=None), 0)
    assert feature_names(columns, found.templates_, 1, 4) == [
        "bias, right",
        "h.feats=Case=Nom, right",
        "h.feats=Number=Plur, right",
        "m.word[-1]=,, right",
        "between.tag=VVFIN, right",
        "between.tag=$,, right",
        "h.pos=PRON & m.pos=CCONJ & distance=3, right",
    ]
    assert feature_names(columns, found.templates_, 0, 1) == [
        "bias, right",
        "m.word[-1]=(begin), right",
        "h.pos=(root) & m.pos=PRON & distance=1, right",
    ]


@pytest.mark.parametrize("hashed", [2**8, 2**14, None])
def test_contributions_sum_to_the_scores(hashed, monkeypatch):
    monkeypatch.setattr(parser_module, "EXACT_SIZE", 2**16)
    found = DependencyParser(random_state=0, epochs=2, hashed=hashed, prune=False, labels=False).fit(X, Y)
    for sentence in (X[0], X[1], RICH):
        problem = found._encoded(treebank_from([sentence], heads=None))
        table = table_of(arc_scores(problem, found._weights), tables_begin(problem), 0)
        np.testing.assert_allclose(scores_of(found, sentence), table, atol=1e-9)


def test_an_explanation_is_the_difference_of_two_arcs(pruned):
    sentence = X[0]
    scores, tree = scores_of(pruned, sentence), pruned.predict([sentence])[0]
    table = pruned.explain(sentence, n=10_000)
    assert table.headings == ("word", "head", "score", "second", "its score", "feature", "difference")
    words = ["0 (root)", *(f"{k} {word}" for k, (word, _) in enumerate(sentence, 1))]
    explained = {row[0] for row in table.rows}
    assert len(explained) >= len(sentence) - 1
    for m, shown in enumerate(words[1:], 1):
        rows = [row for row in table.rows if row[0] == shown]
        if not rows:
            continue
        head, score, second, other = rows[0][1:5]
        assert words.index(head) == tree.heads[m - 1]
        assert score == pytest.approx(scores[words.index(head), m])
        if second != "(none)":
            assert second != head
            assert other == pytest.approx(scores[words.index(second), m])
        difference = score - (0.0 if second == "(none)" else other)
        assert sum(row[6] for row in rows) == pytest.approx(difference, abs=1e-9)
        assert len({row[5] for row in rows}) == len(rows)
        assert [abs(row[6]) for row in rows] == sorted((abs(row[6]) for row in rows), reverse=True)
        assert pruned.explain(sentence, word=m, n=3).rows == rows[:3]
    assert pruned.explain(conllu([sentence])).rows == pruned.explain(sentence).rows
    assert "h.pos=" in str(table)
    assert "<table" in table._repr_html_()


def test_the_second_head_is_that_of_the_best_tree_without_the_arc(parser):
    sentence = FOUR[0]
    every = every_tree(parser, sentence)
    words = ["0 (root)", *(f"{k} {word}" for k, (word, _) in enumerate(sentence, 1))]
    for row in parser.explain(sentence, n=1).rows:
        m, head = words.index(row[0]), words.index(row[1])
        assert words.index(row[3]) == next(heads[m - 1] for heads, _ in every if heads[m - 1] != head)


def test_one_word_has_no_other_head(pruned):
    rows = pruned.explain([("dog", "NOUN")], n=100).rows
    assert {row[:2] + row[3:5] for row in rows} <= {("1 dog", "0 (root)", "(none)", "")}


def test_the_heaviest_features_are_those_of_all_arcs(parser):
    some = [X[0], X[1], FOUR[2]]
    expected = {}
    for sentence in some:
        treebank = treebank_from([sentence], heads=None)
        problem = parser._encoded(treebank)
        model, columns = kernel_model(problem, parser._weights), sentence_columns(treebank, 0)
        for m in range(1, len(sentence) + 1):
            for h in range(len(sentence) + 1):
                if h != m:
                    expected |= dict(contributions(parser.templates_, problem, model, columns, 0, h, m))
    heaviest = sorted((abs(w) for w in expected.values() if w), reverse=True)
    rows = parser.top_features(some, 25).rows
    assert [abs(w) for _, w in rows] == pytest.approx(heaviest[:25])
    assert all(expected[name] == w for name, w in rows)
    assert len({name for name, _ in rows}) == 25
    assert len(parser.top_features(some, 10**6).rows) == len(heaviest)
    assert parser.top_features(some, 0).rows == []
    assert parser.top_features([], 3).rows == []


def test_scores_are_finite_numbers(pruned):
    for found in pruned.predict_k_best(X[:3], 2):
        assert all(math.isfinite(score) for _, score in found)


@pytest.mark.parametrize("of", ["arcs", "trees"])
def test_pruned_arcs_have_no_part_in_the_temperature_even_where_every_tree_has_one(of):
    found = DependencyParser(random_state=0, epochs=3, hashed=2**14).fit(*toy(0, 40, wrong=0.3))
    held_out, gold = toy(1, 30, wrong=0.3)
    words, tree = [("sees", "VERB"), ("the", "DET"), ("the", "DET")], [(2, "x"), (0, "root"), (2, "x")]
    alone = found.fit_temperature(held_out, gold, of=of).temperature_
    together = found.fit_temperature([*held_out, words], [*gold, tree], of=of).temperature_
    assert together == pytest.approx(alone, rel=0.01)


def test_sentences_without_an_unpruned_tree_do_not_change_the_temperature(pruned):
    words, gold = toy(3, 40, wrong=0.3)
    odd = [("the", "DET"), ("dog", "NOUN"), (".", "PUNCT"), ("the", "DET")]  # no head for the last two, no root
    dev = treebank_from(words, gold, heads=True)
    more = treebank_from([*words, odd], [*heads_only(gold), [2, 0, 2, 2]], heads=True)
    for of in ("arcs", "trees"):
        alone = best_temperature(pruned._encoded(dev), pruned._weights, dev, of)
        assert best_temperature(pruned._encoded(more), pruned._weights, more, of) == pytest.approx(alone, rel=0.01)
    only = treebank_from([odd], [[2, 0, 2, 2]], heads=True)
    with pytest.raises(InputError, match="a temperature cannot be fitted"):
        best_temperature(pruned._encoded(only), pruned._weights, only)
