"""Dependency trees: what they hold, what they refuse, and how they show themselves."""

import pickle
import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.cells import cell_len

from swvp.errors import InputError
from swvp.parsing.svg import draw_svg, text_width
from swvp.parsing.tree import Arc, DependencyTree

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["The", "cat", "slept", "here", "."]
HEADS = [2, 3, 0, 3, 3]
LABELS = ["det", "nsubj", "root", "advmod", "punct"]
TAGS = ["DET", "NOUN", "VERB", "ADV", "PUNCT"]


@pytest.fixture
def tree():
    return DependencyTree(WORDS, HEADS, LABELS, TAGS)


@pytest.fixture
def scored():
    """A wrong head, and a wrong label at a right head."""
    return DependencyTree(WORDS, [2, 3, 0, 2, 3], ["det", "obj", "root", "advmod", "punct"], TAGS, HEADS, LABELS)


def random_tree(size, seed, near=None):
    """Any tree, mostly non-projective; heads not far away if `near`."""
    rng = random.Random(seed)
    order = list(range(1, size + 1))
    if near is None:
        rng.shuffle(order)
    heads = [0] * size
    for n, k in enumerate(order[1:], 1):
        heads[k - 1] = rng.choice(order[max(0, n - near) : n] if near else order[:n])
    return heads, [rng.choice(["nsubj:pass", "x", "obl", "compound:prt", "flat:foreign"]) for _ in heads]


def arcs(root, name="swvp-arc"):
    return [group for group in root.iter(f"{SVG}g") if name in group.get("class", "").split()]


