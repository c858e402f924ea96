"""Word clusters: the kernels equal their definitions, paths are a prefix code, and templates use them."""

import itertools

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.features import learn_clusters, parse_arc_templates, parse_templates
from swvp.features.clusters import (
    classes_of,
    exchange,
    merge_order,
    n_log_n_table,
    neighbours_of,
    pairs_of,
)
from swvp.features.encoder import TemplateEncoder
from swvp.tagging.corpus import as_columns


def objective(classes, text):
    """F by its definition, from the text."""
    tokens = [int(classes[word]) for word in text]
    pairs, singles = {}, {}
    for c, d in zip(tokens, [*tokens[1:], tokens[0]], strict=True):
        pairs[c, d] = pairs.get((c, d), 0) + 1
        singles[c] = singles.get(c, 0) + 1
    return sum(n * np.log(n) for n in pairs.values()) - 2 * sum(n * np.log(n) for n in singles.values())


def example(seed, words=8, number=3, tokens=60):
    """A random text of `words` words, a rare word and a boundary, and random classes."""
    random = np.random.default_rng(seed)
    text = random.choice(words + 2, tokens, p=random.dirichlet(np.ones(words + 2)))
    text[: words + 2] = np.arange(words + 2)  # all occur
    classes = np.concatenate([random.integers(0, number, words), [number, number + 1]])
    return text.astype(np.int64), classes.astype(np.int64)


def exchanged(classes, text, number):
    """The classes after each word was moved to the best class, each class tried from scratch."""
    classes = classes.copy()
    for word in range(len(classes) - 2):
        scores = []
        for c in range(number):
            classes[word], old = c, classes[word]
            scores.append(objective(classes, text))
            classes[word] = old
        best = int(classes[word])
        for c in range(number):
            if scores[c] > scores[best] + 1e-7:
                best = c
        classes[word] = best
    return classes


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("values", [2, 1000])
def test_a_sweep_of_exchanges_equals_trying_each_class_from_scratch(seed, values):
    text, classes = example(seed)
    table = n_log_n_table(len(text))[:values]  # beyond the table, n log n is computed
    neighbours, pairs = neighbours_of(text, 10), pairs_of(classes, text)
    for _ in range(3):
        expected, before = exchanged(classes, text, 3), objective(classes, text)
        moves, increase = exchange(classes, *neighbours, *pairs, table)
        assert classes.tolist() == expected.tolist()
        assert objective(classes, text) == pytest.approx(before + increase)
        assert increase >= 0
        assert (increase > 0) == (moves > 0)
        for counts, recounted in zip(pairs, pairs_of(classes, text), strict=True):
            assert counts.tolist() == recounted.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_each_merge_is_one_that_lowers_the_objective_least(seed):
    text, _ = example(seed, words=6)
    classes = np.arange(8)  # each word is a class, the last two are never merged
    merges = merge_order(*pairs_of(classes, text), n_log_n_table(len(text)))
    for a, b in merges.tolist():
        present = sorted(set(classes.tolist()) - {6, 7})
        after = {
            (i, j): objective(np.where(classes == j, i, classes), text) for i, j in itertools.combinations(present, 2)
        }
        assert a < b
        assert after[a, b] == pytest.approx(max(after.values()))
        assert after[a, b] <= objective(classes, text) + 1e-9
        classes = np.where(classes == b, a, classes)
    assert classes.tolist() == [0] * 6 + [6, 7]


@pytest.mark.parametrize("number", [1, 2, 5, 100])
def test_paths_are_a_complete_prefix_code(number):
    text, _ = example(0, words=20, tokens=500)
    classes, paths = classes_of(text, 20, number)
    assert len(paths) == min(number, 20) > max(classes[:20])
    assert sum(2.0 ** -len(path) for path in paths) == 1.0
    assert not any(a.startswith(b) for a, b in itertools.permutations(paths, 2))


def sentences(count=300, seed=0):
    """Random sentences of determiners, nouns and verbs, some of them capitalised."""
    random = np.random.default_rng(seed)
    kinds = [["the", "a", "this"], ["dog", "cat", "bird", "Fish"], ["sees", "Hears", "likes"]]
    return [[str(random.choice(kinds[k])) for k in (0, 1, 2, 0, 1)] for _ in range(count)]


