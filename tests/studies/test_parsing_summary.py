"""Table 2 from single runs: how each column is chosen, and what is tested."""

import dataclasses

import numpy as np
import pytest

from helpers.parsing_results import WORDS, run, study, two_banks
from swvp.studies.common.tables import signed
from swvp.studies.parsing.page import paper_notes, words
from swvp.studies.parsing.runs import Share, Trained
from swvp.studies.parsing.summary import PAPER, PAPER_AVERAGE, choose, rate, summarise_parsing

B_WM = [
    run("b-wm", 0.5, 800, 805),
    run("b-wm", 1.0, 810, 800),  # the best on dev
    run("b-wm", 2.0, 809, 815),  # 0.1 points below it
    run("b-wm", 4.0, 808, 830),  # 0.2 points below it, and the best on test
]


def alone(runs):
    """Each run as the only one of its seeds."""
    return [Trained([run]) for run in runs]


def test_b_wm_is_tuned_on_dev_top_is_the_best_near_it_and_test_the_best_of_all():
    chosen = choose(alone([run("csp", None, 790, 790), *B_WM]))
    assert [chosen[column].beta for column in ("b_wm", "top", "test")] == [1.0, 2.0, 4.0]
    (summary,) = summarise_parsing(study([run("csp", None, 790, 790), *B_WM]), samples=10)
    assert [summary.means[column] for column in ("csp", "b_wm", "top", "test")] == [0.79, 0.80, 0.815, 0.83]


def test_equal_on_dev_is_the_smallest_beta():
    runs = [run("csp", None, 1, 1), run("b-wm", 0.5, 800, 1), run("b-wm", 1.0, 800, 2)]
    assert choose(alone(runs))["b_wm"].beta == 0.5


def test_the_best_rule_is_of_those_with_sub_structures_and_the_rival_of_the_others():
    runs = [
        run("csp", None, 790, 790),
        *B_WM,
        run("a-uniform:mira/1", None, 840, 700),
        run("mira/1", None, 860, 810),
        run("csp/30", None, 870, 820),
        run("csp-orders", None, 865, 999, draw=0),
    ]
    chosen = choose(alone(runs))
    assert chosen["best"].name == "a-uniform:mira/1"
    assert chosen["rival"].name == "csp/30"
    assert choose(alone(runs[:5]))["rival"].name == "csp"
    assert choose(alone(runs[:5]))["best"].name == "b-wm@1"


def test_csp_that_has_seen_the_sampled_sentences_is_no_rival_by_them():
    runs = [run("csp", None, None, 790), *B_WM, run("csp-rest", None, 780, 785)]
    assert choose(alone(runs))["rival"].name == "csp-rest"


def test_columns_without_a_rule_are_empty():
    (summary,) = summarise_parsing(study([run("csp", None, 790, 790), run("csp/30", None, 800, 800)]), samples=10)
    assert {column for column, mean in summary.means.items() if mean is None} == {"b_wm", "top", "test", "best"}
    assert list(summary.overall) == [("rival", "csp")]
    assert summary.score("b_wm") is None


def test_wins_and_losses_are_both_counted():
    (summary,) = summarise_parsing(study(two_banks()), samples=200)
    assert summary.score("b_wm") == (1, 1)
    assert (summary.rules[1].won, summary.rules[1].lost) == (1, 1)
    assert summary.rules[1].gains == pytest.approx([0.1, -0.01])
    assert summary.rules[1].gain == pytest.approx(0.045)


def test_each_treebank_is_tested_and_corrected_and_the_mean_too():
    (summary,) = summarise_parsing(study(two_banks()), samples=20_000)
    x, y = (treebank.compared["b_wm", "csp"] for treebank in summary.treebanks)
    assert x.difference == pytest.approx(0.1)
    assert (x.p, x.corrected) == pytest.approx((1 / 20001, 2 / 20001))
    assert y.difference == pytest.approx(-0.01)
    assert y.p == y.corrected == pytest.approx(2 / 2**10, rel=0.4)  # ten sentences with one word less
    assert summary.overall["b_wm", "csp"].difference == pytest.approx(0.045)


def test_nothing_chosen_on_the_test_set_is_tested():
    (summary,) = summarise_parsing(study(two_banks()), samples=10)
    assert not {column for pair in summary.overall for column in pair} & {"top", "test"}


def test_orders_are_summed_up_by_themselves():
    runs = two_banks() + [dataclasses.replace(found, order=2, test=Share(700, WORDS)) for found in two_banks()]
    first, second = summarise_parsing(study(runs, orders=(1, 2)), samples=10)
    assert (first.order, second.order) == (1, 2)
    assert (first.means["csp"], second.means["csp"]) == (0.8, 0.7)


def test_rates_are_shares_of_all_updates():
    assert rate(alone(two_banks()), "back_offs") == 1 / 20
    assert rate(alone(two_banks()), "condition_2_failures") == 4 / 20
    assert rate(alone(two_banks()), "without_violation", of="mistakes") == 5 / 25


