"""The tagging study: what is trained and measured, interrupted and resumed, its report and its command."""

import csv
import dataclasses
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from helpers.pages import Page
from swvp import SequenceTagger
from swvp.cli import app
from swvp.errors import InputError
from swvp.evaluation import sentence_counts
from swvp.io import read_columns
from swvp.studies import (
    TaggingResults,
    TaggingSettings,
    find_datasets,
    load_results,
    run_tagging,
    summarise_tagging,
    write_report,
)
from swvp.studies.common import running
from swvp.studies.tagging import page as html
from swvp.studies.tagging.page import print_tables
from swvp.studies.tagging.runs import Run, Timing, sentence_scores
from swvp.studies.tagging.settings import tagger_options
from swvp.studies.tagging.study import DatasetSizes, trainings
from swvp.tagging.corpus import corpus_of, labels_of

DATA = Path(__file__).parents[2] / "docs" / "data"
NAMES = f"names={','.join(str(DATA / f'names-{part}.txt') for part in ('train', 'dev', 'test'))}"
TAGS = f"tags={','.join(str(DATA / f'toy-{part}.conllu') for part in ('train', 'test'))},target=upos"


@pytest.fixture(scope="module")
def settings():
    """Phrases with a dev file, tags without one."""
    return TaggingSettings(
        datasets=find_datasets([NAMES, TAGS]), rules=("csp", "a-wm", "mira"), betas=(2.0, 0.5), epochs=2, seeds=2
    )


@pytest.fixture(scope="module")
def results(settings, tmp_path_factory):
    return run_tagging(settings, tmp_path_factory.mktemp("study"), jobs=2)


def timeless(results):
    fields = results.to_json()
    return json.dumps({**fields, "runs": [{**run, "timing": None} for run in fields["runs"]]})


def test_every_training_is_in_the_results_once(results):
    groups = [("csp", None), ("a-wm", 0.5), ("a-wm", 2.0), ("mira", None)]
    expected = [(name, *group, seed) for name in ("names", "tags") for group in groups for seed in (0, 1)]
    assert [tuple(run.training) for run in results.runs] == expected


def test_the_metric_is_that_of_the_labels_and_a_missing_dev_set_is_sampled(results):
    names, tags = results.datasets
    assert (names.metric, names.sampled, names.features) == ("F1", False, "ner")
    assert (tags.metric, tags.sampled, tags.features) == ("accuracy", True, "pos")
    assert tags.sentences["train"] + tags.sentences["dev"] == 32


def test_a_run_can_be_redone_in_python(results):
    def read(part):
        sentences = read_columns(DATA / f"names-{part}.txt").sentences
        return [[token[0] for token in s] for s in sentences], [[token[-1] for token in s] for s in sentences]

    tagger = SequenceTagger(rule="a-wm", beta=2.0, epochs=2, random_state=1, features="ner")
    tagger.fit(*read("train"), dev=read("dev"))
    run = next(run for run in results.runs if run.training == ("names", "a-wm", 2.0, 1))
    words, gold = read("test")
    counts = sentence_counts(gold, tagger.predict(words), "f1")
    assert [run.right, run.total] == counts.T.tolist()
    assert (run.dev, run.epoch) == (tagger.dev_scores_, tagger.best_epoch_)
    assert run.accuracy == tagger.score(words, gold)


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_counts_of_sentences_are_those_of_evaluation(measure):
    rng = np.random.default_rng(0)
    labels = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    gold, predicted = ([[labels[k] for k in rng.integers(5, size=n)] for n in (1, 7, 3, 9, 2)] for _ in range(2))
    gold[0] = ["B-NEW"]  # a label that training did not have
    corpus = corpus_of([["w"] * len(labels) for labels in gold], gold, None)
    counts, accuracy = sentence_scores(corpus, labels_of(predicted), phrases=measure == "f1")
    assert counts.tolist() == sentence_counts(gold, predicted, measure).tolist()
    assert accuracy == np.divide(*sentence_counts(gold, predicted).sum(axis=0))


