"""`swvp evaluate --trees` as a user runs it."""

import io
import json

import pytest
from rich.console import Console

from swvp.cli.score_tables import print_tree_comparison, print_trees
from swvp.evaluation.trees import compare_trees, evaluate_trees
from swvp.io.treebank import Treebank, treebank_of

GOLD = (
    "# text = Vámonos al mar .\n"
    "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tVamos\tir\tVERB\tV\t_\t0\troot\t_\t_\n"
    "2\tnos\tnosotros\tPRON\tP\t_\t1\texpl:pv\t_\t_\n"
    "3\tal\tal\tADP\tS\t_\t4\tcase\t_\t_\n"
    "4\tmar\tmar\tNOUN\tN\t_\t1\tobl\t_\t_\n"
    "5\t.\t.\tPUNCT\tF\t_\t1\tpunct\t_\t_\n"
    "\n"
    "1\tSí\tsí\tINTJ\tI\t_\t0\troot\t_\t_\n"
)
PREDICTED = GOLD.replace("\t1\texpl:pv", "\t1\texpl").replace("\t4\tcase", "\t1\tcase")
OTHER = GOLD.replace("\t1\tpunct", "\t4\tdep")


@pytest.fixture
def files(tmp_path):
    for name, content in (("gold.conllu", GOLD), ("predicted.conllu", PREDICTED), ("other.txt", OTHER)):
        (tmp_path / name).write_text(content)
    return tmp_path


def rows(out):
    return [line.split() for line in out.decode().splitlines()]


def test_trees_are_scored(files, fine):
    out, err = fine("evaluate", "gold.conllu", "predicted.conllu", "--trees")
    assert err == ""
    found = rows(out)
    assert ["all", "tokens", "83.33", "66.67", "83.33", "6"] in found
    assert ["labels", "without", "subtypes", "83.33", "83.33", "100.00", "6"] in found
    assert ["no", "punctuation,", "by", "form", "80.00", "60.00", "80.00", "5"] in found
    assert ["content", "words,", "CLAS", "100.00", "4"] in found
    assert ["all", "tokens", "50.00", "50.00", "2"] in found
    assert ["head", "after", "0.00", "0.00", "–", "1", "1"] in found
    assert ["case", "0.00", "0.00", "0.00", "1", "1"] in found
    assert ["ADP", "0.00", "0.00", "1", "1"] in found
    assert b"conll18_ud_eval.py" in out
    assert b"gold  predicted" not in out


def test_other_names_and_standard_input_are_read(files, fine):
    out, _ = fine("evaluate", "gold.conllu", "-", "--trees", stdin=PREDICTED.encode())
    assert out == fine("evaluate", "gold.conllu", "predicted.conllu", "--trees")[0]
    conllx = "1\taño\t_\tN\tN\t_\t0\tROOT\t0\tROOT\n".encode("latin-1")
    (files / "esp.train").write_bytes(conllx)
    out, _ = fine("evaluate", "esp.train", "-", "--trees", "--encoding", "latin-1", stdin=conllx)
    assert ["all", "tokens", "100.00", "100.00", "100.00", "1"] in rows(out)
    assert b"conll18" not in out


def test_confusions_of_labels_are_shown(files, fine):
    out, _ = fine("evaluate", "gold.conllu", "predicted.conllu", "--trees", "--confusion", "3")
    assert rows(out)[-1] == ["expl:pv", "expl", "1", "100.0"]


def test_two_predictions_are_compared(files, fine):
    options = ["--trees", "--compare", "other.txt", "--samples", "100", "--seed", "3"]
    out, err = fine("evaluate", "gold.conllu", "predicted.conllu", *options)
    assert err == ""
    assert b"first: predicted.conllu\nsecond: other.txt\n" in out
    found = rows(out)
    assert ["UAS,", "all", "tokens", "83.33", "83.33", "+0.00"] in found
    assert ["LAS,", "all", "tokens", "66.67", "83.33", "+16.67"] in found
    expected = compare_trees(*map(Treebank.from_text, (GOLD, PREDICTED, OTHER)), measure="las", samples=100, seed=3)
    assert found[-2] == ["p,", "paired", "permutation", f"{expected.permutation_p:.4f}"]
    assert found[-1][:4] == ["Two-sided,", "100", "samples", "of"]
    content = json.loads(fine("evaluate", "gold.conllu", "predicted.conllu", *options, "--json", "-")[0])
    assert content["comparison"]["las"] == expected.as_dict()
    assert content["comparison"]["uas"]["difference"] == 0.0
    assert content["other_scores"]["all"]["both"] == 5


def test_json_has_everything(files, fine):
    out, _ = fine("evaluate", "gold.conllu", "predicted.conllu", "--trees", "--json", "scores.json")
    assert out == fine("evaluate", "gold.conllu", "predicted.conllu", "--trees")[0]
    content = json.loads((files / "scores.json").read_text())
    expected = evaluate_trees(Treebank.from_text(GOLD), Treebank.from_text(PREDICTED)).as_dict()
    assert content == {"gold": "gold.conllu", "predicted": "predicted.conllu", "scores": expected}


