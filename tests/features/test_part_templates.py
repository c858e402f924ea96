"""The language of templates of second-order parts: what is read, of which kind, what is refused."""

import itertools

import pytest

from swvp.errors import InputError
from swvp.features.parser_templates import PartTemplates, Triple, parse_arc_templates, parse_part_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.features.presets import PART_PRESETS
from swvp.features.templates import Atom, Slot
from swvp.structures.tree.encoding import slots_of
from swvp.structures.tree.second_order.features import near_of, part_tables


def one(line):
    """The template of a line, and the field of its kind."""
    found = parse_part_templates([line])
    ((kind, template),) = [(kind, template) for kind, group in found._asdict().items() for template in group]
    return kind, template


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("m.pos & h.pos", "arcs", "h.pos & m.pos"),
        ("bias", "arcs", "bias"),
        ("distance & m.pos", "arcs", "m.pos & distance"),
        ("s.pos & m.pos & h.pos", "siblings", "h.pos & m.pos & s.pos"),
        ("s.pos[-1]&h.word", "siblings", "h.word & s.pos[-1]"),
        ("siblings", "siblings", "siblings"),
        ("bias & siblings", "siblings", "siblings"),
        ("h.pos & siblings & m.pos", "siblings", "siblings & h.pos & m.pos"),
        ("siblings & h.pos", "siblings", "siblings & h.pos"),
        ("siblings & h.pos & s.pos", "siblings", "h.pos & s.pos"),
        ("h.pos & g.pos", "grandparents", "g.pos & h.pos"),
        ("m.pos & suffix(g.word, 2) & h.pos", "grandparents", "suffix(g.word, 2) & h.pos & m.pos"),
        ("grandparent & grandparent", "grandparents", "grandparent"),
        ("m.pos & h.pos & grandparent", "grandparents", "grandparent & h.pos & m.pos"),
        ("s.pos & m.pos", "sibling_pairs", "m.pos & s.pos"),
        ("siblings & s.pos & m.pos", "sibling_pairs", "m.pos & s.pos"),
        ("s.pos", "sibling_pairs", "s.pos"),
        ("siblings & m.pos", "sibling_pairs", "siblings & m.pos"),
        ("length & s.pos & m.pos & distance", "sibling_pairs", "m.pos & s.pos & distance & length"),
        ("between.pos & siblings", "sibling_pairs", "siblings & between.pos"),
        ("s.feats & m.feats & m.feats", "sibling_pairs", "m.feats & s.feats"),
        ("distance & siblings", "sibling_pairs", "siblings & distance"),
        ("m.pos & g.pos", "grandparent_pairs", "g.pos & m.pos"),
        ("between.tag & g.pos", "grandparent_pairs", "g.pos & between.tag"),
        ("grandparent & m.feats", "grandparent_pairs", "grandparent & m.feats"),
        ("verbs & grandparent", "grandparent_pairs", "grandparent & verbs"),
    ],
)
def test_the_kind_of_a_template_and_its_text(line, kind, text):
    found, template = one(line)
    assert (found, template.text) == (kind, text)
    assert one(text) == one(line)  # the text of a template is its own name


def test_atoms_of_three_sides_are_in_the_order_of_the_sides():
    _, template = one("m.word & prefix(g.lemma[-2], 4) & h.tag & h.pos")
    assert template.sides == (
        (Atom("g", "lemma", "", -2, "prefix", 4),),
        (Atom("h", "pos"), Atom("h", "tag")),
        (Atom("m", "word"),),
    )
    assert template.atoms == tuple(itertools.chain(*template.sides))


@pytest.mark.parametrize("line", ["m.tag & s.pos[+1] & verbs", "g.tag & m.pos[+1] & verbs"])
def test_pairs_are_templates_of_arcs_with_their_sides_renamed(line):
    _, pair = one(line)
    (arc,) = parse_arc_templates(["h.tag & m.pos[+1] & verbs"])
    assert pair == arc._replace(text=line)


