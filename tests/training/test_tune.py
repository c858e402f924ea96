"""`--tune`: rules are tried on the dev set, the best one makes the model."""

import json
import os
import re
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.texts import noisy
from helpers.trees import toy
from swvp.cli import progress
from swvp.errors import InputError
from swvp.estimators import SequenceTagger
from swvp.parsing import parser as parser_module
from swvp.parsing.parser import Parser
from swvp.parsing.tree import treebank_from
from swvp.tagging.corpus import corpus_of
from swvp.tagging.train import BETAS, RULES
from swvp.training import session
from swvp.training import tune as tuning
from swvp.training.tune import candidates, tune

TUNE = ["train", "tagger", "train.txt", "--dev", "dev.txt", "--epochs", "4", "--tune", "-m"]
SOME = ["--rules", "csp,a-wm,b-wm:sqrt", "--betas", "0.5,2"]
TRIED = [("csp", ""), ("a-wm", "0.5"), ("a-wm", "2"), ("b-wm:sqrt", "0.5"), ("b-wm:sqrt", "2")]


@pytest.fixture(autouse=True)
def texts(command):
    Path("train.txt").write_text(noisy(2))
    Path("dev.txt").write_text(noisy(6))


def rows_of(err):
    """The table: (rule, β or nothing, score, pass)."""
    found = re.findall(r"^(\S+) +(?:([\d.]+) +)?(\d+\.\d\d) +(\d+) +[\d.]+ % +[\d.]+ % +[\d.]+ *$", err, re.MULTILINE)
    return [(rule, beta, float(score), int(number)) for rule, beta, score, number in found]


def log_of(path):
    return [json.loads(line) | {"seconds": 0} for line in Path(path).read_text().splitlines()]


def test_the_table_is_sorted_and_the_best_rule_is_the_models(fine):
    out, err = fine(*TUNE, "model", *SOME)
    assert out == b""
    assert "tuning: 5 trainings of 4 epochs" in err
    rows = rows_of(err)
    assert sorted(row[:2] for row in rows) == sorted(TRIED)
    scores = [row[2] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]
    rule, beta, score, number = rows[0]
    inspected = fine("inspect", "model", "--top", "0")[0].decode()
    assert re.search(rf"^rule +{re.escape(rule)}{f', β = {beta}' if beta else ''}$", inspected, re.MULTILINE)
    assert f"the weights are those of epoch {number}\n" in inspected
    tagger = SequenceTagger.load("model")
    assert round(100 * max(tagger.dev_scores_), 2) == score
    given = ["--rule", rule, *(["--beta", beta] if beta else [])]
    fine(*TUNE[:-2], "-m", "alone", *given)
    alone = SequenceTagger.load("alone")
    assert (alone.coef_ == tagger.coef_).all()
    assert alone.dev_scores_ == tagger.dev_scores_


def test_threads_do_not_change_the_results(fine):
    for jobs in ("1", "3"):
        fine(*TUNE, f"model{jobs}", *SOME, "--jobs", jobs, "--log", f"log{jobs}")
    assert Path("model1").read_bytes() == Path("model3").read_bytes()
    assert log_of("log1") == log_of("log3")


def test_the_log_has_every_epoch_of_every_trial(fine):
    fine(*TUNE, "model", *SOME, "--log", "log")
    log = log_of("log")
    tried = list(dict.fromkeys((line["rule"], line["beta"]) for line in log))
    assert tried == [(rule, float(beta or 1)) for rule, beta in TRIED]
    for trial in tried:
        lines = [line for line in log if (line["rule"], line["beta"]) == trial]
        assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
        scores = [line["dev_score"] for line in lines]
        assert [line["best"] for line in lines] == [s > max(scores[:k], default=-1) for k, s in enumerate(scores)]


def test_patience_holds_for_each_trial(fine):
    fine(*TUNE, "model", "--rules", "csp", "--epochs", "20", "--patience", "1", "--log", "log")
    scores = [line["dev_score"] for line in log_of("log")]
    assert len(scores) < 20
    assert scores[-1] <= max(scores[:-1])