def test_several_roots_are_told(files, fine):
    stdin = GOLD.replace("\t4\tcase", "\t0\troot").encode()
    _, err = fine("evaluate", "gold.conllu", "-", "--trees", stdin=stdin)
    assert err == "note: -: 1 sentence has several roots\n"


def test_labels_of_another_kind_are_told(files, fine):
    stdin = GOLD
    for label in ("root", "expl:pv", "case", "obl", "punct"):
        stdin = stdin.replace(f"\t{label}\t", "\tX\t")
    _, err = fine("evaluate", "gold.conllu", "-", "--trees", stdin=stdin.encode())
    assert err == "note: no label is right: do both files have labels, of the same kind?\n"


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["gold.conllu", "--trees"], "", "--trees needs a second file: swvp evaluate gold.conllu PREDICTED --trees"),
        (
            ["gold.conllu", "-", "--trees", "--target", "upos"],
            "",
            "--target is for labels: it cannot be used with --trees",
        ),
        (["gold.conllu", "-", "--trees", "--train", "x"], "", "--train is for labels"),
        (["gold.conllu", "-", "--trees", "--no-phrases"], "", "--phrases is for labels"),
        (["gold.conllu", "-", "--target", "head"], GOLD, "trees are scored with --trees, not with --target head"),
        (
            ["gold.conllu", "-", "--trees"],
            GOLD.replace("mar\tmar", "Mar\tmar"),
            "-:6: the word is 'Mar', but 'mar' at gold.conllu:6",
        ),
        (
            ["gold.conllu", "-", "--trees"],
            GOLD.rpartition("\n\n")[0],
            "gold.conllu:9: sentence 2 of 2, but -:7 is the end of its 1 sentence",
        ),
        (
            ["gold.conllu", "-", "--trees"],
            GOLD.rpartition("\n5\t")[0] + "\n\n" + GOLD.rpartition("\n\n")[2],
            "-:3: a sentence of 4 tokens, at gold.conllu:3 of 5 tokens",
        ),
        (
            ["gold.conllu", "-", "--trees"],
            GOLD.replace("\t4\tcase", "\t9\tcase"),
            "-:5: the head is 9, but the sentence has 5",
        ),
        (
            ["gold.conllu", "-", "--trees"],
            GOLD.replace("\t0\troot", "\t4\troot", 1),
            "-:3: a cycle of heads, word by word: 1 -> 4",
        ),
        (["gold.conllu", "-", "--trees"], GOLD.replace("\t4\tcase\t_", "\t4\tcase"), "-:5: 9 columns; CoNLL-U has 10"),
        (
            ["gold.conllu", "-", "--trees"],
            "The DT B-NP\n",
            "-:1: 1 column; CoNLL-U has 10, separated by tabs (tabs and blanks mixed?)",
        ),
        (["gold.conllu", "-", "--trees"], "1\tVamos" + "\t_" * 8, "-: a treebank without heads (_ everywhere)"),
        (["gold.conllu", "-", "--trees"], "", "-: no token in it"),
        (["gold.conllu", "nowhere", "--trees"], "", "cannot read nowhere: No such file or directory"),
        (
            ["gold.conllu", "other.txt", "--trees", "--compare", "-"],
            "1\tx" + "\t_" * 4 + "\t0\tr\t_\t_",
            "-:1: the word is 'x'",
        ),
        (
            ["gold.conllu", "other.txt", "--trees", "--compare", "other.txt", "--samples", "0"],
            "",
            "--samples must be at least",
        ),
    ],
)
def test_bad_input_is_one_line(files, refused, arguments, stdin, message):
    assert refused("evaluate", *arguments, stdin=stdin.encode()).startswith(message)


def test_tables_fit_60_columns():
    size, sentences = 50, 3000
    heads = [[0, *range(1, size)]] * sentences
    labels = [["root", *["a-very-long-label:of-some-kind-or-other"] * (size - 1)]] * sentences
    words = [[("w", "PUNCT" if k % 2 else "SOMETAG") for k in range(size)]] * sentences
    gold = treebank_of(words, heads=heads, labels=labels)
    first = treebank_of(words, heads=[[0, *[1] * (size - 1)]] * sentences, labels=labels)
    console = Console(width=60, file=io.StringIO(), force_terminal=True, color_system=None, markup=False)
    scores, best = evaluate_trees(gold, first), evaluate_trees(gold, gold)
    print_trees(console, scores)
    comparisons = [compare_trees(gold, first, gold, measure=measure, samples=10) for measure in ("uas", "las")]
    print_tree_comparison(console, ("a", "b"), scores, best, comparisons)
    out = console.file.getvalue()
    assert max(map(len, out.splitlines())) <= 60
    assert "…" not in out
    assert "150,000" in out


def test_scores_of_tags_that_are_all_right_point_to_the_trees(files, fine):
    assert "--trees scores trees" in fine("evaluate", "gold.conllu", "predicted.conllu")[1]
