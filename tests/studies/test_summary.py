"""The numbers of Table 1 from hand-made runs."""

import pytest
from scipy.stats import wilcoxon

from swvp.studies import SyntheticResults, SyntheticSettings
from swvp.studies.synthetic.runs import Run
from swvp.studies.synthetic.study import DatasetResult
from swvp.studies.synthetic.summary import PAPER, p_value, summarise_synthetic


def run(rule, beta, dataset, dev, test, *, averaged=(0.9, 0.9), updates=(10, 10), back_offs=(1, 0), failures=(0, 0)):
    accuracy = {
        "last_dev": [0.0, dev],
        "last_test": [0.0, test],
        "averaged_dev": [0.0, averaged[0]],
        "averaged_test": [0.0, averaged[1]],
    }
    history = {"updates": updates, "back_offs": back_offs, "condition_2_failures": failures}
    return Run(1, dataset, rule, beta, None, history, accuracy)


@pytest.fixture
def rules():
    runs = [
        run("csp", None, 0, 0.70, 0.70),
        run("csp", None, 1, 0.70, 0.70),
        # dataset 0: β = 2 is best on dev, wins on test, and is within half a point of the best test β
        run("a-wm", 1.0, 0, 0.75, 0.805, back_offs=(9, 9)),
        run("a-wm", 2.0, 0, 0.80, 0.80, back_offs=(1, 3), failures=(2, 0)),
        # dataset 1: equal on dev, so the smaller β; it beats CSP on dev, not on test, and is far from the best β
        run("a-wm", 1.0, 1, 0.71, 0.70, back_offs=(1, 1)),
        run("a-wm", 2.0, 1, 0.71, 0.706),
    ]
    settings = SyntheticSettings(setups=(1,), rules=("a-wm",), datasets=2, control=False)
    datasets = [DatasetResult(1, k, ceiling, ceiling, [], []) for k, ceiling in enumerate((0.8, 0.9))]
    (summary,) = summarise_synthetic(SyntheticResults(settings, datasets, runs, settings.to_json()))
    assert (summary.setup, summary.datasets) == (1, 2)
    assert summary.ceiling == pytest.approx(0.85)
    assert summary.ceiling_std == pytest.approx(0.05 * 2**0.5)
    return {rule.rule: rule for rule in summary.rules}


def test_beta_is_tuned_on_the_development_set_and_the_smallest_of_equals(rules):
    assert rules["a-wm"].last.beta == [2.0, 1.0]
    assert rules["a-wm"].last.test == [0.80, 0.70]
    assert rules["csp"].last.beta == [None, None]


def test_mean_and_standard_deviation_are_those_of_the_test_sets(rules):
    assert rules["a-wm"].last.mean == pytest.approx(0.75)
    assert rules["a-wm"].last.std == pytest.approx(0.1 / 2**0.5)


def test_a_win_is_a_better_test_accuracy(rules):
    assert rules["a-wm"].last.wins == 1
    assert rules["a-wm"].averaged.wins == 0


def test_better_on_dev_but_not_on_test_is_counted(rules):
    assert rules["a-wm"].last.dev_only_wins == 1


def test_a_tuned_beta_generalises_if_it_is_within_half_a_point_of_the_best(rules):
    assert rules["a-wm"].last.generalised == 1  # 0.805 - 0.80 is half a point, 0.706 - 0.70 is more


def test_rates_are_shares_of_the_updates_of_the_tuned_runs(rules):
    assert rules["a-wm"].last.back_off_rate == pytest.approx(6 / 40)
    assert rules["a-wm"].last.condition_2_rate == pytest.approx(2 / 40)


def test_csp_is_compared_with_nothing(rules):
    csp = rules["csp"].last
    assert (csp.wins, csp.dev_only_wins, csp.generalised, csp.p_value) == (None,) * 4


def test_equal_accuracies_have_p_value_1(rules):
    assert rules["a-wm"].averaged.p_value == 1.0


def test_the_paper_s_best_rules_are_those_its_text_names():
    def best(setup):
        return max(PAPER[setup], key=lambda rule: PAPER[setup][rule].mean)

    def gain(setup):
        return round(PAPER[setup][best(setup)].mean - PAPER[setup]["csp"].mean, 2)

    assert [(best(setup), gain(setup)) for setup in (1, 2, 3)] == [("b-wmr", 3.72), ("b-wm", 5.29), ("a-wm", 5.18)]


def test_equal_differences_are_ties_whatever_the_rounding():
    csp, rule = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.4, 0.5, 0.6, 0.7, 0.8, 0.3]  # five times +0.3, once -0.3
    assert p_value(rule, csp) == wilcoxon([3, 3, 3, 3, 3, -3]).pvalue