def test_words_that_stand_in_the_same_places_share_a_cluster():
    paths = learn_clusters([*sentences(), ["rare", "rare"]], 3, minimum_count=3)
    clusters = {}
    for word, path in paths.items():
        clusters.setdefault(path, set()).add(word)
    assert sorted(map(sorted, clusters.values())) == [
        ["a", "the", "this"],
        ["bird", "cat", "dog", "fish"],
        ["hears", "likes", "sees"],
    ]


def test_the_same_text_gives_the_same_clusters():
    assert learn_clusters(sentences(), 5) == learn_clusters(iter(sentences()), 5)
    assert list(learn_clusters(sentences(), 5)) == list(learn_clusters(sentences(), 5))


def test_texts_without_frequent_words_have_no_clusters():
    assert learn_clusters([]) == learn_clusters([[]]) == {}
    assert learn_clusters([["once", "twice", "Twice"]], minimum_count=3) == {}
    assert learn_clusters([["once", "twice", "Twice"]], minimum_count=2) == {"twice": ""}
    assert set(learn_clusters([["once", "twice", "Twice"]])) == {"once", "twice"}


def test_wrong_texts_and_numbers_are_told():
    with pytest.raises(InputError, match="not a string: split it first"):
        learn_clusters(["a sentence"])
    for number in (0, -3, 2.5, True, None, 10**9):
        with pytest.raises(InputError, match="number of clusters must be a whole number from 1 to 5000"):
            learn_clusters([["a"]], number)
    with pytest.raises(InputError, match="minimum_count must be a whole number of at least 1, not 0"):
        learn_clusters([["a"]], minimum_count=0)


def test_templates_have_the_path_of_a_cluster_or_its_first_bits():
    lines = ["cluster(word[0])", "cluster( word[-1] , 2 ) & lower(word[0])"]
    templates = parse_templates(lines, ["word"])
    assert [template.text for template in templates] == ["cluster(word[0])", "cluster(word[-1], 2) & lower(word[0])"]
    assert parse_templates([template.text for template in templates], ["word"]) == templates
    encoder = TemplateEncoder(templates, clusters={"dog": "0101", "the": "1"})
    encoder.fit(as_columns([["The", "Dog", "x"]], ["word"]))
    names = [encoder.name(k) for k in range(encoder.size)]
    assert names[0::2] == ["cluster(word[0]) = 1", "cluster(word[0]) = 0101", "cluster(word[0]) = "]
    start = "cluster(word[-1], 2) & lower(word[0])"
    assert names[1::2] == [f"{start} = <-1> & the", f"{start} = 1 & dog", f"{start} = 01 & x"]


def test_a_word_without_a_cluster_has_no_feature_if_all_training_words_have_one():
    encoder = TemplateEncoder(parse_templates(["cluster(word[0])"], ["word"]), clusters={"dog": "0", "the": "1"})
    encoder.fit(as_columns([["the", "dog"]], ["word"]))
    attributes, starts = encoder.encode(as_columns([["cat", "DOG"]], ["word"]))
    assert starts.tolist() == [0, 0, 1]
    assert [encoder.name(k) for k in attributes] == ["cluster(word[0]) = 0"]


def test_clusters_are_learnt_from_the_words_of_the_first_fit():
    encoder = TemplateEncoder(parse_templates(["cluster(word[0])"], ["word"]), clusters=3)
    encoder.fit(as_columns(sentences(), ["word"]))
    assert encoder.clusters == {"word": learn_clusters(sentences(), 3)}
    encoder.fit(as_columns([["new"] * 9], ["word"]))
    assert encoder.clusters == {"word": learn_clusters(sentences(), 3)}


def test_wrong_lengths_and_parsers_are_refused():
    with pytest.raises(InputError, match="needs a length of at least 1"):
        parse_templates(["cluster(word[0], 0)"], ["word"])
    with pytest.raises(InputError, match="unknown function in template line 1: 'cluster'"):
        parse_arc_templates(["cluster(h.word)"])
