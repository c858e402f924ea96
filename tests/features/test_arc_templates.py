"""The language of templates of arcs: what is read, what is refused in one line that names the place."""

import pytest

from swvp.errors import InputError
from swvp.features.parser_templates import parse_arc_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.features.templates import Atom
from swvp.structures.tree.encoding import near_atom, tables_of


def one(line):
    (template,) = parse_arc_templates([line])
    return template


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("h.pos", "h.pos"),
        ("  m.pos[ -1 ]&h.word ", "h.word & m.pos[-1]"),
        ("m.pos[1]", "m.pos[+1]"),
        ("m.pos[0]", "m.pos"),
        ("suffix( h.word , 3 )", "suffix(h.word, 3)"),
        ("lower(m.word[+2])", "lower(m.word[+2])"),
        ("length & distance & h.pos", "h.pos & distance & length"),
        ("between.pos & m.pos & h.pos", "h.pos & m.pos & between.pos"),
        ("h.feats & m.feats & h.pos", "h.feats & h.pos & m.feats"),
        ("bias", "bias"),
        ("bias & h.pos", "h.pos"),
        ("h.pos & h.pos", "h.pos"),
        ("verbs & punctuation & coordinators", "verbs & punctuation & coordinators"),
        ("agreement.Number & h.pos & agreement.Case & verbs", "h.pos & verbs & agreement.Case & agreement.Number"),
    ],
)
def test_the_text_of_a_template_is_its_own_name(line, text):
    assert one(line).text == text
    assert one(text) == one(line)


def test_atoms():
    template = one("prefix(m.lemma[-2], 4) & h.tag & distance & verbs")
    assert template.head == (Atom("h", "tag"),)
    assert template.modifier == (Atom("m", "lemma", "", -2, "prefix", 4),)
    assert template.arc == ("distance", "verbs")
    assert template.between == ""


def test_comments_empty_lines_and_repetitions_are_left_out():
    lines = ["# all", "", "h.pos & m.pos", "   ", "m.pos & h.pos", "bias"]
    assert [template.text for template in parse_arc_templates(lines)] == ["h.pos & m.pos", "bias"]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_read_and_are_their_own_text(name):
    templates = parse_arc_templates(PRESETS[name])
    assert parse_arc_templates([template.text for template in templates]) == templates
    ordered, tables = tables_of(templates)
    assert sorted(ordered) == sorted(templates)
    assert tables.first[-1] == len(templates)
    assert len(set(tables.salts.ravel().tolist())) == 2 * len(templates)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("h.position", "unknown column in my.txt line 3: 'position'"),
        ("x.pos", "unknown side in my.txt line 3: 'x'"),
        ("pos", "cannot read 'pos'"),
        ("h.pos &", "cannot read ''"),
        ("h.pos[6]", "'h.pos[6]' looks farther than 5"),
        ("h.pos[-6]", "farther than 5"),
        ("uper(h.word)", "unknown function in my.txt line 3: 'uper'"),
        ("tags(h.word)", "unknown function in my.txt line 3: 'tags'"),
        ("lower(h.word", "cannot read 'lower(h.word'"),
        ("h.word)", "cannot read 'h.word)'"),
        ("prefix(h.word)", "prefix needs a length of at least 1, as in"),
        ("lower(h.word, 3)", "lower takes no number"),
        ("h.word, 3", "a column takes no number"),
        ("h.feats[1]", "only feats of the sides themselves"),
        ("lower(h.feats)", "only feats of the sides themselves"),
        ("h.feats & distance", "exclude each other in one template"),
        ("between.pos & h.feats", "exclude each other in one template"),
        ("between.pos & verbs", "exclude each other in one template"),
        ("between.pos & between.tag", "one atom between.COLUMN at most"),
        ("between.feats", "unknown column in my.txt line 3: 'feats'"),
        ("between.x", "unknown column in my.txt line 3: 'x'"),
        ("distanse", "cannot read 'distanse'"),
        ("agreement.Mood", "unknown agreement in my.txt line 3: 'Mood'"),
        ("h.feats & agreement.Case", "exclude each other in one template"),
        ("agreement.Case & between.pos", "exclude each other in one template"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_with_its_place(line, told):
    with pytest.raises(InputError) as caught:
        parse_arc_templates(["bias", "", line], "my.txt")
    assert told in str(caught.value)
    assert "my.txt line 3: " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lines", [[], ["", "# nothing"]])
def test_no_template_at_all_is_refused(lines):
    with pytest.raises(InputError, match=r"my\.txt: no template in it"):
        parse_arc_templates(lines, "my.txt")


def test_two_columns_in_between_are_refused():
    templates = parse_arc_templates(["between.pos & h.pos", "between.tag"])
    with pytest.raises(InputError, match=r"between\.pos and between\.tag exclude each other"):
        tables_of(templates)
    tables_of(parse_arc_templates(["between.tag & h.pos", "between.tag"]))


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("h.pos & lower(m.word)", "h.pos"),
        ("h.word & h.pos & m.word", "h.pos"),
        ("h.feats & m.pos", "h.feats"),
        ("h.word & m.word", None),
        ("h.pos & m.pos & distance", None),
        ("h.pos & between.pos", None),
    ],
)
def test_the_atom_whose_values_are_neighbours(line, near):
    found = near_atom(one(line))
    assert (found and found.text) == near
