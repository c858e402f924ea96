"""Scores of trees against plain counting of what the official scorers count, and by hand."""

import json
import re
from collections import Counter

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.evaluation.counts import Counts
from swvp.evaluation.trees import compare_trees, evaluate_trees, is_punctuation
from swvp.io.treebank import Treebank, treebank_of

WORDS = [["Ann", "saw", "«", "Bo", "»", "$"], ["!"], ["It", "ends", "."]]
TAGS = [["PROPN", "VERB", "PUNCT", "PROPN", "PUNCT", "PUNCT"], ["PUNCT"], ["PRON", "VERB", "PUNCT"]]
HEADS = [[2, 0, 4, 2, 4, 2], [0], [2, 0, 2]]
LABELS = [["nsubj", "root", "punct", "obj", "punct", "dep"], ["root"], ["nsubj:pass", "root", "punct"]]


def treebank(heads=HEADS, labels=LABELS):
    tokens = [list(zip(*pair, strict=True)) for pair in zip(WORDS, TAGS, strict=True)]
    return treebank_of(tokens, heads=heads, labels=labels)


# wrong are the heads of Bo, » and "."; the labels of Ann, It (only its subtype) and "."
OTHER_HEADS = [[2, 0, 4, 6, 2, 2], [0], [2, 0, 1]]
OTHER_LABELS = [["obj", "root", "punct", "obj", "punct", "dep"], ["root"], ["nsubj", "root", "dep"]]


def test_by_hand():
    scores = evaluate_trees(treebank(), treebank(OTHER_HEADS, OTHER_LABELS))
    assert scores.all[:4] == (10, 7, 7, 5)
    assert (scores.uas, scores.las, scores.all.label_accuracy) == (0.7, 0.5, 0.7)
    assert scores.all[4:] == (3, 1, 1)
    # by form: « » ! and . are punctuation, $ is not; the second sentence has nothing to score
    assert scores.no_punctuation == (6, 5, 4, 3, 2, 1, 0)
    assert scores.no_punct == (5, 4, 3, 2, 2, 1, 0)
    assert scores.universal == (10, 7, 8, 6, 3, 1, 1)
    # content words: Ann, saw, Bo, $, !, It, ends; predicted: these and "."
    assert scores.clas == Counts(7, 8, 5)
    assert scores.clas.f1 == pytest.approx(2 * 5 / 15)
    assert scores.roots == Counts(3, 3, 3)
    assert scores.all.exact_uas == scores.all.exact_las == 1 / 3


def test_groups_by_hand():
    scores = evaluate_trees(treebank(), treebank(OTHER_HEADS, OTHER_LABELS))
    # (in gold, predicted, right heads, right heads and labels)
    assert scores.by_direction == {"root": (3, 3, 3, 3), "head before": (4, 3, 1, 1), "head after": (3, 4, 3, 1)}
    assert scores.by_length == {"1": (5, 3, 3, 1), "2": (1, 2, 0, 0), "3-6": (1, 2, 1, 1)}
    assert scores.by_sentence_length == {"1-10": (10, 10, 7, 5)}
    assert scores.by_label == {
        "punct": (3, 2, 1, 1),
        "obj": (1, 2, 0, 0),
        "nsubj": (1, 1, 1, 0),
        "nsubj:pass": (1, 0, 1, 0),
        "root": (3, 3, 3, 3),
        "dep": (1, 2, 1, 1),
    }
    assert list(scores.by_label) == ["punct", "nsubj", "nsubj:pass", "obj", "root", "dep"]
    assert scores.by_label["nsubj:pass"].labelled_precision is None
    assert scores.by_label["dep"].labelled_precision == 0.5
    assert scores.by_upos["PUNCT"] == (5, 5, 3, 3)
    # 2 -> 5 crosses 6 -> 4, but 4 is below 6, and 6 below 2: 6 -> 4 is not projective; nor is 1 -> 3 over the root
    assert scores.not_projective == {"gold": (0, 0, 0, 0), "prediction": (2, 2, 0, 0)}
    assert scores.confusion.confusions() == [
        ("nsubj", "obj", 1),
        ("nsubj:pass", "nsubj", 1),
        ("punct", "dep", 1),
    ]


def random_heads(rng, size):
    order = rng.permutation(size) + 1
    heads = [0] * size
    for k in range(1, size):
        heads[order[k] - 1] = int(order[rng.integers(k)])
    return heads


