"""Scores of analyses of raw text: by hand, and against alignments by enumeration."""

import itertools
import json
import random

import pytest

from swvp.errors import InputError
from swvp.evaluation import Counts, evaluate_raw
from swvp.evaluation.raw_text import Words, aligned_words, common_words
from swvp.io import Treebank

# "vámonos al mar" as vamos nos a el mar, from UD's guidelines
GOLD = """
1-2 vámonos _       _     _ _                     _ _          _ _
1   vamos   ir      VERB  _ Mood=Imp|Typo=Yes     0 root       _ _
2   nos     nosotros PRON _ Case=Acc              1 obj        _ _
3-4 al      _       _     _ _                     _ _          _ _
3   a       a       ADP   _ _                     5 case       _ _
4   el      el      DET   _ Definite=Def          5 det        _ _
5   mar     mar     NOUN  n Gender=Masc           1 obl:arg    _ _
"""


def treebank(text):
    return Treebank.from_text("\n".join("\t".join(line.split()) for line in text.strip("\n").split("\n")) + "\n")


def counts(gold, predicted):
    return {name: tuple(one) for name, one in evaluate_raw(treebank(gold), treebank(predicted)).measures.items()}


def test_the_gold_analysis_is_right_in_all_measures():
    scores = counts(GOLD, GOLD)
    assert scores.pop("Tokens") == (3, 3, 3)
    assert scores.pop("Sentences") == (1, 1, 1)
    for measure in ("CLAS", "MLAS", "BLEX"):  # vamos, nos and mar
        assert scores.pop(measure) == (3, 3, 3)
    assert set(scores.values()) == {(5, 5, 5)}
    assert list(scores) == ["Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS"]


def test_measures_by_hand():
    """Al is one word, mar is the root, the label of nos has another subtype, and a feature is not universal."""
    predicted = """
1-2 vámonos _       _     _ _                     _ _          _ _
1   vamos   ir      VERB  _ Mood=Imp              4 advcl      _ _
2   nos     yo      PRON  _ Case=Acc              1 obj:x      _ _
3   al      al      ADP   _ _                     4 case       _ _
4   mar     mar     NOUN  _ Gender=Masc           0 root       _ _
"""
    scores = counts(GOLD, predicted)
    assert scores["Tokens"] == (3, 3, 3)
    assert scores["Words"] == (5, 4, 3)  # al is none of a and el
    assert scores["UPOS"] == scores["UFeats"] == (5, 4, 3)
    assert scores["XPOS"] == scores["AllTags"] == (5, 4, 2)  # not that of mar
    assert scores["Lemmas"] == (5, 4, 2)  # not that of nos
    assert scores["UAS"] == scores["LAS"] == (5, 4, 1)  # only nos, whose head is aligned with its gold head
    assert scores["CLAS"] == (3, 3, 1)
    assert scores["MLAS"] == (3, 3, 1)
    assert scores["BLEX"] == (3, 3, 0)


def test_mlas_needs_the_function_words_of_a_word():
    right = GOLD.replace("Mood=Imp|Typo=Yes", "Mood=Imp")
    assert counts(GOLD, right)["MLAS"] == (3, 3, 3)
    for old, new in [("4   el      el      DET", "4   el      el      PRON"), ("5 det ", "1 det ")]:
        assert old in GOLD
        assert counts(GOLD, GOLD.replace(old, new))["MLAS"] == (3, 3, 2 if "PRON" in new else 1)


def test_a_word_without_a_gold_lemma_has_the_right_one():
    gold = GOLD.replace("nosotros", "_")
    assert counts(gold, GOLD)["Lemmas"] == counts(gold, GOLD)["Words"]
    assert counts(GOLD, gold)["Lemmas"] == (5, 5, 4)


def test_sentences_and_tokens_are_spans_of_characters():
    gold = "1 a _ X _ _ 0 root _ _\n2 b.c _ X _ _ 1 dep _ _\n\n1 d _ X _ _ 0 root _ _"
    predicted = "1 a _ X _ _ 0 root _ _\n2 b. _ X _ _ 1 dep _ _\n\n1 c _ X _ _ 0 root _ _\n2 d _ X _ _ 1 dep _ _"
    scores = evaluate_raw(treebank(gold), treebank(predicted))
    assert scores.measures["Tokens"] == scores.measures["Words"] == Counts(3, 4, 2)
    assert scores.measures["Sentences"] == Counts(2, 2, 0)
    assert scores.aligned["UPOS"] == 2
    assert scores.aligned_accuracy("UAS") == 0.5  # d has another head
    assert scores.aligned_accuracy("Tokens") is scores.aligned_accuracy("Words") is None


def test_blanks_in_forms_do_not_count():
    gold, other = (Treebank.from_text(f"1\t{form}\t_\tX\t_\t_\t0\troot\t_\t_\n") for form in ("1 000", "1\u00a0000"))
    assert evaluate_raw(gold, other).measures["Words"] == (1, 1, 1)


