"""A trace shows the updates that training makes: its counts and weights are those of the compiled kernels."""

import json
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from swvp import DependencyParser, InputError, SequenceTagger, StructuredPerceptron
from swvp.rules import mixed_assignment
from swvp.structures import PlainChain

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark", "a", "lot"]]
Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V", "D", "N"]]
TREEBANK = Path(__file__).parents[2] / "docs" / "data" / "toy-train.conllu"
RULES = ("csp", "a-wm", "b-wmr:impose", "a-wm:segments:sqrt", "a-uniform:mira", "csp:ada", "1xcsp..b-wm:pairs:count")


def counts(history):
    return [{k: v for k, v in epoch.as_dict().items() if k not in ("seconds", "norm")} for epoch in history]


def assert_traced(learner, data, weights):
    """Trace all updates; the epochs and the last weights must be those of `fit`."""
    trace = learner.trace(*data)
    updates = list(trace)
    learner.fit(*data)
    assert counts(trace.history) == counts(learner.history_)
    np.testing.assert_array_equal(trace.weights(), weights(learner))
    assert len(updates) == sum(epoch.mistakes for epoch in trace.history) > 0
    assert sum(update.violations for update in updates) == sum(epoch.violating for epoch in trace.history)
    assert sum(update.back_off is not None for update in updates) == sum(epoch.back_offs for epoch in trace.history)
    return updates


@pytest.mark.parametrize("rule", RULES)
def test_a_trace_of_a_tagger_ends_in_the_weights_of_fit(rule):
    tagger = SequenceTagger(rule=rule, epochs=4, average=False, random_state=0)
    updates = assert_traced(tagger, (X, Y), lambda t: np.concatenate([t.coef_.ravel(), t.transitions_.ravel()]))
    for update in updates:
        by = update.after.gold - update.after.predicted - (update.before.gold - update.before.predicted)
        assert by > 0 or not update.updated


@pytest.mark.parametrize("hashed", [2**16, None], ids=["hashed", "exact"])
@pytest.mark.parametrize("rule", ["csp", "a-wm:components", "a-uniform:mira"])
def test_a_trace_of_a_parser_ends_in_the_weights_of_fit(rule, hashed):
    parser = DependencyParser(rule=rule, epochs=2, average=False, labels=False, hashed=hashed, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the margin
        updates = assert_traced(parser, (TREEBANK,), lambda p: p.coef_)
    assert updates[0].structure == "heads"
    for update in updates:  # without a back-off or with one, w·Δφ of y* is what the scores say
        whole = [m for m in (*update.mixed, update.back_off) if m and m.positions == update.wrong_positions]
        assert all(m.margin == update.before.gold - update.before.predicted - len(m.positions) for m in whole)
    assert not any(change.name.startswith("weight ") for update in updates for change in update.changes)


def test_a_trace_of_a_structure_of_a_user_ends_in_the_weights_of_fit():
    rng = np.random.default_rng(0)
    inputs = [tuple(x) for x in rng.integers(3, size=(20, 5)).tolist()]
    labels = [tuple((a + b) % 2 for a, b in zip(x, (0, *x), strict=False)) for x in inputs]
    learner = StructuredPerceptron(PlainChain(symbols=3, labels=2), rule="b-wm", epochs=5, random_state=0)
    updates = assert_traced(learner, (inputs, labels), lambda s: s.last_coef_)
    for update in updates:
        assert [mixed.label for mixed in update.mixed] == [
            mixed_assignment(update.gold, update.predicted, mixed.positions) for mixed in update.mixed
        ]
        assert sum(mixed.gamma for mixed in update.used) == pytest.approx(1)
        assert update.weighted_margin == pytest.approx(sum(m.gamma * m.margin for m in update.used))


def test_changes_of_weights_add_up_to_the_weights():
    trace = SequenceTagger(rule="a-wm", epochs=2, random_state=0).trace(X, Y, features=10_000)
    total = {}
    for update in trace:
        for change in update.changes:
            assert change.before == total.get(change.feature, 0.0)
            total[change.feature] = change.after
    weights = trace.weights()
    assert {f: w for f, w in total.items() if w} == {f: weights[f] for f in np.flatnonzero(weights).tolist()}


def test_a_trace_leaves_a_fitted_learner_as_it_is():
    tagger = SequenceTagger(rule="a-wm", random_state=0).fit(X, Y)
    before = tagger.coef_.copy()
    list(tagger.trace([["Rex", "ran"]], [["X", "Y"]]))
    np.testing.assert_array_equal(tagger.coef_, before)
    assert tagger.classes_ == ["D", "N", "V"]


def test_an_update_becomes_json_and_html_with_every_text_escaped():
    tokens, labels = [["<script>alert(1)</script>", "b\x1b[31m"]], [[("<b>", 0), ("x", 1)]]
    first = next(SequenceTagger(rule="csp", features=["word[0]"], random_state=0).trace(tokens, labels))
    shown = json.loads(json.dumps(first.to_dict()))
    assert set(shown) == {field.name for field in fields(first)}
    assert shown["gold"] == ["('<b>', 0)", "('x', 1)"]
    page = first._repr_html_()
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "&lt;b&gt;" in page


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "rule 'softmax' cannot be traced: it compares y with all labels"),
        ({"rule": "crf"}, "rule 'crf' cannot be traced: it is no perceptron"),
        ({"rule": "b-maxent:all"}, "rule 'b-maxent:all' cannot be traced: it sums over all sub-structures"),
        ({"rule": "a-wm", "order": 2}, "a search with a beam or of second order cannot be traced"),
    ],
)
def test_what_cannot_be_traced_is_refused_in_one_line(options, why):
    with pytest.raises(InputError, match=f"^{why}.*use "):
        SequenceTagger(**options).trace(X, Y)


def test_a_parser_refuses_k_best_mira_and_second_order():
    with pytest.raises(InputError, match="rule 'mira:3' cannot be traced"):
        DependencyParser(rule="mira:3").trace(TREEBANK)
    with pytest.raises(InputError, match="a parser of second order cannot be traced"):
        DependencyParser(order=2).trace(TREEBANK)
