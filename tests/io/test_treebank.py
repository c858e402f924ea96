"""Treebanks: read from CoNLL-U, CoNLL-X and Python, checked, and written back byte for byte."""

import gzip
import itertools

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.table import Column, read_table
from swvp.io.treebank import Treebank, read_treebank, treebank_of, write_trees

CONLLU = (
    "# text = Vámonos al mar\n"
    "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\t_\n"
    "2\tnos\tnosotros\tPRON\tP\t_\t1\texpl:pv\t1:expl\t_\n"
    "2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_\n"
    "3\tal mar\tal\tADP\tS\t_\t1\tobl\t_\tSpaceAfter=No\n"
    "\n"
    "# only a comment\n"
    "\n"
    "1\t#\t#\tSYM\tN\t_\t0\troot\t_\t_"
)
CONLLX = (
    "1\tEl\tel\td\tda\tgen=m|num=s\t2\t_\t2\t_\n"
    "2\taño\taño\tn\tnc\t_\t3\tSUJ\t3\tSUJ\n"
    "3\tacaba\tacabar\tv\tvm\t_\t0\tROOT\t0\tROOT\n"
    "\n"
    "1\t.\t.\tF\tFp\t_\t0\tROOT\t0\tROOT\n"
    "\n"
)


def written(tmp_path, content, name="a.conllu"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def strings(column):
    return [column.strings[k] for k in column.ids]


def tree(*heads, sentences=1):
    """A treebank of sentences with these heads."""
    return treebank_of([["w"] * len(heads)] * sentences, heads=[list(heads)] * sentences)


def test_conllu_is_read(tmp_path):
    treebank = read_treebank(written(tmp_path, CONLLU), heads=True)
    assert strings(treebank.words) == ["Vamos", "nos", "al mar", "#"]
    assert strings(treebank.lemmas) == ["ir", "nosotros", "al", "#"]
    assert strings(treebank.upos) == ["VERB", "PRON", "ADP", "SYM"]
    assert strings(treebank.xpos) == ["V", "P", "S", "N"]
    assert strings(treebank.feats) == ["Mood=Imp", "_", "_", "_"]
    assert treebank.heads.tolist() == [0, 1, 1, 0]
    assert treebank.heads.dtype == np.int32
    assert strings(treebank.labels) == ["root", "expl:pv", "obl", "root"]
    assert treebank.offsets.tolist() == [0, 3, 4]
    assert (treebank.tokens, treebank.number_of_sentences) == (4, 2)
    assert treebank.sentence(1) == slice(3, 4)
    assert treebank.place(2) == f"{tmp_path}/a.conllu:6"


@pytest.mark.parametrize("name", ["esp.train", "a.conll", "a.conllx.gz", "a.conllu"])
def test_conllx_is_read_whatever_its_name(tmp_path, name):
    content = CONLLX.encode("latin-1")
    path = written(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name)
    treebank = read_treebank(path, encoding="latin-1", heads=True)
    assert strings(treebank.words) == ["El", "año", "acaba", "."]
    assert strings(treebank.upos) == ["d", "n", "v", "F"]
    assert treebank.heads.tolist() == [2, 3, 0, 0]
    assert strings(treebank.labels) == ["_", "SUJ", "ROOT", "ROOT"]
    assert write_trees(treebank.table, treebank.heads, treebank.labels) == content


def test_without_heads_the_columns_of_trees_are_not_looked_at(tmp_path):
    content = CONLLU.replace("\t1\texpl:pv\t", "\t_\t_\t")
    treebank = read_treebank(written(tmp_path, content), heads=False)
    assert treebank.heads is None
    assert treebank.labels is None
    with pytest.raises(InputError, match="a treebank without heads; give one with heads"):
        treebank.nonprojective_trees()


def test_trees_are_written_and_nothing_else_changes(tmp_path):
    table = read_table(written(tmp_path, CONLLU.replace("\n", "\r\n")))
    heads = np.array([3, 3, 0, 0], np.int32)
    labels = Column(["é", "longer"], np.array([0, 1, 1, 0], np.int32))
    expected = (
        CONLLU.replace("\t0\troot\t", "\t3\té\t", 1)
        .replace("\t1\texpl:pv\t", "\t3\tlonger\t")
        .replace("\t1\tobl\t", "\t0\tlonger\t")
        .replace("\t0\troot\t", "\t0\té\t")
    ).replace("\n", "\r\n")
    assert write_trees(table, heads, labels).decode() == expected
    only_heads = CONLLU.replace("\t0\troot\t_\t_\n", "\t3\troot\t_\t_\n").replace("\t1\texp", "\t3\texp")
    expected = only_heads.replace("\t1\tobl", "\t0\tobl").replace("\n", "\r\n")
    assert write_trees(table, heads, None).decode() == expected


def test_a_file_that_ends_before_the_heads_gets_them(tmp_path):
    blind = "1\tEl\tel\td\tda\t_\r\n2\taño\taño\tn\tnc\t_\r\n\r\n1\ta\ta\tx\tx\t_"
    path = written(tmp_path, blind, "test.conll")
    treebank = read_treebank(path, heads=False)
    assert treebank.words.strings == ["El", "año", "a"]
    heads = np.array([2, 0, 0], np.int32)
    rows = ["1\tEl\tel\td\tda\t_\t2\t{}", "2\taño\taño\tn\tnc\t_\t0\t{}", "", "1\ta\ta\tx\tx\t_\t0\t{}"]
    expected = "\r\n".join(rows)
    labels = Column(["D", "R"], np.array([0, 1, 1], np.int32))
    assert write_trees(treebank.table, heads, labels).decode() == expected.format("D", "R", "R")
    assert write_trees(treebank.table, heads, None).decode() == expected.format("_", "_", "_")
    with pytest.raises(InputError, match=r"test.conll:1: 6 columns; CoNLL-U has 10"):
        read_treebank(path, heads=True)


def test_a_file_may_end_after_the_labels(tmp_path):
    path = written(tmp_path, "1\ta\ta\tx\tx\t_\t0\tr\n")
    treebank = read_treebank(path, heads=True)
    assert (treebank.heads.tolist(), treebank.labels.strings) == ([0], ["r"])
    assert write_trees(treebank.table, treebank.heads, Column(["s"], np.zeros(1, np.int32))).endswith(b"\t0\ts\n")


@pytest.mark.parametrize("label", ["", "a\tb", "a\nb"])
def test_a_label_that_breaks_the_file_is_refused(tmp_path, label):
    table = read_table(written(tmp_path, CONLLU))
    with pytest.raises(InputError, match="cannot be written: it is empty"):
        write_trees(table, np.zeros(4, np.int32), Column([label], np.zeros(4, np.int32)))
    with pytest.raises(InputError, match="has 4 words: heads and labels must be as many"):
        write_trees(table, np.zeros(3, np.int32), None)


def changed(old, new):
    assert old in CONLLU
    return CONLLU.replace(old, new, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed("\t1\tobl", "\tone\tobl"), "a.conllu:6: the head 'one' is not a number; it is the ID of another word"),
        (changed("\t1\tobl", "\t-1\tobl"), "a.conllu:6: the head '-1' is not a number"),
        (changed("\t1\tobl", "\t٣\tobl"), "a.conllu:6: the head '٣' is not a number"),
        (changed("\t1\tobl", "\t1_0\tobl"), "a.conllu:6: the head '1_0' is not a number"),
        (changed("\t1\tobl", f"\t{'9' * 5000}\tobl"), "a.conllu:6: the head '999"),
        (changed("\t1\tobl", "\t\tobl"), "a.conllu:6: the head '' is not a number"),
        (changed("\t1\tobl", "\t_\tobl"), "a.conllu:6: no head (_); it is the ID of another word, or 0 for the root"),
        (changed("\t1\tobl", "\t4\tobl"), "a.conllu:6: the head is 4, but the sentence has 3 words"),
        (changed("\t1\tobl", "\t3\tobl"), "a.conllu:6: word 3 is its own head"),
        (changed("\t0\troot", "\t3\troot"), "a.conllu:3: a cycle of heads, word by word: 1 -> 3 -> 1;"),
        (
            changed("\t1\texpl:pv", "\t3\texpl:pv").replace("\t1\tobl", "\t2\tobl"),
            "a.conllu:4: a cycle of heads, word by word: 2 -> 3 -> 2; it must lead to the root, 0",
        ),
        (changed("\n3\tal", "\n4\tal"), "a.conllu:6: the ID is 4, not 3; words are numbered 1, 2, 3 …"),
        (changed("\n\n# only a comment\n\n", "\n"), "a.conllu:7: the ID is 1, not 4; is an empty line missing before"),
        (changed("1-2\tV", "1-4\tV"), "a.conllu:2: the range 1-4 needs the words 1 to 4 on the lines after it"),
        (changed("1-2\tV", "2-3\tV"), "a.conllu:2: the range 2-3 needs the words 2 to 3"),
        (changed("1-2\tV", "2-1\tV"), "a.conllu:2: the range 2-1 needs"),
        (changed("1-2\tV", "1-\tV"), "a.conllu:2: the ID '1-' is not a word (1), a range (2-3) or an empty node (4.1)"),
        (changed("\n# only", "\n1-1" + "\t_" * 9 + "\n\n# only"), "a.conllu:8: the range 1-1 needs the words 1 to 1"),
        (changed("\n1\tV", "\n1-1" + "\t_" * 9 + "\n1\tV"), "a.conllu:3: the range 1-1 overlaps the range before it"),
        (changed("\n3\tal", "\n2-3" + "\t_" * 9 + "\n3\tal"), "a.conllu:6: the range 2-3 needs the words 2 to 3"),
        (CONLLU + "\n2-3" + "\t_" * 9, "a.conllu:11: the range 2-3 needs"),
        (changed("1-2\tV", "one\tV"), "a.conllu:2: the first column of CoNLL-U is the token's number"),
        (changed("\tSpaceAfter=No", ""), "a.conllu:6: 9 columns; CoNLL-U has 10, separated by tabs"),
        (changed("\tSpaceAfter=No", "\tx\ty"), "a.conllu:6: 11 columns; CoNLL-U has 10, separated by tabs"),
        (CONLLX.replace("\t3\tSUJ\n", "\n"), "a.conllu:2: 8 columns; CoNLL-U has 10, separated by tabs"),
        (CONLLU.replace("\t", " "), "a.conllu:2: 1 column; CoNLL-U has 10, separated by tabs (tabs and blanks mixed?)"),
        (CONLLU.encode("latin-1"), "a.conllu:1: byte 0xe1 is not utf-8; name the encoding"),
        (CONLLU.replace("\n", "\r"), "a.conllu: its lines end in CR only"),
        ("1\ta" + "\t_" * 8, "a.conllu: a treebank without heads (_ everywhere); give one with heads"),
        (changed("\tobl\t", "\t\t"), "a.conllu:6: the label (DEPREL) '' is empty or has an end of line in it"),
        (changed("\tobl\t", "\to\rl\t"), "a.conllu:6: the label (DEPREL) 'o\\rl' is empty or has an end of line"),
        ("", "a.conllu: no token in it"),
        ("# x\n", "a.conllu: no token in it"),
    ],
)
def test_bad_files_are_one_line_with_the_place(tmp_path, content, message):
    with pytest.raises(InputError) as error:
        read_treebank(written(tmp_path, content), heads=True)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_ids_are_checked_without_heads_too(tmp_path):
    with pytest.raises(InputError, match="the ID is 4, not 3"):
        read_treebank(written(tmp_path, changed("\n3\tal", "\n4\tal")), heads=False)