def points(group):
    """The corners of the paths of an arc."""
    found, x, y = [], 0.0, 0.0
    for path in group.iter(f"{SVG}path"):
        for command, numbers in re.findall(r"([MVHQLZ])([^MVHQLZ]*)", path.get("d")):
            values = [float(value) for value in numbers.split()]
            if command == "V":
                y = values[0]
            elif command == "H":
                x = values[0]
            elif values:
                found += [(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
                x, y = values[-2:]
            found.append((x, y))
    return found


def box(text):
    """Left, top, right and bottom of a label."""
    size = float(text.get("font-size"))
    width = text_width("".join(text.itertext()).strip(), size)
    x, y = float(text.get("x")), float(text.get("y"))
    return x - width / 2, y - 0.75 * size, x + width / 2, y + 0.2 * size


def test_a_tree_is_asked_for_its_parts(tree):
    assert len(tree) == 5
    assert (tree.words, tree.heads, tree.labels, tree.tags) == tuple(map(tuple, (WORDS, HEADS, LABELS, TAGS)))
    assert list(tree)[:3] == [
        Arc("The", 2, "det", "cat"),
        Arc("cat", 3, "nsubj", "slept"),
        Arc("slept", 0, "root", None),
    ]
    assert tree.root == 3
    assert (tree.children(3), tree.children(0), tree.children(1)) == ((2, 4, 5), (3,), ())
    assert tree.is_projective
    assert tree.uas is None
    assert tree.las is None


def test_without_labels_an_arc_has_none():
    assert list(DependencyTree(["Yes"], [0])) == [Arc("Yes", 0, None, None)]


def test_trees_are_values(tree):
    same = DependencyTree(np.array(WORDS), np.array(HEADS), iter(LABELS), iter(TAGS))
    assert same == tree
    assert hash(same) == hash(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert eval(repr(tree)) == tree
    assert all(type(head) is int for head in same.heads)
    with pytest.raises(AttributeError):
        tree.heads = ()


def test_several_roots_and_no_words():
    assert DependencyTree(["a", "b"], [0, 0]).children(0) == (1, 2)
    empty = DependencyTree([], [], gold_heads=[])
    assert (empty.root, empty.uas, str(empty), empty.is_projective) == (None, None, "", True)
    ElementTree.fromstring(draw_svg(empty))


@pytest.mark.parametrize(
    ("heads", "projective"),
    [([2, 3, 0], True), ([3, 0, 2], False), ([0, 1, 1], True), ([3, 4, 0, 3], False), ([0, 0, 1], False)],
)
def test_projective_is_without_crossing_arcs(heads, projective):
    assert DependencyTree(list("abcd"[: len(heads)]), heads).is_projective == projective


def test_scores_against_gold(scored):
    assert scored.uas == pytest.approx(0.8)
    assert scored.las == pytest.approx(0.6)
    assert DependencyTree(WORDS, HEADS, gold_heads=HEADS).las is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"heads": [2, 1, 0, 3, 3]}, "heads are not a tree: a cycle 1 'The' → 2 'cat' → 1 'The'"),
        ({"heads": [1, 3, 0, 3, 3]}, "heads are not a tree: a cycle 1 'The' → 1 'The'"),
        ({"gold_heads": [2, 3, 2, 3, 3]}, "gold_heads are not a tree: a cycle 2 'cat' → 3 'slept' → 2 'cat'"),
        ({"heads": [2, 6, 0, 3, 3]}, "heads: word 2 has head 6; it must be 0 to 5"),
        ({"heads": [2, -1, 0, 3, 3]}, "heads: word 2 has head -1; it must be 0 to 5"),
        ({"heads": [2, 3, 0.0, 3, 3]}, "heads must be whole numbers, not 0.0 for word 3"),
        ({"heads": [2, 3]}, "there are 5 words but 2 heads"),
        ({"heads": None}, "heads must be a sequence, not None"),
        ({"labels": LABELS[1:]}, "there are 5 words but 4 labels"),
        ({"tags": [*TAGS, "X"]}, "there are 5 words but 6 tags"),
        ({"labels": [*LABELS[:4], None]}, "labels must be strings, not None"),
        ({"words": "words"}, "words must be a sequence of strings, not one string 'words'"),
        ({"gold_labels": LABELS}, "gold_labels need gold_heads"),
        ({"confidence": [0.5, 0.5, 0.5, 0.5, 1.5]}, "confidence must be probabilities from 0 to 1, not 1.5 for word 5"),
        ({"confidence": [float("nan")] * 5}, "confidence must be probabilities from 0 to 1, not nan for word 1"),
    ],
)
def test_what_is_no_tree_is_refused(fields, message):
    with pytest.raises(InputError) as error:
        DependencyTree(**{"words": WORDS, "heads": HEADS, **fields})
    assert str(error.value) == message


def test_a_long_cycle_and_unknown_words_take_one_line(tree):
    words = ["line\nbreak" * 20] * 300
    with pytest.raises(InputError) as error:
        DependencyTree(words, [*range(2, 301), 1])
    assert len(str(error.value)) < 300
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="there is no word 6: the sentence has words 1 to 5"):
        tree.children(6)


def test_confidence_may_be_off_by_rounding():
    assert DependencyTree(["a"], [0], confidence=[1 + 1e-9]).confidence == (1.0,)


def test_the_text_has_a_row_for_each_word(tree):
    assert str(tree).splitlines() == [
        "    ╭─ 1 The    DET    det",
        "  ╭─┴─ 2 cat    NOUN   nsubj",
        "──┼─── 3 slept  VERB   root",
        "  ├─── 4 here   ADV    advmod",
        "  ╰─── 5 .      PUNCT  punct",
    ]


def test_the_text_says_what_gold_is(scored):
    rows = str(scored).splitlines()
    assert rows[1].endswith("obj     ✗ gold: nsubj")
    assert rows[3].endswith("advmod  ✗ gold: head 3 slept")
    assert "✗" not in rows[0] + rows[2] + rows[4]


def test_an_arc_that_passes_a_foreign_trunk_is_interrupted():
    assert str(DependencyTree(list("abcd"), [3, 4, 0, 3])).splitlines() == [
        "  ╭─── 1 a",
        "  │ ╭─ 2 b",
        "──┼─│─ 3 c",
        "  ╰─┴─ 4 d",
    ]


