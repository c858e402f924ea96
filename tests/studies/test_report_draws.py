"""How much of the gain of choosing β is the best of ten draws of noise."""

import pytest

from swvp.studies import SyntheticResults, SyntheticSettings
from swvp.studies.synthetic.runs import Run
from swvp.studies.synthetic.summary import gains_of_choosing


def results(table):
    """Accuracies as {(dataset, β): (dev, test)}."""
    runs = [
        Run(1, dataset, "b-wm", beta, None, {}, {"last_dev": [dev], "last_test": [test]})
        for (dataset, beta), (dev, test) in table.items()
    ]
    return SyntheticResults(SyntheticSettings(), [], runs, {})


def test_a_beta_that_is_good_for_all_gains_as_much_on_the_others():
    table = {(dataset, beta): (0.6 + 0.1 * beta, 0.6 + 0.1 * beta) for dataset in range(3) for beta in (0.0, 1.0)}
    assert gains_of_choosing(results(table), 1, "b-wm") == pytest.approx((0.05, 0.05))


def test_luck_of_one_dataset_is_no_gain_on_the_others():
    lucky = {(0, 0.5): (0.9, 0.9), (0, 1.0): (0.5, 0.5), (1, 0.5): (0.5, 0.5), (1, 1.0): (0.9, 0.9)}
    own, others = gains_of_choosing(results(lucky), 1, "b-wm")
    assert own == pytest.approx(0.2)
    assert others == pytest.approx(-0.2)


def test_one_beta_or_one_dataset_leaves_nothing_to_say():
    assert gains_of_choosing(results({(0, 1.0): (1, 1), (1, 1.0): (1, 1)}), 1, "b-wm") is None
    assert gains_of_choosing(results({(0, 1.0): (1, 1), (0, 2.0): (1, 1)}), 1, "b-wm") is None