@pytest.mark.parametrize(
    ("rule", "beta", "text"), [("csp", None, "csp"), ("a-wm/30", 0.5, "a-wm@0.5/30"), ("b-wm@2", None, "b-wm@2")]
)
def test_a_rule_is_shown_with_its_beta(rule, beta, text):
    assert run(rule, beta, 1, 1).name == text


def test_the_paper_s_wins_are_those_its_text_names():
    def wins(order, column):
        return sum(row[column] > row[0] for row in PAPER[order].values())

    assert [wins(1, 2), wins(1, 3)] == [5, 6]
    assert [wins(2, 2), wins(2, 3)] == [7, 7]
    assert wins(2, 1) == 5


def test_the_paper_s_average_is_told_where_it_is_not_the_mean():
    first, second = (list(paper_notes(order)) for order in (1, 2))
    assert "CSP 83.69 (mean 82.92)" in first[0]
    assert "Italian" in first[1]
    assert second == ["Printed averages that are not the mean of the lines above them: Test B-WM 83.35 (mean 83.25)."]
    assert PAPER_AVERAGE[2][0] == pytest.approx(np.mean([row[0] for row in PAPER[2].values()]), abs=0.01)


def test_the_summary_says_losses_too():
    results = study(two_banks())
    found = dict(words(results, summarise_parsing(results, samples=2_000)))
    text = found["First order, B-WM against CSP"].replace("\u00a0", " ")
    assert text.startswith("+4.50 points on average (95 % interval ")
    assert text.endswith("above on 1 of 2 treebanks (1 significant after correction), below on 1 (1 significant).")


def test_the_summary_says_how_much_the_order_of_training_changes():
    runs = [
        run("csp", None, 800, 800),
        run("csp-orders", None, 801, 790, draw=0),
        run("csp-orders", None, 802, 797, draw=1),
    ]
    results = study(runs, control=True)
    text = dict(words(results, summarise_parsing(results, samples=10)))["First order, orders of training"]
    assert "on 3 random orders of the sentences varies by 1.00 points." in text
    assert "(csp-orders) differs from CSP by −0.30 points" in text


def test_the_summary_says_what_the_sampled_sentences_are_worth():
    results = study([run("csp", None, None, 800), run("csp-rest", None, 700, 790)], sampled=True)
    text = dict(words(results, summarise_parsing(results, samples=10)))["First order, sampled dev sentences"]
    assert "(csp-rest) differs from CSP by −1.00 points" in text


@pytest.mark.parametrize(("value", "text"), [(0.0123, "+1.23"), (-0.0123, "−1.23"), (-0.00001, "0.00")])
def test_differences_have_a_sign(value, text):
    assert signed(value) == text


def seeded(*runs):
    """The same runs with three seeds; the second and third have 2 and 4 correct test words more."""
    return [
        dataclasses.replace(
            found,
            seed=seed,
            test=Share(found.test.right + 2 * seed, WORDS),
            right=[right + (k < 2 * seed) for k, right in enumerate(found.right)],
        )
        for found in runs
        for seed in range(3)
    ]


def test_seeds_are_averaged_and_their_spread_is_told():
    (summary,) = summarise_parsing(study(seeded(*two_banks())), samples=100)
    x = summary.treebanks[0].runs["csp"]
    assert (len(x.runs), x.uas, x.std) == (3, pytest.approx(0.802), pytest.approx(0.002))
    assert summary.rules[0].std == pytest.approx(0.002)
    assert summary.treebanks[0].compared["b_wm", "csp"].difference == pytest.approx(0.1)
    assert summary.treebanks[0].compared["b_wm", "csp"].p < 0.02


def test_the_answer_compares_rules_of_one_step():
    runs = [
        run("csp", None, 790, 790),
        *B_WM,
        run("a-uniform:mira/1", None, 805, 830),
        run("mira/1", None, 860, 810),
        run("csp-orders", None, 795, 780, draw=0),
        run("csp-orders", None, 796, 785, draw=1),
    ]
    (summary,) = summarise_parsing(study(runs), samples=50)
    (found,) = summary.answer.contrasts
    assert (found.best, found.rival) == ("b-wm@1", "csp-orders")
    assert found.tested.difference == pytest.approx(0.015)
    assert found.plain == "mira/1"
    assert found.alone.difference == pytest.approx(0.02)
    runs[5] = run("a-uniform:mira/1", None, 811, 830)
    (summary,) = summarise_parsing(study(runs), samples=50)
    assert (summary.answer.contrasts[0].best, summary.answer.contrasts[0].rival) == ("a-uniform:mira/1", "mira/1")


def test_a_study_without_sub_structures_has_no_answer():
    (summary,) = summarise_parsing(study([run("csp", None, 790, 790), run("mira/1", None, 800, 800)]), samples=10)
    assert summary.answer is None