def test_text_columns_count_cells_not_characters():
    words = ["图书馆", "e\u0301te\u0301", "x" * 100, "日" * 40, "\x1b[31m", "שלום"]
    rows = str(DependencyTree(words, [0, 1, 2, 3, 4, 5], ["L"] * 6)).splitlines()
    assert len({cell_len(row) for row in rows}) == 1
    assert all(cell_len(row) <= 60 for row in rows)
    assert "\x1b" not in "".join(rows)
    assert "\u2068שלום\u2069" in rows[5]


def test_deep_trees_stay_narrow():
    rows = str(DependencyTree(["w"] * 40, range(40))).splitlines()
    assert max(map(cell_len, rows)) <= 60


@pytest.mark.parametrize("seed", range(20))
def test_the_lines_of_the_text_tell_every_head(seed):
    """Going left from a word to the first ╭, ├ or ╰ meets the trunk of its head."""
    heads, _ = random_tree(12, seed)
    rows = str(DependencyTree(["w"] * 12, heads)).splitlines()
    width = rows[0].rindex("─") + 1
    lines = [row[:width] for row in rows]
    for k, head in enumerate(heads):
        column = max(lines[k].rfind(mark) for mark in "╭├╰")
        if not head:
            assert column == -1
            continue
        up = head - 1 < k
        assert lines[k][column] in ("├╰" if up else "╭├")
        meets = k
        while lines[meets][column] not in "┼┬┴":
            meets += -1 if up else 1
        assert meets == head - 1


def test_conllu(tree):
    lines = tree.to_conllu().split("\n")
    assert lines[0] == "1\tThe\t_\tDET\t_\t_\t2\tdet\t_\t_"
    assert len(lines) == 7
    assert lines[5:] == ["", ""]
    bare = DependencyTree(["a", ""], [0, 1], confidence=[1, 0.25])
    assert bare.to_conllu() == (
        "1\ta\t_\t_\t_\t_\t0\t_\t_\tConfidence=1.0000\n2\t_\t_\t_\t_\t_\t1\t_\t_\tConfidence=0.2500\n\n"
    )
    with pytest.raises(InputError, match=r"CoNLL-U cannot hold 'a.tb': it has a tab or a line break"):
        DependencyTree(["a\tb"], [0]).to_conllu()


def test_a_drawing_has_an_arc_for_each_word(tree):
    root = ElementTree.fromstring(draw_svg(tree))
    assert len(arcs(root)) == len(tree)
    assert [group.find(f"{SVG}title").text for group in arcs(root)][1:3] == [
        "cat ← slept, nsubj",
        "slept is a root, root",
    ]
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert sorted(texts) == sorted([*WORDS, *TAGS, *LABELS])
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Dependency tree of 5 words: The cat slept here ."
    assert "id" not in {name for element in root.iter() for name in element.attrib}
    assert draw_svg(tree) == draw_svg(tree)


def test_gold_and_predicted_are_drawn_together(scored):
    root = ElementTree.fromstring(draw_svg(scored))
    kinds = {kind: arcs(root, f"swvp-{kind}") for kind in ("right", "wrong", "missed")}
    assert {kind: len(found) for kind, found in kinds.items()} == {"right": 4, "wrong": 1, "missed": 1}
    dashes = {kind: found[0].find(f"{SVG}path").get("stroke-dasharray") for kind, found in kinds.items()}
    assert dashes["right"] is None
    assert len(set(dashes.values())) == 3
    words = [float(text.get("y")) for text in root.iter(f"{SVG}text") if text.text in WORDS]
    assert max(y for _, y in points(kinds["wrong"][0])) < min(words) < min(y for _, y in points(kinds["missed"][0]))
    struck = [span.text for span in root.iter(f"{SVG}tspan") if span.get("text-decoration")]
    assert struck == ["obj", "label"]
    legend = "".join(next(iter(arcs(root, "swvp-legend"))).itertext())
    assert "wrong head" in legend
    assert "UAS 80.0 %, LAS 60.0 %" in legend


