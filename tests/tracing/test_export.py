"""Exported trainings agree with the theory: every separator lies in the cone, and updates stay below the bound."""

import json
import math

import numpy as np
import pytest

from swvp import InputError, StructuredPerceptron, theory
from swvp.tracing import Lesson, export_trace, lesson


def test_the_cone_holds_all_separators_and_no_other_direction():
    data = export_trace()
    points = lesson("two-dimensions")
    low, high = data["separator"]["cone"]
    for angle in np.arange(0.5, 360, 1.0):
        u = np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
        assert (theory.margin(points.problem, points.X, points.y, u) > 0) == (low < angle < high)


def test_the_sequences_of_the_hmm_are_learnt_within_the_bound():
    for run in export_trace(lesson="hmm", rules=["csp", "a-wm", "b-wm:impose"])["runs"]:
        assert run["converged"]
        assert run["updates_made"] <= run["bound"]
        assert any(len(update["wrong_positions"]) > 1 for update in run["updates"])


def test_updates_stay_below_the_bound_and_end_in_the_cone():
    data = export_trace(rules=["csp", "a-wm", "b-wm:impose", "a-wmr"])
    low, high = data["separator"]["cone"]
    for run in data["runs"]:
        assert run["converged"]
        assert run["updates_made"] <= run["bound"]
        assert low < math.degrees(math.atan2(*run["w"][-1][::-1])) < high


def test_a_file_has_the_updates_of_the_learner(tmp_path):
    export_trace(tmp_path / "training.json", lesson="figure-1", rules=["a-wm"])
    (run,) = json.loads((tmp_path / "training.json").read_text(encoding="utf-8"))["runs"]
    figure = lesson("figure-1")
    learner = StructuredPerceptron(figure.problem, rule="a-wm", shuffle=False)
    updates = list(learner.trace(figure.X, figure.y, initial=figure.initial))
    assert run["updates"] == json.loads(json.dumps([update.to_dict() for update in updates]))
    assert run["no_bound"] == "Theorem 1 is about trainings that start from w = 0"


def test_the_first_prediction_of_figure_1_is_that_of_the_paper():
    first = export_trace(lesson="figure-1")["runs"][1]["updates"][0]
    assert first["predicted"] == [2, 4, 4, 0, 6, 4]
    assert [(mixed["margin"], mixed["gamma"]) for mixed in first["mixed"]] == [
        (-1, 0.125), (1, 0), (-4, 0.5), (-1, 0.125), (-2, 0.25)
    ]  # fmt: skip


def test_data_that_are_not_separable_have_no_bound():
    points = lesson("two-dimensions")
    mixed = Lesson("mixed", "not separable", points.problem, [[(1, 0)], [(1, 0)]], [(0,), (1,)])
    data = export_trace(lesson=mixed, epochs=2)
    assert data["separator"] is None
    assert data["runs"][0]["no_bound"] == "the data are not separable"
    with pytest.raises(InputError, match="unknown lesson 'figure'"):
        lesson("figure")
