"""`swvp evaluate` as a user runs it."""

import gzip
import io
import json
import sys

import pytest
from rich.console import Console

from swvp.cli import main
from swvp.cli.score_tables import print_comparison, print_confusions, print_scores
from swvp.evaluation.counts import evaluate_phrases
from swvp.evaluation.tags import compare_tags, evaluate_tags

GOLD = "The DT B-NP\ndog NN I-NP\nbarks VB B-VP\n\nIt PR B-NP\nends VB B-VP\n. . O\n"
PREDICTED = "The B-NP\ndog I-NP\nbarks B-NP\n\nIt B-NP\nends B-VP\n. O\n"
CONLLU = """# text = Dámelo ya .
1-2\tDámelo\t_\t_\t_\t_\t_\t_\t_\t_
1\tDá\tdar\tVERB\tV\tMood=Imp\t0\troot\t_\t_
2\tmelo\tlo\tPRON\tP\tCase=Acc\t1\tobj\t_\t_
2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_
3\tya\tya\tADV\tR\t_\t1\tadvmod\t_\t_

# a comment
1\t#\t#\tSYM\tS\t_\t0\troot\t_\t_
"""
LABELS = [["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP", "O"]]
WRONG = [["B-NP", "I-NP", "B-NP"], ["B-NP", "B-VP", "O"]]