def test_analyses_without_heads_are_scored_without_trees():
    gold, predicted = (
        treebank(GOLD),
        Treebank.from_text("1\tvámonos\n2\talmar\n".replace("\n", "\t_\t_\t_\t_\n"), heads=False),
    )
    measures = evaluate_raw(gold, predicted).measures
    assert measures["Tokens"] == (3, 2, 1)
    assert "Lemmas" in measures
    assert "UAS" not in measures


def test_another_text_is_refused_with_the_place():
    gold = treebank("1 ab _ X _ _ 0 root _ _\n2 cd _ X _ _ 1 dep _ _")
    other = treebank("1 abc _ X _ _ 0 root _ _\n2 x _ X _ _ 1 dep _ _")
    with pytest.raises(InputError, match=r"text:2: .* goes on with 'x', at text:2 with 'd'"):
        evaluate_raw(gold, other)
    with pytest.raises(InputError, match=r"text:1: .* goes on with its end, at text:2 with 'cd'"):
        evaluate_raw(gold, treebank("1 ab _ X _ _ 0 root _ _"))


def test_words_are_aligned_by_a_longest_common_subsequence():
    rng = random.Random(0)
    for _ in range(200):
        a, b = ([rng.choice("xyz") for _ in range(rng.randrange(6))] for _ in range(2))
        pairs = list(common_words(a, b, range(len(a)), range(len(b))))
        assert all(a[i] == b[j] for i, j in pairs)
        assert all(i < k and j < m for (i, j), (k, m) in itertools.pairwise(pairs))
        common = {rows for n in range(len(a) + 1) for rows in itertools.combinations(a, n)} & {
            rows for n in range(len(b) + 1) for rows in itertools.combinations(b, n)
        }
        assert len(pairs) == max(map(len, common))


def random_analysis(text, rng):
    """Tokens of random length; some are ranges of one to three words, among which the pieces of the token may be."""
    lines, words = [], 0
    while text:
        form, text = text[: (size := rng.randrange(1, 5))], text[size:]
        parts = [form]
        if rng.random() < 0.4:
            parts = [rng.choice([form, form[:1], form[1:] or "x", "z"]) for _ in range(rng.randrange(1, 4))]
            lines.append(f"{words + 1}-{words + len(parts)} {form} _ _ _ _ _ _ _ _")
        for part in parts:
            words += 1
            lines.append(f"{words} {part} _ X _ _ {words - 1} root _ _")
    return treebank("\n".join(lines))


def test_outside_multiword_tokens_exactly_the_words_with_the_same_span_are_aligned():
    rng = random.Random(1)
    for _ in range(200):
        text = "".join(rng.choice("abc") for _ in range(rng.randrange(1, 25)))
        one, other = Words(random_analysis(text, rng)), Words(random_analysis(text, rng))
        pairs = list(aligned_words(one, other))
        assert all(i < k and j < m for (i, j), (k, m) in itertools.pairwise(pairs))
        covered = {
            at
            for words in (one, other)
            for span, multiword in zip(words.surface.words, words.surface.in_range, strict=True)
            if multiword
            for at in range(*span)
        }
        plain = [
            (i, j)
            for i, a in enumerate(one.surface.words)
            for j, b in enumerate(other.surface.words)
            if a == b and not covered & set(range(*a))
        ]
        assert [pair for pair in pairs if not covered & set(range(*one.surface.words[pair[0]]))] == plain
        for i, j in pairs:
            if (i, j) not in plain:
                assert one.lower_forms[i] == other.lower_forms[j]


def test_the_command_prints_and_writes_the_measures(fine, tmp_path):
    (tmp_path / "gold.conllu").write_text(
        "1 Ann _ PROPN _ _ 2 nsubj _ _\n2 left _ VERB _ _ 0 root _ _\n".replace(" ", "\t")
    )
    (tmp_path / "system.conllu").write_text("1 Annleft _ VERB _ _ 0 root _ _\n".replace(" ", "\t"))
    out, err = fine("evaluate", "gold.conllu", "system.conllu", "--raw")
    assert b"Sentences     100.00  100.00  100.00" in out
    assert b"LAS             0.00    0.00    0.00" in out
    assert err == ""
    out, _ = fine("evaluate", "gold.conllu", "system.conllu", "--raw", "--json", "-")
    assert json.loads(out)["scores"]["Words"]["gold"] == 2


def test_a_file_without_heads_is_noted(fine, tmp_path):
    (tmp_path / "gold.conllu").write_text("1\tAnn\tAnn\tPROPN\t_\t_\t_\t_\t_\t_\n")
    out, err = fine("evaluate", "gold.conllu", "gold.conllu", "--raw")
    assert b"UAS" not in out
    assert err.count("gold.conllu has no heads: UAS, LAS, CLAS, MLAS, BLEX are not scored") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["gold.conllu", "--raw"], "--raw needs a second file: swvp evaluate gold.conllu PREDICTED --raw"),
        (["gold.conllu", "a", "--raw", "--target", "upos"], "--target is for labels: it cannot be used with --raw"),
        (["gold.conllu", "a", "--raw", "--trees"], "--trees cannot be used with --raw"),
        (["gold.conllu", "a", "--raw", "--compare", "b"], "--compare cannot be used with --raw"),
    ],
)
def test_options_that_do_not_fit_are_refused(refused, options, message):
    assert refused("evaluate", *options) == message
