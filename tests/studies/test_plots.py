"""Plots draw what they are given, on axes of the user, and leave labels as they are."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from swvp import InputError, SequenceTagger, plots
from swvp.evaluation import Confusion

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["dogs", "bark", "a", "lot"]]
Y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V", "D", "N"]]


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    figure.canvas.draw()
    plt.close(figure)


@pytest.fixture(scope="module")
def updates():
    return list(SequenceTagger(rule="b-wm", random_state=0).trace(X, Y, epochs=4, features=1000))


def test_a_learning_curve_has_mistakes_and_dev_scores(axes):
    tagger = SequenceTagger(rule="a-wm", epochs=3, random_state=0).fit(X, Y, dev=(X, Y))
    assert plots.learning_curve(tagger, ax=axes) is axes
    shares = [100 * epoch.mistakes / epoch.examples for epoch in tagger.history_]
    assert axes.lines[0].get_ydata().tolist() == pytest.approx(shares)
    (right,) = set(axes.figure.axes) - {axes}
    assert right.lines[0].get_ydata().tolist() == pytest.approx([100 * score for score in tagger.dev_scores_])


def test_gamma_and_margins_are_those_of_the_updates(axes, updates):
    plots.gamma_margins(updates, ax=axes)
    drawn = sorted(tuple(point) for part in axes.collections for point in part.get_offsets().tolist())
    mixed = [(m.margin, m.gamma) for update in updates if update.back_off is None for m in update.mixed]
    np.testing.assert_allclose(drawn, sorted(mixed))


def test_weights_over_time_end_at_the_last_weights(axes, updates):
    plots.weights_over_time(updates, n=3, ax=axes)
    last = {}
    for update in updates:
        last |= {change.name: change.after for change in update.changes}
    ends = {line.get_label(): line.get_ydata()[-1] for line in axes.lines[:3]}
    assert ends == {name: last[name] for name in ends}


def test_labels_with_dollars_are_no_formulas(axes):
    plots.confusion_matrix(Confusion({("PRP$", "WP$"): 2, ("WP$", "WP$"): 1}), ax=axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["PRP$ (2)", "WP$ (1)"]
    assert not any(label.get_parse_math() for label in axes.get_yticklabels())


def test_calibration_draws_the_share_that_is_right(axes):
    plots.calibration([0.95, 0.95, 0.25, 0.25], [True, True, False, True], bins=2, ax=axes)
    np.testing.assert_allclose(axes.lines[1].get_ydata(), [0.5, 1.0])
    with pytest.raises(InputError, match="probabilities must be numbers from 0 to 1"):
        plots.calibration([1.5], [True], ax=axes)


def test_a_curve_of_rules_needs_a_beta():
    with pytest.raises(InputError, match="there is no β to draw"):
        plots.beta_curve({"csp": {None: 90.0}})


def test_one_update_and_pairs_of_labels_are_enough(axes, updates):
    plots.gamma_margins(next(update for update in updates if update.back_off is None and update.updated), ax=axes)
    plots.confusion_matrix([["D", "N"]], [["D", "D"]], ax=axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["D (1)", "N (1)"]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="give the fitted learner itself, not its history_"):
        plots.learning_curve([])
    with pytest.raises(InputError, match="confusion must be what evaluate_tags returns, or gold labels, not"):
        plots.confusion_matrix([["D"]])
