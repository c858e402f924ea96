"""What the report states about the paper's words "converged after at most 10 iterations"."""

import pytest

from swvp.studies import SyntheticResults, SyntheticSettings
from swvp.studies.synthetic.runs import Run
from swvp.studies.synthetic.words import convergence


def run(rule, mistakes, last, averaged):
    return Run(1, 0, rule, None, None, {"mistakes": mistakes}, {"last_test": last, "averaged_test": averaged})


def results(*runs, epochs=3):
    settings = SyntheticSettings(epochs=epochs, sizes=(100, 10, 10))
    return SyntheticResults(settings, [], list(runs), settings.to_json())


def said(*runs, **options):
    return convergence(results(*runs, **options)).replace("\u00a0", " ")


NEVER = run("b-wm", [60, 50, 40], [0.5, 0.7, 0.6], [0.6, 0.70, 0.71])
SOON = run("b-wmr", [60, 0], [0.5, 0.8], [0.6, 0.8])
CSP = run("csp", [60, 50, 30], [0.5, 0.6, 0.9], [0.6, 0.7, 0.8])


def test_trainings_with_an_epoch_without_a_mistake_are_counted():
    assert "without a mistake by then: 1 of 2 with balanced rules and 0 of 1 with other rules." in said(
        NEVER, SOON, CSP
    )


def test_a_late_epoch_without_a_mistake_is_not_one_of_the_first_ten():
    late = run("b-wm", [5] * 10 + [0], [0.5] * 11, [0.5] * 11)
    assert "by then: 0 of 1 with balanced rules." in said(late, epochs=20)


def test_the_errors_of_the_last_epoch_are_those_of_balanced_rules():
    assert "In the last epoch balanced rules make mistakes on 20.0 % of the examples (median)." in said(
        NEVER, SOON, CSP
    )


def test_the_last_step_is_the_median_of_its_size():
    text = said(NEVER, CSP)
    assert "Between epoch 2 and the last one their test accuracy changes by 10.00 points with last weights" in text
    assert "and 1.00 points with averaged weights (median)." in text


def test_after_more_than_ten_epochs_the_change_since_the_tenth_is_reported():
    long = run("b-wm", [5] * 12, [*[0.5] * 9, 0.6, 0.8, 0.75], [*[0.5] * 9, 0.7, 0.7, 0.72])
    assert "Between epoch 10 and the last one their test accuracy changes by 15.00 points" in said(long, epochs=12)


def test_a_study_without_balanced_rules_speaks_of_the_others():
    assert "In the last epoch other rules make mistakes on 30.0 %" in said(CSP)


@pytest.mark.parametrize("epochs", [1])
def test_one_epoch_has_no_step(epochs):
    assert "Between" not in said(run("b-wm", [50], [0.5], [0.5]), epochs=epochs)
