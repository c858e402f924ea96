"""The studies with public names only: settings, runs, summaries, reports."""

import json

import pytest

from helpers.trees import conllu, toy
from swvp import InputError
from swvp.studies import (
    ParsingSettings,
    SyntheticSettings,
    find_treebanks,
    load_results,
    run_parsing,
    run_synthetic,
    summarise_parsing,
    summarise_synthetic,
    write_report,
)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    """A tiny synthetic study with its report: (folder, results)."""
    folder = tmp_path_factory.mktemp("synthetic")
    settings = SyntheticSettings(setups=(1,), datasets=2, sizes=(40, 20, 20), epochs=2, rules=("a-wm",), betas=(1, 2))
    results = run_synthetic(settings, folder)
    assert write_report(results, folder) == folder / "report.html"
    return folder, results


def test_the_synthetic_study_is_run_summarised_and_reported(synthetic):
    folder, results = synthetic
    (summary,) = summarise_synthetic(results)
    assert [rule.rule for rule in summary.rules] == ["csp", "a-wm", "csp-orders"]
    assert f"{100 * summary.rules[1].last.mean:.2f}" in (folder / "report.html").read_text()
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(results.to_json()))


def test_a_report_can_be_written_from_saved_results(synthetic, tmp_path):
    folder, results = synthetic
    loaded = load_results(folder / "results.json")
    assert loaded == results
    assert write_report(loaded, tmp_path).read_bytes() == (folder / "report.html").read_bytes()


def test_the_parsing_study_is_run_summarised_and_reported(tmp_path):
    for seed, part in enumerate(("train", "dev", "test")):
        (tmp_path / f"x-ud-{part}.conllu").write_text(conllu(*toy(seed, 20, wrong=0.3)))
    settings = ParsingSettings(
        treebanks=find_treebanks([f"toy={tmp_path}"]),
        orders=(1,),
        rules=("b-wm",),
        betas=(1.0,),
        epochs=1,
        hashed=2**12,
        control=False,
    )
    results = run_parsing(settings, tmp_path / "study")
    (summary,) = summarise_parsing(results, samples=50)
    assert [rule.rule for rule in summary.rules] == ["csp", "b-wm"]
    report = write_report(results, tmp_path / "study", summaries=[summary])
    assert f"{100 * summary.rules[1].uas:.2f}" in report.read_text()
    assert load_results(tmp_path / "study" / "results.json").runs == results.runs


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"settings": {"study": "synthetic"}}', "5"])
def test_a_file_that_is_not_a_study_s_is_one_clear_line(tmp_path, content):
    path = tmp_path / "results.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"results\.json is not the results\.json of a study"):
        load_results(path)


def test_results_of_an_unknown_study_are_one_clear_line(tmp_path):
    path = tmp_path / "results.json"
    path.write_text('{"settings": {"study": "other"}}')
    with pytest.raises(InputError, match="unknown study 'other'"):
        load_results(path)