def test_comments_empty_lines_and_repetitions_are_left_out():
    lines = ["# all", "", "s.pos & m.pos", "siblings & m.pos & s.pos", "siblings & bias", "siblings", "h.pos", "  "]
    found = parse_part_templates(lines)
    assert [template.text for template in found.all] == ["h.pos", "m.pos & s.pos", "siblings"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("g.pos & s.pos", "a template is of siblings (h, m, s) or of grandparents (g, h, m), not of both"),
        ("siblings & g.pos", "not of both"),
        ("grandparent & s.pos", "not of both"),
        ("siblings & grandparent", "not of both"),
        ("h.pos & s.pos & distance", "are for two sides: m and s"),
        ("siblings & h.pos & between.pos", "are for two sides: m and s"),
        ("h.pos & m.feats & s.pos", "are for two sides: m and s"),
        ("g.pos & h.pos & length", "are for two sides: g and m"),
        ("grandparent & h.feats", "are for two sides: g and m"),
        ("s.feats & distance", "exclude each other in one template"),
        ("g.pos & between.pos & verbs", "exclude each other in one template"),
        ("s.position", "unknown column in my.txt line 3: 'position'"),
        ("x.pos & s.pos", "unknown side in my.txt line 3: 'x'"),
        ("s.pos &", "cannot read ''"),
        ("uper(g.word)", "unknown function in my.txt line 3: 'uper'"),
        ("s.pos[6]", "'s.pos[6]' looks farther than 5"),
        ("s.feats[1]", "only feats of the sides"),
        ("prefix(s.word)", "prefix needs a length"),
        ("between.pos & between.tag & s.pos", "one atom between.COLUMN at most"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_with_its_place(line, told):
    with pytest.raises(InputError) as caught:
        parse_part_templates(["bias", "", line], "my.txt")
    assert told in str(caught.value)
    assert "my.txt line 3: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_templates_of_arcs_have_no_third_side():
    with pytest.raises(InputError, match=r"line 1: s\.pos is of second order; .* use order 2"):
        parse_arc_templates(["s.pos"])


@pytest.mark.parametrize("lines", [[], ["", "# nothing"]])
def test_no_template_at_all_is_refused(lines):
    with pytest.raises(InputError, match=r"my\.txt: no template in it"):
        parse_part_templates(lines, "my.txt")


def turbo_templates(kind, sides):
    """The 20 templates of TurboParser: all sides, two sides with words or tags, and none."""
    words, tags = {side: f"lower({side}.word)" for side in sides}, {side: f"{side}.pos" for side in sides}
    found = {frozenset([kind]), frozenset(tags.values())}
    for one in sides:
        others = [side for side in sides if side != one]
        found.add(frozenset([words[one], *(tags[side] for side in others)]))
        found.add(frozenset([tags[one], *(words[side] for side in others)]))
        found |= {frozenset(pair) for pair in itertools.product(*((words[side], tags[side]) for side in others))}
    return found


def atoms_of(template, kind):
    """The atoms; the kind is one if there is nothing else."""
    atoms = set(template.text.split(" & "))
    return frozenset(atoms if len(atoms) == 1 else atoms - {kind})


@pytest.mark.parametrize("name", PART_PRESETS)
def test_presets_have_the_templates_of_turboparser(name):
    found = parse_part_templates(PART_PRESETS[name])
    for kind, sides, triples, pairs in (
        ("siblings", "hms", found.siblings, found.sibling_pairs),
        ("grandparent", "ghm", found.grandparents, found.grandparent_pairs),
    ):
        expected = turbo_templates(kind, sides)
        assert len(expected) == 20
        every = {atoms_of(template, kind) for template in triples}
        of_three = {atoms for atoms in every if not any(atom.endswith(".fine") for atom in atoms)}
        assert len(triples) == len(every) == len(of_three) + (4 if name == "second-order" else 0)
        assert len(of_three) == 16
        assert of_three < expected
        assert expected - of_three <= {atoms_of(template, kind) for template in pairs}
        assert all(isinstance(template, Triple) for template in triples)


@pytest.mark.parametrize(("name", "arcs"), [("second-order", "first-order"), ("turbo-standard", "turbo")])
def test_presets_have_the_templates_of_arcs_for_arcs_and_pairs(name, arcs):
    found, expected = parse_part_templates(PART_PRESETS[name]), parse_arc_templates(PRESETS[arcs])
    assert found.arcs == expected
    for pairs in (found.sibling_pairs, found.grandparent_pairs):
        seen = {template[1:] for template in pairs}
        assert {template[1:] for template in expected if template.text != "bias"} <= seen
        assert len(seen) == len(pairs)


@pytest.mark.parametrize("name", PART_PRESETS)
def test_presets_are_read_and_are_their_own_text(name):
    templates = parse_part_templates(PART_PRESETS[name])
    assert parse_part_templates([template.text for template in templates.all]) == templates
    ordered, tables = part_tables(templates)
    assert isinstance(ordered, PartTemplates)
    assert [sorted(group) for group in ordered] == [sorted(group) for group in templates]
    assert [len(group) for group in ordered] == [len(table.salts) for table in tables]
    salts = [salt for table in tables for salt in table.salts.ravel().tolist()]
    assert len(set(salts)) == len(salts)


def test_tables_are_for_nodes_of_the_ordered_templates():
    """Ordering templates changes which slot comes first: tables follow what is encoded for them."""
    templates = parse_part_templates(["h.word & m.tag & distance", "h.pos", "s.lemma & m.pos & h.tag"])
    ordered, tables = part_tables(templates)
    slots = slots_of(ordered.all)
    assert slots != slots_of(templates.all)
    assert slots[tables.arcs.sides[0, 0, 0, 0]] == Slot("pos")
    assert [slots[tables.siblings.sides[0, side, 0, 0]][0] for side in range(3)] == ["tag", "pos", "lemma"]


def test_the_column_in_between_may_differ_between_kinds_but_not_within_one():
    part_tables(parse_part_templates(["between.pos", "s.pos & between.tag", "g.pos & between.word"]))
    with pytest.raises(InputError, match=r"between\.pos and between\.tag exclude each other"):
        part_tables(parse_part_templates(["s.pos & between.tag", "siblings & between.pos"]))


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("h.pos & m.pos & lower(s.word)", "m.pos"),
        ("h.word & h.pos & m.word & s.word", "h.pos"),
        ("g.pos[-1] & h.pos & m.word", "h.pos"),
        ("g.word & h.word & m.word", None),
        ("siblings", None),
    ],
)
def test_the_atom_whose_values_are_neighbours(line, near):
    found = near_of(one(line)[1])
    assert (found and found.text) == near
