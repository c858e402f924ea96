"""Rules as studies write them, and which pair of rules answers their question."""

import pytest

from swvp.errors import InputError
from swvp.studies.common.rules import Notation, choose_rules, is_swvp, notation, step_of


@pytest.mark.parametrize(
    "text", ["csp", "a-wm@0.5/30", "mira:5+C=0.01", "a-wm:single+full:sqrt", "a-wm:single+full/2+order=2", "b-wm/0"]
)
def test_a_rule_is_written_as_it_is_read(text):
    assert notation(text).text == text


def test_the_parts_of_a_rule():
    assert notation("a-wm@2/3+C=1+average=false") == Notation("a-wm", 2.0, 3.0, (("C", 1), ("average", False)))
    assert notation("a-wm:single+full").name == "a-wm:single+full"
    assert notation("b-wm/1").with_beta(0.5) == "b-wm@0.5/1"


@pytest.mark.parametrize("text", ["csp+=1", "csp+C=", "csp@1", "csp/x", "cps", "a-wm@x"])
def test_a_wrong_rule_is_told(text):
    with pytest.raises(InputError, match=r"rule|unknown"):
        notation(text)


def test_other_ways_of_training_have_no_step():
    assert notation("crf+l2=2", is_other=lambda name: name == "crf").name == "crf"
    assert step_of("crf") is None
    assert not is_swvp("crf")


def test_the_pair_has_one_step():
    dev = {"csp": 0.9, "mira": 0.92, "mira:10": 0.91, "a-wm": 0.95, "a-uniform:mira/1": 0.96, "crf": 0.99}
    assert choose_rules(dev) == ("a-uniform:mira/1", "mira", "mira")
    assert choose_rules({"csp": 0.9, "a-uniform:mira": 0.96, "a-wm:sqrt": 0.8}) == ("a-wm:sqrt", "csp", "csp")
    assert choose_rules({"csp": 0.9, "mira": 0.91, "a-wm": 0.8}) == ("a-wm", "csp", "mira")


@pytest.mark.parametrize("rules", [["csp"], ["csp", "mira", "csp-orders"], ["csp", "a-uniform:mira"]])
def test_there_may_be_no_pair(rules):
    assert choose_rules(dict.fromkeys(rules, 0.5)) is None