def test_results_do_not_depend_on_the_number_of_threads(settings, results, tmp_path):
    assert timeless(run_tagging(settings, tmp_path, jobs=1)) == timeless(results)


def test_results_survive_the_way_through_json(results):
    again = TaggingResults.from_json(json.loads(json.dumps(results.to_json())))
    assert again.to_json() == results.to_json()
    assert again.settings.to_json() == results.settings.to_json()


def test_a_stopped_study_resumes_where_it_was(settings, results, tmp_path):
    def stop_after_five(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tagging(settings, tmp_path, progress=stop_after_five)
    kept = (tmp_path / running.NAME).read_text().splitlines()
    assert 5 <= len(kept) - 1 < len(results.runs)
    seen = []
    resumed = run_tagging(settings, tmp_path, progress=lambda done, total: seen.append(done))
    assert seen[0] == len(kept) - 1
    assert timeless(resumed) == timeless(results)


def test_files_of_a_report(results, tmp_path):
    report = write_report(results, tmp_path, summaries=summarise_tagging(results, samples=50))
    assert Page(report.read_text()).open == []
    rows = list(csv.DictReader((tmp_path / "scores.csv").open()))
    assert [float(row["test"]) for row in rows] == [run.score for run in results.runs]
    assert (tmp_path / "report.txt").read_text().startswith("Do sub-structures and γ pay")
    assert load_results(tmp_path / "results.json").runs == results.runs


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"datasets": ()}, "no dataset"),
        ({"rules": ("a-wn",)}, "unknown gamma 'wn'"),
        ({"rules": ("a-wm", "a-wm")}, "rules must be"),
        ({"rules": ("csp+nothing=1",)}, "unknown option of rule 'csp.nothing=1': 'nothing'"),
        ({"rules": ("csp+epochs=1",)}, "unknown option of"),
        ({"rules": ("mira:5+order=2",)}, "rule 'mira:5' is for order 1"),
        ({"options": {"nothing": 1}}, "unknown option 'nothing'"),
        ({"betas": (0.0,)}, "beta must be a number > 0"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_settings_are_told(settings, changes, message):
    with pytest.raises(InputError, match=message):
        dataclasses.replace(settings, **changes)


def test_rules_and_options_reach_the_tagger_as_they_are_written(settings):
    changed = dataclasses.replace(settings, rules=("mira:3+C=0.1", "crf+l2=2", "a-wm@4"), options={"average": False})
    assert changed.rules == ("csp", "mira:3+C=0.1", "crf+l2=2", "a-wm@4")
    assert len(trainings(changed)) == 2 * 2 * 4
    options = [tagger_options(changed, html.notation(rule), None) for rule in changed.rules]
    assert options[1] == {"rule": "mira:3", "epochs": 2, "average": False, "C": 0.1}
    assert options[2] == {"rule": "crf", "epochs": 2, "average": False, "l2": 2}
    assert options[3]["beta"] == 4.0


@pytest.mark.parametrize(
    ("argument", "message"),
    [("a,b,nothing=1", "unknown option of"), ("nowhere", "cannot read nowhere"), (f"{NAMES},column=x", None)],
)
def test_bad_datasets_are_told(argument, message, tmp_path):
    if message is not None:
        with pytest.raises(InputError, match=message):
            find_datasets([argument])
        return
    settings = TaggingSettings(datasets=find_datasets([argument]), rules=("csp",), seeds=1)
    with pytest.raises(InputError, match="names: column must be a number"):
        run_tagging(settings, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_options_for_all_files_are_used_for_their_kind():
    names, tags = find_datasets([NAMES, TAGS.removesuffix(",target=upos")], target="xpos", column="-1")
    assert (dict(names.reading), dict(tags.reading)) == ({"column": "-1"}, {"target": "xpos"})


# ---------------------------------------------------------------- summary and report, of made-up results


def run(rule, beta, seed, dev, test, *, dataset="x"):
    """A run on 100 sentences of 10 tokens; `dev` and `test` are correct tokens of 1000."""
    right = np.full(100, test // 100)
    right[: test % 100] += 1
    counts = {name: [10, 5] for name in ("mistakes", "updates", "back_offs", "condition_2_failures")}
    return Run(
        dataset, rule, beta, seed, 1, [dev / 1000, 0.0], right.tolist(), [10] * 100, test / 1000, counts, Timing(1, 1)
    )


def study(runs, settings):
    names = list(dict.fromkeys(run.dataset for run in runs))
    rules = tuple(dict.fromkeys(run.rule for run in runs))
    datasets = tuple(
        dataclasses.replace(data, source=dataclasses.replace(data.source, name=name))
        for name, data in zip(names, settings.datasets, strict=False)
    )
    settings = dataclasses.replace(settings, datasets=datasets, rules=rules, seeds=len({run.seed for run in runs}))
    sizes = dict.fromkeys(("train", "dev", "test"), 100)
    found = [DatasetSizes(name, "accuracy", False, sizes, sizes, "upos", 3, "pos", None) for name in names]
    return TaggingResults(settings, found, runs, settings.to_json())


def two_datasets(settings):
    runs = []
    for dataset, gain in (("x", 60), ("y", 0)):
        for seed in (0, 1):
            runs += [
                run("csp", None, seed, 800, 800 + seed, dataset=dataset),
                run("a-wm", 0.5, seed, 820, 800 + gain, dataset=dataset),
                run("a-wm", 2.0, seed, 810 + 19 * seed, 990, dataset=dataset),
                run("mira", None, seed, 815, 830, dataset=dataset),
            ]
    return study(runs, settings)


def text_of(results, width=80):
    file = io.StringIO()
    print_tables(
        Console(width=width, markup=False, highlight=False, file=file), summarise_tagging(results, samples=500)
    )
    return file.getvalue()


def test_beta_is_that_of_the_best_mean_dev_score(settings):
    summary = summarise_tagging(two_datasets(settings), samples=100)
    csp, a_wm, _ = summary.rules["x"]
    assert (a_wm.name, a_wm.dev, a_wm.test) == ("a-wm@0.5", 0.82, 0.86)
    assert csp.tested is None
    assert csp.std == pytest.approx(np.std([0.8, 0.801], ddof=1))


def test_the_pair_of_the_answer_has_one_step(settings):
    (answer,) = summarise_tagging(two_datasets(settings), samples=500).answers
    assert [(one.dataset, one.best, one.rival) for one in answer.contrasts] == [
        ("x", "a-wm@0.5", "csp"),
        ("y", "a-wm@0.5", "csp"),
    ]
    assert answer.contrasts[0].tested.difference == pytest.approx(0.0595)
    assert answer.mean.difference == pytest.approx(0.0295)
    assert answer.contrasts[0].plain == "mira"
    assert answer.alone.difference == pytest.approx(0.0295)


def test_the_first_three_lines_answer_the_question(settings):
    lines = text_of(two_datasets(settings), width=1000).splitlines()
    assert lines[0].startswith(
        "Do sub-structures and γ pay, beyond step and margin? Yes: +2.95 points of test accuracy"
    )
    assert (
        lines[1]
        == "Where? Significantly above on x +5.95 (a-wm@0.5 against csp); no significant difference on y −0.05."
    )
    assert "of any step against CSP: +2.95 points with mira (95" in lines[2]
    found = Page(html.render_tagging(two_datasets(settings), summarise_tagging(two_datasets(settings), samples=500)))
    assert found.rows[0][0] == "Dataset"
    assert ["x", "a-wm@0.5", "csp", "+5.95"] in [row[:4] for row in found.rows]


def test_tests_of_all_rules_and_datasets_are_corrected_together(settings):
    summary = summarise_tagging(two_datasets(settings), samples=500)
    found = [rule.tested for rules in summary.rules.values() for rule in rules if rule.tested]
    smallest = min(found, key=lambda test: test.p)
    assert smallest.corrected == pytest.approx(4 * smallest.p)


@pytest.mark.parametrize("rules", [["csp"], ["csp", "mira"], ["csp", "a-wm"]])
@pytest.mark.parametrize("seeds", [1, 3])
def test_unusual_studies_have_a_whole_page_and_tables_of_80_columns(rules, seeds, settings):
    runs = [run(rule, 1.0 if rule == "a-wm" else None, seed, 800, 810) for rule in rules for seed in range(seeds)]
    results = study(runs, settings)
    page = html.render_tagging(results, summarise_tagging(results, samples=50))
    assert Page(page).open == []
    assert "nan" not in re.sub(r"base64,[^\"]+", "", page)
    assert max(map(len, text_of(results).splitlines())) <= 80


def test_markup_in_names_is_text(settings):
    runs = [run(rule, None, 0, 800, 800, dataset='<img src="x">') for rule in ("csp", "mira")]
    results = study(runs, settings)
    assert '<img src="x">' not in html.render_tagging(results, summarise_tagging(results, samples=50))


def test_every_value_of_beta_has_its_tick(settings):
    axes = html.draw_scores_by_beta(
        {"dev": {"csp": {None: 1.0}}, "test": {"csp": {None: 1.0}}},
        html.looks(["csp"]),
        (0.25, 0.5, 1.0, 2.0),
        title="x",
        measure="F1",
    ).axes
    for panel in axes:
        assert list(panel.get_xticks()) == [0.25, 0.5, 1.0, 2.0]
        assert [label.get_text() for label in panel.get_xticklabels()] == ["0.25", "0.5", "1", "2"]


# ---------------------------------------------------------------- the command

SMALL = (
    "experiment",
    "tagging",
    NAMES,
    "--epochs",
    "1",
    "--betas",
    "1",
    "--rules",
    "a-wm",
    "--seeds",
    "1",
    "-o",
    "out",
)


def test_the_command_writes_its_files_and_prints_the_answer(fine, tmp_path):
    out, err = fine(*SMALL)
    assert "2 trainings of 1 epochs, into out" in err
    assert out.decode().startswith("Do sub-structures and γ pay")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "report.html",
        "report.txt",
        "results.json",
        "runs.jsonl",
        "scores.csv",
    ]
    _, err = fine(*SMALL)
    assert "all 2 trainings are in out already: nothing to run" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rules", "cps"], "unknown rule 'cps'"),
        (["--options", "beam"], "'beam' must be OPTION=VALUE"),
        (["--seeds", "0"], "--seeds must be at least 1"),
        (["--jobs", "0"], "--jobs must be at least 1, not 0"),
        (["--features", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(refused, options, message, tmp_path):
    assert message in refused(*SMALL, *options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [[], ["--sample-dev", "--seed", "7", "--options", "order=2"], ["--quick", "--rules", "a-wm@0.25,mira:5+C=0.1"]],
)
def test_the_command_on_the_page_gives_the_same_settings(options, monkeypatch):
    monkeypatch.chdir(DATA)
    received = []
    monkeypatch.setattr("swvp.cli.experiment.run_study", lambda settings, folder, *_: received.append(settings))
    datasets = [NAMES, TAGS]
    rules = ["--rules", "a-wm"] if "order=2" in options else []
    assert CliRunner().invoke(app, ["experiment", "tagging", *datasets, *options, *rules]).exit_code == 0
    words = shlex.split(html.command_of(TaggingResults(received[0], [], [], received[0].to_json())))
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert received[0].to_json() == received[1].to_json()
