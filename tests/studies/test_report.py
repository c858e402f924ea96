"""The HTML report of the synthetic study: its content, words that follow from the numbers, self-contained."""

import base64
import dataclasses
import itertools
import re
import shlex
from concurrent.futures import ThreadPoolExecutor

import matplotlib
import pytest
from typer.testing import CliRunner

from helpers.pages import Page
from swvp.cli import app
from swvp.studies.common.page import looks
from swvp.studies.common.running import CONTROL
from swvp.studies.common.tables import points
from swvp.studies.synthetic import page as html
from swvp.studies.synthetic.runs import Run
from swvp.studies.synthetic.settings import SyntheticSettings
from swvp.studies.synthetic.study import DatasetResult, SyntheticResults, run_synthetic
from swvp.studies.synthetic.summary import PAPER, SIGNIFICANCE_TEST, answers_of, summarise_synthetic
from swvp.studies.synthetic.words import CHOICES, words

TINY = SyntheticSettings(
    setups=(1, 3), datasets=2, sizes=(40, 20, 20), epochs=2, betas=(0.5, 2.0), rules=("a-wm", "a-uniform", "b-wm:pairs")
)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return run_synthetic(TINY, tmp_path_factory.mktemp("study"))


def render(results):
    return html.render_synthetic(results, summarise_synthetic(results))


