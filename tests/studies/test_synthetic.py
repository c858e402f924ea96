"""The synthetic study: every run saved, interrupted and resumed, the same with any number of threads."""

import dataclasses
import errno
import json

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.chain.indicator import new_model
from swvp.structures.operations import averaged_weights, weights
from swvp.studies.common import running
from swvp.studies.synthetic.runs import accuracy, make_dataset, true_hmm
from swvp.studies.synthetic.settings import FULL, QUICK, SETUPS, SyntheticSettings
from swvp.studies.synthetic.study import SyntheticResults, run_synthetic, trainings

TINY = SyntheticSettings(
    setups=(1, 3), datasets=2, sizes=(30, 10, 10), epochs=3, betas=(0.5, 2.0), rules=("csp", "a-wm", "b-wmr")
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_synthetic(TINY, tmp_path_factory.mktemp("study"), jobs=2)


def test_the_default_study_has_1230_trainings_and_300_of_the_control():
    assert len(trainings(FULL)) == 1530
    assert len(trainings(dataclasses.replace(FULL, control=False))) == 1230


def test_every_run_of_the_grid_is_in_the_results_once(results):
    found = [(run.setup, run.dataset, run.rule, run.beta, run.order) for run in results.runs]
    control = [("csp-orders", None, 0), ("csp-orders", None, 1)]
    assert found == [
        (setup, dataset, *run)
        for setup in (1, 3)
        for dataset in (0, 1)
        for run in (("csp", None, None), *((rule, b, None) for rule in ("a-wm", "b-wmr") for b in (0.5, 2.0)), *control)
    ]


def test_the_control_is_csp_on_other_orders(results):
    runs = [run for run in results.runs if run.setup == 1 and run.dataset == 0]
    csp, *orders = [run.history["norm"] for run in runs if run.rule in ("csp", "csp-orders")]
    assert len({tuple(norms) for norms in (csp, *orders)}) == 3


def test_a_run_can_be_redone_from_its_settings(results):
    run = next(run for run in results.runs if run.rule == "b-wmr" and run.setup == 3 and run.dataset == 1)
    data, model = make_dataset(TINY, 3, 1), new_model(20, 7, 8)
    history = list(run_epochs(data.train, model, as_rule("b-wmr", beta=run.beta), examples=30, epochs=3))
    assert run.history["mistakes"] == [epoch.mistakes for epoch in history]
    assert run.accuracy["last_test"][-1] == accuracy(weights(model), data.test, SETUPS[3])
    assert run.accuracy["averaged_dev"][-1] == accuracy(averaged_weights(model, 90), data.dev, SETUPS[3])


def test_results_do_not_depend_on_the_number_of_threads(results, tmp_path):
    assert run_synthetic(TINY, tmp_path, jobs=1) == results


def test_results_survive_the_way_through_json(results):
    assert SyntheticResults.from_json(json.loads(json.dumps(results.to_json()))) == results


def test_an_interrupted_study_resumes_where_it_was(results, tmp_path):
    def stop_after_five(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_synthetic(TINY, tmp_path, progress=stop_after_five)
    kept = (tmp_path / running.NAME).read_text().splitlines()
    assert 5 <= len(kept) - 1 < len(results.runs)
    seen = []
    resumed = run_synthetic(TINY, tmp_path, progress=lambda done, total: seen.append(done))
    assert seen[0] == len(kept) - 1
    assert (tmp_path / running.NAME).read_text().splitlines()[: len(kept)] == kept
    assert resumed == results


def test_a_line_cut_off_by_a_crash_is_run_again(results, tmp_path):
    run_synthetic(TINY, tmp_path)
    path = tmp_path / running.NAME
    path.write_bytes(path.read_bytes()[:-40])
    assert run_synthetic(TINY, tmp_path) == results
    assert len(path.read_text().splitlines()) == 1 + len(results.runs)


def test_another_study_s_folder_is_refused_and_left_alone(tmp_path):
    run_synthetic(TINY, tmp_path)
    before = (tmp_path / running.NAME).read_bytes()
    with pytest.raises(InputError, match=r"holds another study's results \(it differs in: epochs, seed\)"):
        run_synthetic(dataclasses.replace(TINY, epochs=4, seed=1), tmp_path)
    assert (tmp_path / running.NAME).read_bytes() == before


def test_a_study_of_another_version_is_refused_in_words(tmp_path, monkeypatch):
    run_synthetic(TINY, tmp_path)
    monkeypatch.setattr(running, "fingerprint", lambda *folders: "0" * 64)
    with pytest.raises(InputError, match=r"it differs in: the code of swvp\)"):
        run_synthetic(TINY, tmp_path)


@pytest.mark.parametrize("name", ["results.json", "report.html"])
def test_files_that_are_not_the_study_s_are_not_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=r"exists, but no runs\.jsonl of a study"):
        run_synthetic(TINY, tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    assert not (tmp_path / running.NAME).exists()


@pytest.mark.parametrize("content", ["not json", "[1]", "5", "null", '{"setup": 1}'])
def test_a_journal_that_is_not_one_is_refused(tmp_path, content):
    (tmp_path / running.NAME).write_text(content + "\n")
    with pytest.raises(InputError, match="damaged or not a study's"):
        run_synthetic(TINY, tmp_path)


def test_a_journal_with_something_else_in_it_is_refused(tmp_path):
    run_synthetic(TINY, tmp_path)
    with (tmp_path / running.NAME).open("a") as file:
        file.write("{}\n")
    with pytest.raises(InputError, match="damaged or not a study's"):
        run_synthetic(TINY, tmp_path)


def test_one_process_at_a_time_in_a_folder(tmp_path):
    pytest.importorskip("fcntl", reason="files are not locked on this system")
    fields = {"read": dict}
    first = running.Journal(tmp_path, {"study": "x"}, **fields)
    with pytest.raises(InputError, match="another process is running a study"):
        running.Journal(tmp_path, {"study": "x"}, **fields)
    first.close()
    running.Journal(tmp_path, {"study": "x"}, **fields).close()


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write .*file/study: Not a directory"):
        run_synthetic(TINY, tmp_path / "file" / "study")


def test_a_full_disk_is_one_clear_line_and_keeps_the_runs(tmp_path, monkeypatch, results):
    write, calls = running.Journal._write, []

    def full_after_four(self, line):
        calls.append(line)
        if len(calls) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, line)

    monkeypatch.setattr(running.Journal, "_write", full_after_four)
    with pytest.raises(InputError, match="No space left on device"):
        run_synthetic(TINY, tmp_path, jobs=2)
    monkeypatch.undo()
    assert len((tmp_path / running.NAME).read_text().splitlines()) == 4
    assert run_synthetic(TINY, tmp_path) == results


def test_one_hmm_per_setup_or_one_per_dataset():
    def hmms(choice):
        settings = dataclasses.replace(FULL, hmm=choice)
        return {true_hmm(settings, 1, dataset).emission.tobytes() for dataset in range(10)}

    assert len(hmms("per-setup")) == 1
    assert len(hmms("per-dataset")) > 5


def test_datasets_and_their_parts_differ():
    first, second = make_dataset(QUICK, 1, 0), make_dataset(QUICK, 1, 1)
    assert (first.train.x != second.train.x).any()
    assert (first.train.x[: len(first.dev.x)] != first.dev.x).any()
    assert [len(part.offsets) - 1 for part in (first.train, first.dev, first.test)] == list(QUICK.sizes)


def test_no_rule_beats_the_ceiling_by_more_than_chance(results):
    for data in results.datasets:
        assert abs(data.ceiling - data.expected_ceiling) < 0.2
        assert data.ceiling > 1 / SETUPS[data.setup].labels


def test_shuffling_changes_the_runs_and_is_fixed_by_the_seed(tmp_path, results):
    shuffled = dataclasses.replace(TINY, shuffle=True)
    first = run_synthetic(shuffled, tmp_path / "a")
    assert first.runs == run_synthetic(shuffled, tmp_path / "b").runs != results.runs


def test_csp_is_always_run_and_comes_first():
    assert SyntheticSettings(rules=("a-wm", "csp")).rules == ("csp", "a-wm")
    assert SyntheticSettings(rules=("a-wm",)).rules == ("csp", "a-wm")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"setups": (4,)}, "unknown setup '4'; known: 1, 2, 3"),
        ({"setups": ()}, "setups must be one or more"),
        ({"setups": (1, 1)}, "each once"),
        ({"hmm": "per-set"}, r"did you mean 'per-setup'\?"),
        ({"sizes": (10, 0, 10)}, "at least 1"),
        ({"sizes": (10, 10)}, "three numbers"),
        ({"datasets": 0}, "at least 1"),
        ({"epochs": 0}, "at least 1"),
        ({"betas": (1.0, 0.0)}, "beta must be a number > 0"),
        ({"betas": (1.0, np.nan)}, "beta must be a number > 0"),
        ({"rules": ("a-wn",)}, r"unknown gamma 'wn' \(did you mean 'wm'\?\); known: wm, wmr"),
        ({"rules": ("c-wm",)}, "unknown rule 'c-wm'"),
        ({"seed": -1}, "seed must be"),
        ({"rules": ("a-wm", "a-wm:single")}, "rules must be different"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        SyntheticSettings(**wrong)


def test_the_setups_and_defaults_are_those_of_the_paper():
    footnote = {
        1: (5, 3, (0.7, 0.2, 0.1), (0.75, 0.1, 0.05, 0.05, 0.05)),
        2: (5, 3, (0.5, 0.3, 0.2), (0.6, 0.15, 0.1, 0.1, 0.05)),
        3: (20, 7, (0.7, 0.2, 0.1), (0.4, 0.2, 0.1, 0.1, 0.1)),
    }
    found = {k: (setup.symbols, setup.labels, setup.transition, setup.emission) for k, setup in SETUPS.items()}
    assert found == footnote
    assert (FULL.setups, FULL.datasets, FULL.sizes, FULL.epochs) == ((1, 2, 3), 10, (7000, 2000, 1000), 10)
    assert FULL.betas == tuple(k / 2 for k in range(1, 11))
    assert FULL.rules == ("csp", "a-wm", "a-wmr", "b-wm", "b-wmr")


def test_a_study_may_be_cut_off_twice(results, tmp_path):
    run_synthetic(TINY, tmp_path)
    path = tmp_path / running.NAME
    for _ in range(2):
        path.write_bytes(path.read_bytes()[:-40])
        assert run_synthetic(TINY, tmp_path) == results


def test_the_averaged_curve_is_that_of_the_weights_averaged_so_far(results):
    run = next(run for run in results.runs if run.rule == "a-wm" and run.beta == 2.0)
    data, model = make_dataset(TINY, 1, 0), new_model(5, 3, 8)
    expected = [
        accuracy(averaged_weights(model, 30 * epoch.epoch), data.test, SETUPS[1])
        for epoch in run_epochs(data.train, model, as_rule("a-wm", beta=2.0), examples=30, epochs=3)
    ]
    assert run.accuracy["averaged_test"] == expected