def test_a_long_cycle_is_not_shown_whole():
    with pytest.raises(InputError, match=r"1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> …;"):
        tree(*range(2, 31), 1)


def plain_is_tree(heads):
    for word in range(1, len(heads) + 1):
        above, steps = word, 0
        while above and steps <= len(heads):
            above, steps = heads[above - 1], steps + 1
        if above:
            return False
    return True


def plain_nonprojective(heads):
    """Per arc, from sets of descendants."""
    ancestors = {0: set()}
    for word in range(1, len(heads) + 1):
        above, seen = heads[word - 1], {0}
        while above:
            seen.add(above)
            above = heads[above - 1]
        ancestors[word] = seen
    return [
        any(head not in ancestors[k] for k in range(min(head, word) + 1, max(head, word)))
        for word, head in enumerate(heads, 1)
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_assignment_of_heads_is_checked_right(size):
    trees = 0
    for heads in itertools.product(range(size + 1), repeat=size):
        if plain_is_tree(heads):
            assert tree(*heads).nonprojective_arcs().tolist() == plain_nonprojective(heads)
            trees += 1
        else:
            with pytest.raises(InputError, match=r"cycle of heads|its own head"):
                tree(*heads)
    assert trees == (size + 1) ** (size - 1)  # Cayley: rooted forests of `size` words


def random_tree(rng, size):
    order = rng.permutation(size) + 1
    heads = [0] * size
    for k in range(1, size):
        heads[order[k] - 1] = int(order[rng.integers(k)])
    return heads


def test_random_trees_are_nonprojective_by_the_definition():
    rng = np.random.default_rng(0)
    heads = [random_tree(rng, int(rng.integers(1, 12))) for _ in range(200)]
    treebank = treebank_of([["w"] * len(one) for one in heads], heads=heads)
    expected = [plain_nonprojective(one) for one in heads]
    assert treebank.nonprojective_arcs().tolist() == list(itertools.chain.from_iterable(expected))
    assert treebank.nonprojective_trees() == sum(map(any, expected)) > 50


def test_several_roots_are_counted():
    assert tree(0, 1).several_roots == 0
    assert treebank_of([["a", "b"]] * 3, heads=[[0, 0], [0, 1], [0, 0]]).several_roots == 2


def test_large_treebanks_are_read_at_once(tmp_path):
    lines = "".join(f"{k}\tw{k}\t_\tX\t_\t_\t{k - 1}\tx\t_\t_\n" for k in range(1, 2001)) + "\n"
    treebank = read_treebank(written(tmp_path, lines * 50), heads=True)
    assert treebank.tokens == 100_000
    assert treebank.nonprojective_trees() == 0


def test_selected_sentences_are_a_treebank_of_their_own():
    sentences, heads = [["a"], ["b", ("c", "X")], ["c", "a"]], [[0], [2, 0], [0, 1]]
    labels = [["root"], ["x", "root"], ["root", "y"]]
    whole = treebank_of(sentences, heads, labels)
    selected, expected = whole.select(np.array([2, 0])), treebank_of(sentences[2::-2], heads[2::-2], labels[2::-2])
    assert selected.offsets.tolist() == expected.offsets.tolist()
    assert selected.heads.tolist() == expected.heads.tolist()
    for name, column in expected.columns().items():
        assert strings(selected.columns()[name]) == strings(column)
        assert len(set(strings(column))) == len(selected.columns()[name].strings)
    assert strings(selected.labels) == strings(expected.labels)
    assert treebank_of(sentences).select(np.array([1])).heads is None


def test_words_from_python_may_have_every_form():
    treebank = treebank_of(
        [
            ["Ann", ("left", "VERB")],
            [("it", "it", "PRON", "PRP", "Case=Acc"), {"form": "ends", "upos": "VERB", "feats": None}, {"word": "."}],
        ],
        heads=[[2, 0], np.array([2, 0, 2])],
        labels=[["nsubj", "root"], ["nsubj", "root", "punct"]],
    )
    assert strings(treebank.words) == ["Ann", "left", "it", "ends", "."]
    assert strings(treebank.lemmas) == ["_", "_", "it", "_", "_"]
    assert strings(treebank.upos) == ["_", "VERB", "PRON", "VERB", "_"]
    assert strings(treebank.xpos) == ["_", "_", "PRP", "_", "_"]
    assert strings(treebank.feats) == ["_", "_", "Case=Acc", "_", "_"]
    assert treebank.heads.tolist() == [2, 0, 2, 0, 2]
    assert strings(treebank.labels) == ["nsubj", "root", "nsubj", "root", "punct"]
    assert treebank.offsets.tolist() == [0, 2, 5]
    assert treebank.place(3) == "sentence 1, token 2"
    assert treebank_of([["a"]]).heads is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([["a b"]], "sentence 0 must be a list of words, not a str"),
        (["a"], "the sentences must be a list of sentences, not a str"),
        ([[]], "no sentence in it"),
        ([[["a"], []]], "sentence 1 has no word"),
        ([[[3]]], "sentence 0, token 1: a token is a string, a tuple or a dict, not a int"),
        ([[[("a", "b", "c")]]], r"a tuple is \(word, upos\) or \(word, lemma, upos, xpos, feats\), not 3 values"),
        ([[["a", {"wrd": "a"}]]], r"sentence 0, token 2: unknown key 'wrd' \(did you mean 'word'\?\)"),
        ([[[{"upos": "X"}]]], "a dict needs the key 'word'"),
        ([[[("a", 3)]]], "upos must be a string, not a int"),
        ([[["a"]], [[1], [0]]], "1 sentences but heads of 2: give the same number of both"),
        ([[["a"]], [[0, 1]]], "sentence 0 has 1 word and 2 heads"),
        ([[["a"]], [0]], "the heads of sentence 0 must be a list of heads, not a int"),
        ([[["a"]], [["0"]]], "sentence 0, token 1: a head is a number, 0 for the root, not '0'"),
        ([[["a"]], [[-1]]], "a head is a number, 0 for the root, not -1"),
        ([[["a"], ["a", "b"]], [[0], [0, 2]]], "sentence 1, token 2: word 2 is its own head"),
        ([[["a", "b"]], [[0, 3]]], "sentence 0, token 2: the head is 3, but the sentence has 2 words"),
        ([[["a"]], [[0]], [[3]]], "a label of an arc must be a string, not 3"),
        ([[["a"]], None, [["x"]]], "labels without heads"),
    ],
)
def test_bad_trees_from_python_are_told(arguments, message):
    with pytest.raises(InputError, match=message):
        treebank_of(*arguments)


def test_a_text_is_a_treebank():
    treebank = Treebank.from_text(CONLLU)
    assert treebank.heads.tolist() == [0, 1, 1, 0]
    assert treebank.place(0) == "text:3"
    assert write_trees(treebank.table, treebank.heads, treebank.labels).decode() == CONLLU
    with pytest.raises(InputError, match="text: an unpaired surrogate"):
        Treebank.from_text("1\t\ud800")
    assert Treebank.from_text("1\ta\t_\t_\t_\t_", heads=False).words.strings == ["a"]