@pytest.fixture(scope="module")
def page(real):
    return render(real)


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without figures, which take most of the time."""
    monkeypatch.setattr(html, "figures", lambda results, summaries: [])


def study(last, averaged=None, *, setups=(1,), datasets=2, betas=(0.5, 2.0), epochs=3, ceiling=0.9, stopped=None):
    """Results in which each rule has the given accuracy with its first β, and 0.02 less with each further one.

    A rule in `stopped` converged after that many epochs; "a-uniform" has no β, as CSP.
    """
    settings = SyntheticSettings(setups=setups, datasets=datasets, betas=betas, epochs=epochs, control=CONTROL in last)
    runs = []
    for setup, dataset, rule in itertools.product(setups, range(datasets), last):
        length = (stopped or {}).get(rule, epochs)
        history = {"updates": [10] * length, "back_offs": [3] * length, "condition_2_failures": [1] * length}
        history["mistakes"] = [*[350] * (length - 1), 0 if length < epochs else 350]
        for k, beta in enumerate(betas[:1] if rule in ("csp", "a-uniform") else betas):
            less = [0.02 * k - 0.001 * dataset + 0.003 * (length - n) for n in range(1, length + 1)]
            curves = {
                f"{kind}_{part}": [means[rule] - each for each in less]
                for kind, means in (("last", last), ("averaged", averaged or last))
                for part in ("dev", "test")
            }
            beta = None if rule in ("csp", "a-uniform", CONTROL) else beta
            runs.append(Run(setup, dataset, rule, beta, None, history, curves))
    hmm = (ceiling, ceiling, [[0.75, 0.25]] * 2, [[1.0, 0.0]] * 2)
    data = [DatasetResult(setup, dataset, *hmm) for setup in setups for dataset in range(datasets)]
    rules = tuple(rule for rule in last if rule != CONTROL)
    object.__setattr__(settings, "rules", rules)  # some are no rules, to see what a page makes of their names
    return SyntheticResults(settings, data, runs, settings.to_json())


def said(results, about):
    """What the summary says about something, with plain spaces."""
    return dict(words(results, summarise_synthetic(results)))[about].replace("\u00a0", " ")


def test_the_page_takes_nothing_from_outside(page):
    addresses = [
        value for _, name, value in Page(page).attributes if name in ("src", "href", "srcset", "data", "action")
    ]
    assert addresses
    assert all(value.startswith("data:image/svg+xml;base64,") for value in addresses)
    assert not re.search(r"<script|<link|<iframe|@import|url\(", page)


def test_the_figures_take_nothing_from_outside(page):
    for encoded in re.findall(r"base64,([^\"]+)", page):
        picture = base64.b64decode(encoded).decode()
        assert picture.startswith("<?xml")
        assert not re.search(r"href=\"(?!#)|url\((?!#)|<script|<image", picture)


def test_every_tag_is_closed_where_it_was_opened(page):
    assert Page(page).open == []


def test_the_same_results_give_the_same_page(real, page):
    assert render(real) == page


@pytest.mark.slow
def test_the_page_is_the_same_from_two_threads_and_whatever_the_users_matplotlib_style():
    results = study({"csp": 0.7, "a-wm": 0.8})
    page = render(results)
    with (
        matplotlib.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.labelcolor": "red"}),
        ThreadPoolExecutor(2) as pool,
    ):
        assert list(pool.map(render, [results, results])) == [page, page]


def test_rendering_leaves_the_users_matplotlib_style_alone():
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": "mine"}):
        before = {name: value for name, value in matplotlib.rcParams.items() if name != "backend"}
        render(study({"csp": 0.7}))
        assert {name: matplotlib.rcParams[name] for name in before} == before


def test_the_tables_show_every_number_of_the_summary(real, page):
    rows = Page(page).rows
    for summary in summarise_synthetic(real):
        for rule in summary.rules:
            for tuned in (rule.last, rule.averaged):
                row = next(
                    row for row in rows if row[:2] == [rule.rule, f"{100 * tuned.mean:.2f} ({100 * tuned.std:.2f})"]
                )
                counts = [tuned.wins, tuned.generalised, tuned.dev_only_wins]
                for count, cell in zip(counts, row[4:7], strict=True):
                    assert cell in ("–", f"{count}/2")
                assert row[7] == ("–" if tuned.p_value is None else f"{tuned.p_value:.3f}")
                assert row[8:10] == [f"{100 * tuned.back_off_rate:.1f} %", f"{100 * tuned.condition_2_rate:.1f} %"]
        assert ["Bayes ceiling", f"{100 * summary.ceiling:.2f} ({100 * summary.ceiling_std:.2f})", "", ""] in rows


def test_a_table_names_its_significance_test(page):
    assert page.count(SIGNIFICANCE_TEST) == len(TINY.setups)


def test_the_papers_numbers_stand_beside_the_last_weights(undrawn):
    rows = Page(render(study({"csp": 0.7, "a-wm": 0.8}))).rows
    last, averaged = [row for row in rows if row[0] == "a-wm"]
    mean, std, wins, generalised = PAPER[1]["a-wm"]
    assert last[-3:] == [f"{mean:.2f} ({std:.2f})", f"{wins}/10", f"{generalised}/10"]
    assert averaged[-3:] == ["", "", ""]


def test_untuned_is_the_mean_over_beta(undrawn):
    rows = Page(render(study({"csp": 0.7, "a-wm": 0.8}))).rows
    assert next(row for row in rows if row[0] == "a-wm")[1:3] == ["80.05 (0.07)", "79.05"]


def test_by_others_is_the_accuracy_with_beta_chosen_on_the_other_datasets(undrawn):
    rows = Page(render(study({"csp": 0.7, "a-wm": 0.8}))).rows
    assert next(row for row in rows if row[0] == "a-wm")[3] == "80.05"  # the first β is the best on all of them


def test_the_summary_says_how_much_of_the_tuning_gain_is_chance():
    text = said(study({"csp": 0.7, "a-wm": 0.8, "b-wm": 0.75}), "How much of the tuning gain is chance")
    assert "mean over the rules: in setup 1 +1.00 and +1.00. The difference" in text


def test_the_best_accuracy_of_each_kind_of_weights_is_bold(undrawn):
    page = render(study({"csp": 0.7, "a-wm": 0.8}, {"csp": 0.88, "a-wm": 0.85}))
    assert re.findall(r"<b>([\d.]+ \(0\.07\))</b>", page) == ["80.05 (0.07)", "88.05 (0.07)"]


def test_the_control_is_not_bold_even_where_it_is_as_good_as_the_best(undrawn):
    page = render(study({"csp": 0.7, "a-wm": 0.8, CONTROL: 0.8}))
    assert page.count("<b>80.05 (0.07)</b>") == page.count("<td>80.05 (0.07)</td>") == 2  # last and averaged


def test_markup_in_a_rule_name_is_text():
    page = render(study({"csp": 0.7, 'a-<img src="x">&$\\frac$': 0.8}))
    assert "<img src=&" not in page
    assert '<img src="x">' not in page
    assert "a-&lt;img src=&#34;x&#34;&gt;&amp;$\\frac$" in page
    assert any(row[0] == 'a-<img src="x">&$\\frac$' for row in Page(page).rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "results",
    [
        pytest.param(study({"csp": 0.7}), id="only csp"),
        pytest.param(study({"csp": 0.7, CONTROL: 0.8}), id="csp and the control"),
        pytest.param(study({"csp": 0.7, "a-wm": 0.8}, datasets=1), id="one dataset"),
        pytest.param(study({"csp": 0.7, "a-wm": 0.8}, betas=(1.0,), epochs=1), id="one beta, one epoch"),
        pytest.param(study({"csp": 0.7, "a-uniform": 0.8}), id="no beta"),
        pytest.param(study({"csp": 0.7, "a-wm:segments:sqrt": 0.8, "a-uniform": 0.6}, stopped={"csp": 1}), id="colons"),
        pytest.param(
            study({"csp": 0.7, **{f"a-wm:{n}": 0.8 for n in range(36)}}, datasets=1), id="more rules than colours"
        ),
    ],
)
def test_unusual_studies_have_a_whole_page(results):
    page = render(results)
    rules = {row[0] for row in Page(page).rows}
    assert {run.rule for run in results.runs} <= rules
    has_answer = "The answer." in page
    assert has_answer == bool(answers_of(summarise_synthetic(results)))
    assert page.count("<figcaption>") == has_answer + (2 if all(run.beta is None for run in results.runs) else 4)
    assert "nan" not in re.sub(r"base64,[^\"]+", "", page)


def test_one_dataset_has_no_standard_deviation(undrawn):
    rows = Page(render(study({"csp": 0.7}, datasets=1))).rows
    assert next(row for row in rows if row[0] == "csp")[1] == "70.00"


def test_the_summary_says_that_the_rules_are_above_csp_when_they_are():
    text = said(study({"csp": 0.7, "a-wm": 0.8, "b-wm": 0.75}), "Last weights")
    assert text == "In setup 1 all 2 rules are above CSP (70.05 %) by 5.00 to 10.00 points (0 of 2 with p < 0.05)."


def test_the_summary_says_that_the_rules_are_below_csp_when_they_are():
    text = said(study({"csp": 0.8, "a-wm": 0.7, "b-wm": 0.75}), "Last weights")
    assert text == "In setup 1 all 2 rules are below CSP (80.05 %) by 5.00 to 10.00 points (0 of 2 with p < 0.05)."


def test_the_summary_names_the_rules_on_each_side():
    text = said(study({"csp": 0.7, "a-wm": 0.8, "b-wm": 0.69, "b-wmr": 0.7}, datasets=1), "Last weights")
    expected = "a-wm is above CSP (70.00 %) by 10.00 points, b-wm is below it by 1.00 points, b-wmr is level with it."
    assert text == f"In setup 1 {expected}"


def test_the_summary_does_not_count_the_control_as_a_rule():
    text = said(study({"csp": 0.7, "a-wm": 0.8, "b-wm": 0.8, CONTROL: 0.6}), "Last weights")
    assert text == "In setup 1 all 2 rules are above CSP (70.05 %) by 10.00 points (0 of 2 with p < 0.05)."


def test_the_summary_counts_significant_differences():
    assert "(1 of 1 with p < 0.05)" in said(study({"csp": 0.7, "a-wm": 0.8}, datasets=6), "Last weights")


def test_the_summary_speaks_of_averaged_weights_by_their_own_numbers():
    results = study({"csp": 0.7, "a-wm": 0.8}, {"csp": 0.88, "a-wm": 0.85})
    assert "a-wm is above CSP (70.05 %) by 10.00 points" in said(results, "Last weights")
    assert "a-wm is below CSP (88.05 %) by 3.00 points" in said(results, "Averaged weights")


@pytest.mark.parametrize(("ceiling", "distance"), [(0.9, "9.95 points below"), (0.75, "5.05 points above")])
def test_the_summary_says_how_far_the_best_is_from_the_ceiling(ceiling, distance):
    text = said(study({"csp": 0.7, "a-wm": 0.8}, ceiling=ceiling), "Ceiling")
    assert text.startswith(
        f"In setup 1 a-wm with last weights is the best, {distance} the ceiling of {100 * ceiling:.2f} %"
    )


@pytest.mark.parametrize(("csp", "wins"), [(0.75, "1 of 2 in setup 1"), (0.795, "0 of 2 in setup 1")])
def test_the_summary_says_what_is_left_without_tuning(csp, wins):
    assert wins in said(study({"csp": csp, "a-wm": 0.8, "b-wm": 0.75}), "Tuning")


@pytest.mark.parametrize(
    ("control", "side"), [(0.77, "above csp-orders (77.05 %)"), (0.83, "below csp-orders (83.05 %)")]
)
def test_the_summary_compares_the_rules_with_the_control(control, side):
    assert f"a-wm is {side} by 3.00 points" in said(study({"csp": 0.7, "a-wm": 0.8, CONTROL: control}), "Tuning")


def test_a_paper_number_far_away_is_noted_and_left_out_of_the_figure(undrawn):
    results = study({"csp": 0.88, "a-wm": 0.9}, setups=(3,))
    (summary,) = summarise_synthetic(results)
    assert html.accuracies(summary).axes[0].get_xlim()[0] > 80
    assert "The paper prints accuracies of 25 to 30 % for this setup; ours are 88 to 90 %" in render(results)


def test_a_paper_number_nearby_is_a_cross_in_the_figure_and_has_no_note(undrawn):
    results = study({"csp": 0.7, "a-wm": 0.8})
    (summary,) = summarise_synthetic(results)
    crosses = [line.get_xdata()[0] for line in html.accuracies(summary).axes[0].lines if line.get_marker() == "x"]
    assert crosses == [PAPER[1]["csp"].mean, PAPER[1]["a-wm"].mean]
    assert "The paper prints accuracies" not in render(results)


def test_beta_curves_are_means_over_the_datasets():
    results = study({"csp": 0.7, "a-wm": 0.8})
    lines = html.beta_curves(results, summarise_synthetic(results)[0], "last").axes[1].lines
    solid = next(line for line in lines if line.get_marker() == "s")
    assert list(solid.get_xdata()) == [0.5, 2.0]
    assert list(solid.get_ydata()) == pytest.approx([80.05, 78.05])


def test_a_run_that_converged_early_stays_level_in_the_learning_curves():
    results = study({"csp": 0.7, "a-wm": 0.8}, stopped={"a-wm": 1})
    lines = html.learning_curves(results, summarise_synthetic(results)[0]).axes[0].lines
    csp, rule = (line.get_ydata() for line in lines[:2])
    assert list(csp) == pytest.approx([69.45, 69.75, 70.05])
    assert list(rule) == pytest.approx([80.05] * 3)


def test_rates_are_shares_of_all_updates():
    results = study({"csp": 0.7, "a-wm": 0.8})
    back_off, failed = html.rates(results, summarise_synthetic(results)[0]).axes
    assert [list(axes.lines[0].get_ydata()) for axes in (back_off, failed)] == [[30.0, 30.0], [10.0, 10.0]]


def test_rules_differ_in_colour_or_marker():
    pairs = looks(["csp", *(f"rule {n}" for n in range(30)), CONTROL])
    assert len(set(pairs.values())) == 32


def test_a_rule_has_one_colour_in_all_figures():
    results = study({"csp": 0.7, "a-wm": 0.8, "b-wm": 0.6})
    (summary,) = summarise_synthetic(results)
    drawn = (
        html.accuracies(summary),
        html.beta_curves(results, summary, "last"),
        html.learning_curves(results, summary),
    )
    colours = [{line.get_color() for line in figure.axes[0].lines} - {html.GREY} for figure in drawn]
    assert colours[0] == colours[1] == colours[2] == {look.colour for look in looks(["csp", "a-wm", "b-wm"]).values()}


def test_few_datasets_are_noted_as_too_few_for_the_test(undrawn):
    assert "With 2 datasets this test cannot give a p below 0.5." in render(study({"csp": 0.7, "a-wm": 0.8}))


def test_every_choice_and_every_setting_is_listed(real, page):
    rows = Page(page).rows
    for choice in CHOICES:
        assert list(choice) in rows
    assert {row[0] for row in rows} >= set(real.header)
    assert ["sizes", "40, 20, 20"] in rows


@pytest.mark.parametrize(
    "settings",
    [
        TINY,
        SyntheticSettings(),
        SyntheticSettings(
            control=False, shuffle=True, seed=7, hmm="per-dataset", betas=(0.125, 1e-05), rules=("a-softmin:pairs",)
        ),
    ],
)
def test_the_command_on_the_page_gives_the_same_settings(settings, monkeypatch):
    received = []
    monkeypatch.setattr("swvp.cli.experiment.run_study", lambda settings, folder, *_: received.append(settings))
    command = shlex.split(html.command_of(SyntheticResults(settings, [], [], settings.to_json())))
    assert command[0] == "swvp"
    assert CliRunner().invoke(app, command[1:]).exit_code == 0
    assert received == [settings]


def test_an_hmm_shared_by_the_datasets_is_shown_once():
    results = study({"csp": 0.7}, setups=(1, 2))
    assert [len(hmm.datasets) for hmm in html.hmms(results.datasets)] == [2, 2]


def test_an_hmm_of_its_own_is_shown_for_each_dataset(undrawn):
    results = study({"csp": 0.7})
    results.datasets[1] = dataclasses.replace(results.datasets[1], emission=[[0.5, 0.5]] * 2)
    page = render(results)
    assert "<summary>Setup 1, dataset 0</summary>" in page
    assert "<summary>Setup 1, dataset 1</summary>" in page


def test_differences_are_those_of_the_printed_numbers():
    assert points(0.81804, 0.77266) == pytest.approx(81.80 - 77.27)


def test_the_answer_compares_the_best_rule_with_csp_that_has_as_many_tries():
    results = study({"csp": 0.7, "a-wm": 0.8, CONTROL: 0.75}, datasets=6)
    averaged, last = answers_of(summarise_synthetic(results))
    assert (averaged.group, last.group) == ("Averaged weights", "Last weights")
    (found,) = last.contrasts
    assert (found.dataset, found.best, found.rival, found.plain) == ("Setup 1", "a-wm", CONTROL, CONTROL)
    assert found.tested.difference == pytest.approx(0.05)
    assert found.alone.difference == pytest.approx(0.05)
    assert found.tested.p == pytest.approx(2 / 2**6)