def random_pair(seed, sentences=60):
    """Two treebanks of the same words; most trees differ."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 45, sentences)
    choose = lambda values, size: [str(value) for value in rng.choice(values, size)]  # noqa: E731
    tokens = [list(zip(choose(["a", ".", "--", "$.", "«"], n), choose(["X", "PUNCT"], n), strict=True)) for n in sizes]
    labels = ["root", "nsubj", "nsubj:pass", "obl:a", "obl:b", "case", "punct", "strange"]
    both = []
    for _ in range(2):
        heads = [random_heads(rng, n) for n in sizes]
        both.append(treebank_of(tokens, heads=heads, labels=[choose(labels, n) for n in sizes]))
    gold, predicted = both
    keep = rng.random(gold.tokens) < 0.7
    if seed:  # the same trees in most sentences, other labels
        kept = np.repeat(rng.random(sentences) < 0.7, sizes)
        predicted = predicted.with_trees(np.where(kept, gold.heads, predicted.heads), predicted.labels)
        ids = np.where(keep, [predicted.labels.strings.index(gold.labels.strings[k]) for k in gold.labels.ids], 0)
        same = predicted.labels._replace(ids=ids.astype(np.int32))
        predicted = predicted.with_trees(predicted.heads, same)
    return gold, predicted


def rows(gold, predicted):
    """(form, upos, head, predicted head, label, predicted label) of each token."""
    labels = [[one.labels.strings[k] for k in one.labels.ids] for one in (gold, predicted)]
    words = [gold.words.strings[k] for k in gold.words.ids]
    tags = [gold.upos.strings[k] for k in gold.upos.ids]
    return list(zip(words, tags, gold.heads.tolist(), predicted.heads.tolist(), *labels, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_are_counted_as_the_scorers_do(seed):
    gold, predicted = random_pair(seed)
    scores = evaluate_trees(gold, predicted)
    tokens = rows(gold, predicted)

    def counts(chosen, cut=False):
        base = (lambda label: label.split(":")[0]) if cut else (lambda label: label)
        heads = [a == b for _, _, a, b, _, _ in chosen]
        labels = [base(x) == base(y) for *_, x, y in chosen]
        both = [h and right for h, right in zip(heads, labels, strict=True)]
        return len(chosen), sum(heads), sum(labels), sum(both)

    assert scores.all[:4] == counts(tokens)
    assert scores.universal[:4] == counts(tokens, cut=True)
    punctuation = re.compile(r"[.«-]+")
    assert scores.no_punctuation[:4] == counts([row for row in tokens if not punctuation.fullmatch(row[0])])
    assert scores.no_punct[:4] == counts([row for row in tokens if row[1] != "PUNCT"])
    content = {"root", "nsubj", "obl"}
    in_gold = [row for row in tokens if row[4].split(":")[0] in content]
    in_predicted = [row for row in tokens if row[5].split(":")[0] in content]
    assert scores.clas == (len(in_gold), len(in_predicted), counts(in_gold, cut=True)[3])
    by_label = Counter(row[4] for row in tokens)
    assert {name: group.gold for name, group in scores.by_label.items()} == by_label
    for name in by_label:
        assert scores.by_label[name][2:] == counts([row for row in tokens if row[4] == name])[1::2]
    exact = [all(a == b for _, _, a, b, _, _ in tokens[gold.sentence(k)]) for k in range(gold.number_of_sentences)]
    assert (scores.all.sentences, scores.all.exact_heads) == (len(exact), sum(exact))
    assert scores.all.exact_uas > 0.5 or seed == 0
    for table in (scores.by_direction, scores.by_sentence_length, scores.by_upos, scores.by_label):
        assert sum(group.gold for group in table.values()) == sum(group.predicted for group in table.values())
        assert sum(group.both for group in table.values()) == scores.all.both
    assert sum(group.gold for group in scores.by_length.values()) == gold.tokens - scores.roots.gold
    for where, one in (("gold", gold), ("prediction", predicted)):
        crossed = one.nonprojective_arcs()
        chosen = [row for row, is_crossed in zip(tokens, crossed, strict=True) if is_crossed]
        size, right, _, both = counts(chosen)
        assert scores.not_projective[where] == (size, size, right, both)


def test_the_right_trees_have_nothing_wrong():
    scores = evaluate_trees(treebank(), treebank())
    assert (scores.uas, scores.las, scores.clas.f1, scores.all.exact_las) == (1.0, 1.0, 1.0, 1.0)
    assert all(group.wrong == 0 for group in scores.by_label.values())


def test_trees_without_labels_have_only_uas():
    scores = evaluate_trees(treebank(labels=None), treebank(OTHER_HEADS, OTHER_LABELS))
    assert scores.uas == 0.7
    assert scores.las is scores.all.label_accuracy is scores.all.exact_las is scores.universal is scores.clas is None
    assert scores.by_label == {}
    assert scores.by_direction["head before"] == (4, 3, 1, None)
    assert scores.by_direction["head before"].wrong == 3
    assert "<td>–</td>" in scores._repr_html_()
    assert json.loads(json.dumps(scores.as_dict()))["all"]["las"] is None


def test_labels_that_are_not_those_of_ud_have_no_clas():
    labels = [["SUJ", "ROOT", "PUNC", "CD", "PUNC", "_"], ["ROOT"], ["SUJ", "ROOT", "PUNC"]]
    scores = evaluate_trees(treebank(labels=labels), treebank(labels=labels))
    assert scores.universal is scores.clas is None
    assert [name for name, _ in scores.attachments()] == [
        "all tokens",
        "no punctuation, by form",
        "no punctuation, by UPOS",
    ]


def test_punctuation_is_what_unicode_says():
    assert all(map(is_punctuation, (".", "...", "»", "「", "_", "،", "·", ":)", "—")))
    assert not any(map(is_punctuation, ("$", "+", "a.", "", "`", "¬")))


def test_everything_is_json_and_tables():
    scores = evaluate_trees(treebank(), treebank(OTHER_HEADS, OTHER_LABELS))
    content = json.loads(json.dumps(scores.as_dict()))
    assert content["all"]["uas"] == 0.7
    assert content["universal"]["las"] == 0.6
    assert content["clas"]["f1"] == scores.clas.f1
    assert content["by_label"]["punct"] == {
        "gold": 3,
        "predicted": 2,
        "heads": 1,
        "both": 1,
        "uas": 1 / 3,
        "las": 1 / 3,
    }
    assert content["not_projective"]["prediction"]["gold"] == 2
    assert content["confusions"][0] == {"gold": "nsubj", "predicted": "obj", "count": 1}
    html = scores._repr_html_()
    assert "<tr><th>all tokens</th><td>70.00</td><td>50.00</td><td>70.00</td><td>10</td>" in html
    assert "<tr><th>head before</th><td>25.00</td><td>25.00</td><td>33.33</td><td>4</td><td>3</td></tr>" in html
    names = [name for name, _ in scores.tables()]
    assert names == ["arc", "length of the arc", "length of the sentence", "label", "UPOS"]


def test_two_predictions_are_compared():
    gold, first = random_pair(1)
    second = first.with_trees(gold.heads, first.labels)
    by_heads = compare_trees(gold, first, second, samples=200)
    assert by_heads.first == pytest.approx(evaluate_trees(gold, first).uas)
    assert (by_heads.second, by_heads.name, by_heads.sentences) == (1.0, "UAS", 60)
    assert by_heads.permutation_p < 0.05
    by_both = compare_trees(gold, first, second, measure="las", samples=200)
    assert by_both.first == pytest.approx(evaluate_trees(gold, first).las)
    assert by_both.second == pytest.approx(evaluate_trees(gold, second).las) != by_both.first
    assert by_both.name == "LAS"
    same = compare_trees(gold, first, first, samples=50)
    assert (same.difference, same.permutation_p) == (0.0, 1.0)
    with pytest.raises(InputError, match="trees are compared by 'uas' or 'las', not by 'f1'"):
        compare_trees(gold, first, second, measure="f1")
    with pytest.raises(InputError, match="LAS needs labels"):
        compare_trees(gold, first, second.with_trees(gold.heads, None), measure="las")


def simple(*sentences):
    return treebank_of([list(sentence) for sentence in sentences], heads=[range(len(words)) for words in sentences])


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (["abc", "d"], ["abc", "x"], "sentence 1, token 1: the word is 'x', but 'd' at sentence 1, token 1"),
        (["ab", "cd"], ["abc", "d"], "sentence 0, token 1: a sentence of 3 tokens, at sentence 0, token 1 of 2 tokens"),
        (["ab", "c"], ["ab"], "sentence 1, token 1: sentence 2 of 2, but sentence 0, token 2 is the end of its 1 sent"),
        (["ab"], ["ab", "c"], "sentence 1, token 1: sentence 2 of 2, but sentence 0, token 2 is the end of its 1 sent"),
        (["a", "bc"], ["a", "b"], "sentence 1, token 1: a sentence of 1 token, at sentence 1, token 1 of 2 tokens"),
    ],
)
def test_the_words_must_be_the_same(gold, predicted, message):
    with pytest.raises(InputError) as error:
        evaluate_trees(simple(*gold), simple(*predicted))
    assert str(error.value).startswith(message)


def test_trees_must_be_there():
    gold = Treebank.from_text("1\ta" + "\t_" * 4 + "\t0\troot\t_\t_")
    blind = Treebank.from_text("1\ta" + "\t_" * 8, heads=False)
    with pytest.raises(InputError, match="text: a treebank without heads"):
        evaluate_trees(gold, blind)