@pytest.fixture
def swvp(monkeypatch, capsys, tmp_path):
    """Run the command in a folder with files: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    write("gold.txt", GOLD)
    write("predicted.txt", PREDICTED)
    write("gold.conllu", CONLLU)

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "argv", ["swvp", "evaluate", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        lines = captured.err.splitlines(keepends=True)
        return (
            stop.value.code or 0,
            captured.out,
            "".join(line for line in lines if not line.startswith("compiling (only")),
        )

    return run


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def as_json(swvp, *arguments, stdin=""):
    code, out, err = swvp(*arguments, "--json", "-", stdin=stdin)
    assert (code, err) == (0, "")
    return json.loads(out)


def test_two_files_give_the_text_of_conlleval_first(swvp):
    code, out, err = swvp("gold.txt", "predicted.txt")
    assert (code, err) == (0, "")
    assert out.startswith(str(evaluate_phrases(LABELS, WRONG)) + "\n\naccuracy")
    rows = [line.split() for line in out.splitlines()]
    assert ["tokens", "5", "6", "83.33"] in rows
    assert ["sentences", "1", "2", "50.00"] in rows
    assert "precision  recall" not in out  # the table of labels is for labels that are not phrases


def test_one_file_is_read_as_conlleval_does(swvp):
    both = "The x B-NP B-NP\ndog x I-NP I-NP\nbarks x B-VP B-NP\n\nIt x B-NP B-NP\nends x B-VP B-VP\n. x O O\n"
    write("both.txt", both)
    expected = swvp("gold.txt", "predicted.txt")
    assert swvp("both.txt") == expected
    assert swvp("-", stdin=both) == expected
    assert swvp("-", stdin="a a\nb a\n")[1].splitlines()[1].split() == ["tokens", "1", "2", "50.00"]


def test_other_labels_get_a_row_each(swvp):
    write("a.txt", "x N\ny V\nz N\n")
    write("b.txt", "x N\ny N\nz N\n")
    code, out, _ = swvp("a.txt", "b.txt")
    assert code == 0
    assert "processed" not in out
    rows = [line.split() for line in out.splitlines()]
    assert rows[-2:] == [["N", "66.67", "100.00", "80.00", "2"], ["V", "0.00", "0.00", "0.00", "1"]]


def test_phrases_can_be_asked_for_and_refused(swvp):
    code, out, _ = swvp("gold.txt", "predicted.txt", "--no-phrases")
    assert code == 0
    assert "processed" not in out
    assert ["B-NP", "66.67", "100.00", "80.00", "2"] in [line.split() for line in out.splitlines()]
    code, out, err = swvp("gold.txt", "gold.txt", "--column", "1", "--phrases")
    assert code == 0
    assert out.startswith("processed 6 tokens")
    assert err == "note: phrases have labels O, B-, I-, E- and S-; '.' is none of them\n"


@pytest.mark.parametrize("column", ["1", "-2"])
def test_the_column_can_be_chosen(swvp, column):
    write("other.txt", GOLD.replace("barks VB", "barks NN"))
    content = as_json(swvp, "gold.txt", "other.txt", "--column", column)
    assert content["scores"]["confusions"] == [{"gold": "VB", "predicted": "NN", "count": 1}]


@pytest.mark.parametrize(
    ("target", "labels"),
    [
        ("upos", {"VERB", "PRON", "ADV", "SYM"}),
        ("xpos", {"V", "P", "R", "S"}),
        ("feats", {"Mood=Imp", "Case=Acc", "_"}),
        ("deprel", {"root", "obj", "advmod"}),
    ],
)
def test_conllu_has_targets(swvp, target, labels):
    content = as_json(swvp, "gold.conllu", "gold.conllu", "--target", target)
    assert set(content["scores"]["by_label"]) == labels
    assert content["scores"]["tokens"] == {"right": 4, "total": 4, "value": 1.0}
    assert content["scores"]["sentences"]["total"] == 2


def test_conllu_is_seen_by_its_name_or_that_of_the_other_file(swvp, tmp_path):
    other = CONLLU.replace("ADV", "ADJ")
    expected = as_json(swvp, "gold.conllu", "-", stdin=other)
    assert expected["scores"]["confusions"] == [{"gold": "ADV", "predicted": "ADJ", "count": 1}]
    (tmp_path / "other.conllu.gz").write_bytes(gzip.compress(other.encode()))
    assert as_json(swvp, "gold.conllu", "other.conllu.gz")["scores"] == expected["scores"]
    write("other.txt", other)
    assert as_json(swvp, "gold.conllu", "other.txt", "--target", "upos")["scores"] == expected["scores"]
    assert as_json(swvp, "gold.conllu", "-", "--column", "3", stdin=other)["scores"] == expected["scores"]


def test_conllu_and_columns_can_be_compared(swvp):
    write("other.txt", "Dá VERB\nmelo PRON\nya X\n\n# SYM\n")
    assert as_json(swvp, "gold.conllu", "other.txt")["scores"]["tokens"]["right"] == 3


def test_words_of_the_training_file_are_known(swvp):
    write("train.txt", "dog x\nbarks x\n")
    code, out, _ = swvp("gold.txt", "predicted.txt", "--train", "train.txt")
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["known", "words", "1", "2", "50.00"] in rows
    assert ["unknown", "words", "4", "4", "100.00"] in rows
    content = as_json(swvp, "gold.conllu", "gold.conllu", "--train", "gold.conllu")
    assert content["scores"]["known"]["total"] == 4


def test_the_most_frequent_confusions_are_shown(swvp):
    write("a.txt", "x N\nx N\nx N\nx V\nx A\n")
    write("b.txt", "x V\nx V\nx A\nx A\nx A\n")
    out = swvp("a.txt", "b.txt", "--confusion", "2")[1]
    rows = [line.split() for line in out.splitlines()]
    assert rows[-3:-1] == [["N", "V", "2", "50.0"], ["N", "A", "1", "25.0"]]
    assert rows[-1] == ["and", "1", "more"]
    assert "more" not in swvp("a.txt", "b.txt", "--confusion", "3")[1]
    assert "% of wrong" not in swvp("a.txt", "b.txt")[1]
    assert "No label is wrong." in swvp("a.txt", "a.txt", "--confusion", "2")[1]


def test_another_prediction_is_compared(swvp):
    code, out, err = swvp("gold.txt", "predicted.txt", "--compare", "gold.txt", "--samples", "500", "--seed", "3")
    assert (code, err) == (0, "")
    expected = compare_tags(LABELS, WRONG, LABELS, measure="f1", samples=500, seed=3)
    assert out.startswith("processed 6 tokens with 4 phrases; found: 4 phrases; correct: 3.\n")
    assert "first: predicted.txt\nsecond: gold.txt\n" in out
    rows = [line.split() for line in out.splitlines()]
    assert ["phrase", "F1", "75.00", "100.00", "+25.00"] in rows
    assert ["tokens", "83.33", "100.00", "+16.67"] in rows
    assert "\nphrase F1\nsecond - first " in out
    assert ["p,", "paired", "bootstrap", f"{expected.bootstrap_p:.4f}"] in rows
    assert ["p,", "paired", "permutation", f"{expected.permutation_p:.4f}"] in rows
    assert out.endswith("Two-sided, 500 samples of 2 sentences, seed 3.\n")


def test_the_column_is_that_of_every_file(swvp):
    write("other.txt", GOLD.replace("barks VB", "barks NN"))
    content = as_json(swvp, "gold.txt", "gold.txt", "--compare", "other.txt", "--column", "1", "--samples", "10")
    assert content["other_scores"]["confusions"] == [{"gold": "VB", "predicted": "NN", "count": 1}]


def test_labels_that_are_not_phrases_are_compared_by_accuracy(swvp):
    options = ["--compare", "gold.txt", "--no-phrases", "--samples", "50"]
    content = as_json(swvp, "gold.txt", "predicted.txt", *options)
    assert content["comparison"]["measure"] == "accuracy"
    assert content["comparison"]["first"] == content["scores"]["tokens"]["value"]
    assert content["comparison"]["second"] == content["other_scores"]["tokens"]["value"] == 1.0
    assert (content["gold"], content["predicted"], content["other"]) == ("gold.txt", "predicted.txt", "gold.txt")


def test_json_goes_to_a_file_beside_the_tables(swvp, tmp_path):
    code, out, _ = swvp("gold.txt", "predicted.txt", "--json", "scores.json")
    assert code == 0
    assert out.startswith("processed")
    assert json.loads((tmp_path / "scores.json").read_text()) == as_json(swvp, "gold.txt", "predicted.txt")


def test_other_encodings_are_read(swvp, tmp_path):
    (tmp_path / "latin.txt").write_bytes("año N\n".encode("latin-1"))
    assert "name the encoding" in swvp("latin.txt", "latin.txt")[2]
    assert swvp("latin.txt", "latin.txt", "--encoding", "latin-1")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["gold.txt", "-"], "The x\ncat x\n", "-:2: the word is 'cat', but 'dog' at gold.txt:2"),
        (
            ["gold.txt", "-"],
            PREDICTED.replace("\n\n", "\n"),
            "-:1: a sentence of 6 tokens, at gold.txt:1 of 3 tokens",
        ),
        (["gold.txt", "-"], "\n\nThe x\n", "-:3: a sentence of 1 token, at gold.txt:1 of 3 tokens"),
        (
            ["gold.txt", "-"],
            "The x\ndog x\nbarks x\n",
            "gold.txt:5: sentence 2 of 2, but -:3 is the end of its 1 sentence",
        ),
        (
            ["gold.txt", "-"],
            GOLD + "\n\nMore x x\n",
            "-:10: sentence 3 of 3, but gold.txt:7 is the end of its 2 sentences",
        ),
        (
            ["gold.txt", "predicted.txt", "--compare", "-"],
            PREDICTED.replace("It", "He"),
            "-:5: the word is 'He', but 'It' at gold.txt:5",
        ),
        (
            ["gold.conllu", "-"],
            CONLLU.replace("\t#\t", "\t&\t", 1),
            "-:9: the word is '&', but '#' at gold.conllu:9",
        ),
        (["gold.txt", "-"], "", "-: no token in it"),
        (["gold.conllu", "-"], "# only a comment\n", "-: no token in it"),
        (["-"], "a\n", "-: there is no column -2 (counted from the end): the file has 1 column"),
        (
            ["-", "--train", "gold.txt"],
            "N N\n",
            "-: there is no column -3 (counted from the end): the file has 2 columns, 0 to 1",
        ),
        (
            ["gold.txt", "predicted.txt", "--column", "2"],
            "",
            "predicted.txt: there is no column 2: the file has 2 columns, 0 to 1",
        ),
        (
            ["gold.txt", "predicted.txt", "--column", "-4"],
            "",
            "gold.txt: there is no column -4 (counted from the end): the file has 3 columns, 0 to 2",
        ),
        (["gold.conllu", "-"], "1\tx\n", "-:1: 2 columns; CoNLL-U has 10, separated by tabs"),
        (["gold.conllu", "-"], "one" + "\t_" * 9, "-:1: the first column of CoNLL-U is the token's number"),
        (["gold.txt", "nowhere.txt"], "", "cannot read nowhere.txt: No such file or directory"),
        (["-", "-"], "", "only one file can be - (standard input)"),
        (
            ["gold.txt", "predicted.txt", "--target", "pos"],
            "",
            "unknown target 'pos' (did you mean 'xpos'?); known: upos, xpos,",
        ),
        (["gold.txt", "predicted.txt", "--target", "upos", "--column", "1"], "", "exclude each other"),
        (["gold.txt", "predicted.txt", "--confusion", "-1"], "", "--confusion must be at least 0, not -1"),
        (["gold.txt", "predicted.txt", "--compare", "gold.txt", "--samples", "0"], "", "--samples must be at least 1"),
        (["gold.conllu"], "", "give two files: GOLD PREDICTED"),
        (["gold.txt", "--column", "1"], "", "give two files: GOLD PREDICTED"),
        (["gold.txt", "predicted.txt", "--json", "no/where"], "", "cannot write no/where"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(swvp, arguments, stdin, message):
    code, out, err = swvp(*arguments, stdin=stdin)
    assert (code, out) == (2, "")
    assert err.startswith("swvp: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_column_without_gold_labels_is_told(swvp):
    code, _, err = swvp("gold.txt")
    assert code == 0
    assert err == "note: no predicted label is among the gold ones: is the column the right one?\n"


def test_tables_fit_60_columns():
    console = Console(width=60, file=io.StringIO(), force_terminal=True, color_system=None, markup=False)
    long = "Case=Nom|Definite=Def|Gender=Masc|Number=Sing|PronType=[Art]"
    gold, first = [[long, "_"] * 60_000], [["_", "_"] * 60_000]
    scores, best = evaluate_tags(gold, first), evaluate_tags(gold, gold)
    print_scores(console, scores)
    print_confusions(console, scores.confusion, 5)
    print_comparison(console, ("a", "b"), scores, best, compare_tags(gold, first, gold, samples=10))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert "…" not in console.file.getvalue()
    assert long in "".join(line.split("  ")[0] for line in lines)
    assert "120,000" in console.file.getvalue()


def test_the_text_of_conlleval_is_not_broken():
    console = Console(width=20, file=io.StringIO(), force_terminal=True, color_system=None, markup=False)
    print_scores(console, evaluate_tags(LABELS, WRONG))
    assert console.file.getvalue().startswith(str(evaluate_phrases(LABELS, WRONG)) + "\n")


def test_predictions_in_conllu_may_have_any_name(swvp, tmp_path):
    (tmp_path / "predicted.out").write_text("# newdoc\n" + CONLLU)
    code, out, _ = swvp("gold.conllu", "predicted.out")
    assert (code, out) == (0, swvp("gold.conllu", "gold.conllu")[1])
    (tmp_path / "predicted.out").write_text("1 x\n")
    assert "predicted.out:1: the word is '1'" in swvp("gold.conllu", "predicted.out")[2]