def test_without_gold_there_is_no_legend(tree):
    assert "swvp-legend" not in draw_svg(tree)
    sure = DependencyTree(WORDS, HEADS, confidence=[0.5] * 5)
    assert draw_svg(sure).count(">50%<") == 5


def test_texts_are_escaped_and_controls_replaced():
    nasty = ["<script>alert(1)</script>", "a&b", '"quoted"', "\x00\x1b", "\ud800", "{}"]
    tree = DependencyTree(nasty, [0, 1, 1, 1, 1, 1], nasty, nasty, [2, 0, 1, 1, 1, 1], nasty)
    for drawn in (draw_svg(tree), tree._repr_html_()):
        root = ElementTree.fromstring(drawn)
        assert not list(root.iter("script"))
        assert "<script>alert(1)</script>" in [text.text for text in root.iter(f"{SVG}text")]
        drawn.encode()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("near", [None, 3])
def test_nothing_is_clipped_and_no_labels_overlap(seed, near):
    heads, labels = random_tree(40, seed, near)
    gold_heads, gold_labels = random_tree(40, seed + 100, near)
    words = ["word"[: k % 5] or "longer-word" for k in range(40)]
    root = ElementTree.fromstring(draw_svg(DependencyTree(words, heads, labels, None, gold_heads, gold_labels)))
    _, _, width, height = map(float, root.get("viewBox").split())
    drawn = arcs(root)
    assert len(drawn) == 40 + sum(a != b for a, b in zip(heads, gold_heads, strict=True))
    for group in drawn:
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points(group))
    boxes = [box(group.find(f"{SVG}text")) for group in drawn]
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert right <= width
        assert top >= 0
        assert bottom <= height
        for a, b, c, d in boxes[:k]:
            assert right <= a or c <= left or bottom <= b or d <= top
    upright = [(x, *sorted((y, z))) for group in drawn for x, y, z in verticals(group)]
    for left, top, right, bottom in boxes:
        assert not any(left < x < right and y < bottom and top < z for x, y, z in upright)


def verticals(group):
    """The upright lines of an arc: x, from, to."""
    path = group.find(f"{SVG}path").get("d")
    x, y = map(float, re.match(r"M(\S+) ([\d.]+)", path).groups())
    yield x, y, float(re.search(r"V([\d.]+)", path)[1])
    if "Q" in path:
        last = re.search(r"Q\S+ \S+ (\S+) ([\d.]+)V([\d.]+)$", path)
        yield tuple(map(float, last.groups()))


def test_height_goes_by_nesting_not_by_distance():
    heights = []
    for size in (5, 60):
        root = ElementTree.fromstring(draw_svg(DependencyTree(["w"] * size, [0, *range(1, size)])))
        heights.append(float(root.get("height")))
    assert heights[0] == heights[1]


def test_right_to_left_sentences_are_drawn_from_the_right():
    tree = DependencyTree(["הילד", "אכל", "תפוח"], [2, 0, 2])
    root = ElementTree.fromstring(draw_svg(tree))
    places = {text.text: float(text.get("x")) for text in root.iter(f"{SVG}text")}
    assert places["הילד"] > places["אכל"] > places["תפוח"]
    assert 'dir="rtl"' in tree._repr_html_()


def test_a_page_gives_its_colours_and_a_file_has_its_own(tree, tmp_path):
    assert "<style" not in tree._repr_html_()
    assert "overflow-x:auto" in tree._repr_html_()
    assert "prefers-color-scheme" in tree._repr_svg_()
    tree.save(tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_text() == draw_svg(tree)
    with pytest.raises(InputError, match=r"must end in \.svg"):
        tree.save(tmp_path / "tree.png")