def test_every_rule_is_tried_once_where_beta_makes_no_difference():
    every = candidates(RULES, BETAS)
    assert len(every) == len(set(every))
    assert {rule.name for rule in every} == set(RULES)
    for rule in every:
        betas = [other.beta for other in every if other.name == rule.name]
        assert betas == (list(BETAS) if rule.uses_beta else [rule.beta])
    assert len(candidates(["csp", "csp", "a-wm"], [1.0, 1.0])) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rules", "csp,a-wn"], "unknown gamma 'wn' (did you mean 'wm'?)"),
        (["--rules", "a-wm:segmets"], "unknown part of rule 'a-wm:segmets': 'segmets' (did you mean 'segments'?)"),
        (["--betas", "1,0"], "--beta must be a number > 0, not 0.0"),
        (["--betas", "1:2"], "--betas takes numbers between commas, or FIRST:LAST:STEP, not '1:2'"),
        (["--jobs", "0"], "--jobs must be at least 1, not 0"),
        (["--log", "no/log"], "cannot write no/log: No such file or directory"),
    ],
)
def test_bad_options_are_told_before_any_training(command, monkeypatch, options, message):
    def trained(*_, **__):
        raise AssertionError("a training began")

    monkeypatch.setattr(session, "tune", trained)
    code, out, err = command(*TUNE, "model", *options)
    assert (code, out) == (2, b"")
    assert err.splitlines()[-1].startswith(f"swvp: {message}")
    assert sorted(os.listdir()) == ["dev.txt", "train.txt"]


def test_ctrl_c_ends_the_tuning_soon(command, monkeypatch):
    seen = []

    def interrupt(self, done, total):
        if done:
            seen.append(done)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(progress.Watch, "show", interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore the signal
    try:
        code, _, err = command(*TUNE, "model", *SOME, "--jobs", "2")
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    assert err.splitlines()[-1] == "stopped; a tuning has no checkpoints, so nothing is saved"
    assert seen == [1]
    assert not Path("model").exists()


def test_a_stopped_tuning_ends_the_trainings_that_run(monkeypatch):
    """The first training ends at once, the others would take long."""
    began = time.monotonic()

    def fork(training, rule):
        def run(epochs, patience, watch):
            while rule.name != "csp" and time.monotonic() < began + 20:
                time.sleep(0.001)
                watch(None)

        return SimpleNamespace(run=run, scores=[1.0], best_epoch=1, history=[])

    def stop(trial, done):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "fork", fork)
    rules = candidates(["csp", "a-wm"], [1.0, 2.0, 3.0])
    with pytest.raises(KeyboardInterrupt):
        tune(SimpleNamespace(dev=True), rules, epochs=1, patience=None, jobs=2, watch=stop)
    assert time.monotonic() < began + 10


def test_tuning_without_a_dev_set_or_threads_is_refused():
    corpus = corpus_of([["a"]], [["A"]], None)
    tagger = SequenceTagger(random_state=0)
    with pytest.raises(InputError, match="tuning needs a dev set, to choose the best rule"):
        tune(tagger.start(corpus), candidates(["csp"], BETAS), epochs=1, patience=None, jobs=1)
    with pytest.raises(InputError, match="jobs must be at least 1, not 0"):
        tune(tagger.start(corpus, corpus), candidates(["csp"], BETAS), epochs=1, patience=None, jobs=0)


def test_weights_with_places_of_their_own_are_scored_at_their_places(monkeypatch):
    monkeypatch.setattr(parser_module, "EXACT_SIZE", 2**11)  # few places, so that many features are not at their first
    treebank, dev = (treebank_from(*toy(seed, 40, wrong=0.3), heads=True) for seed in (0, 1))
    parser = Parser(hashed=None, random_state=0, epochs=3)
    training = parser.start(treebank, dev)
    trials, best = tune(training, [training.rule], epochs=3, patience=None, jobs=1)
    assert trials[0].scores == Parser(hashed=None, random_state=0, epochs=3).fit(treebank, dev=dev).dev_scores_
    assert parser.finish(best).score(dev) == trials[0].score
