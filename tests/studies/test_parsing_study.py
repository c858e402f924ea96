"""The parsing study: what is trained on what, interrupted and resumed, the same with any number of threads."""

import dataclasses
import json
import threading

import numpy as np
import pytest

from helpers.trees import conllu, toy
from swvp.errors import InputError
from swvp.io.treebank import treebank_of
from swvp.parsing.parser import Parser
from swvp.studies.common import running
from swvp.studies.common.rules import is_swvp
from swvp.studies.parsing import runs as parsing_runs
from swvp.studies.parsing.runs import ParserOptions, Training, measure, train_once
from swvp.studies.parsing.settings import DEFAULT_RULES, PAPER, ParsingSettings, notation
from swvp.studies.parsing.study import ParsingResults, run_parsing, trainings
from swvp.studies.parsing.summary import summarise_parsing
from swvp.studies.parsing.treebanks import find_treebanks, read_data


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """One treebank with a development file, one without."""
    folder = tmp_path_factory.mktemp("banks")
    for name, parts in (("a", ("train", "dev", "test")), ("b", ("train", "test"))):
        (folder / name).mkdir()
        for seed, part in enumerate(parts):
            (folder / name / f"{part}.conllu").write_text(conllu(*toy(seed + len(parts), 30, wrong=0.3)))
    return find_treebanks([str(folder / "a"), str(folder / "b")])


@pytest.fixture(scope="module")
def settings(sources):
    return ParsingSettings(
        treebanks=sources, orders=(1,), rules=("csp", "b-wm", "csp/1"), betas=(2.0, 0.5), epochs=2, hashed=2**12
    )


@pytest.fixture(scope="module")
def results(settings, tmp_path_factory):
    return run_parsing(settings, tmp_path_factory.mktemp("study"), jobs=2)


def timeless(results):
    fields = results.to_json()
    return json.dumps({**fields, "runs": [{**run, "timing": None} for run in fields["runs"]]})


def test_every_run_is_in_the_results_once(results):
    found = [(run.treebank, run.order, run.rule, run.beta, run.draw) for run in results.runs]
    rules = [("csp", None, None), ("b-wm", 0.5, None), ("b-wm", 2.0, None), ("csp/1", None, None)]
    control = [("csp-orders", None, 0), ("csp-orders", None, 1)]
    assert found == [
        *(("a", 1, *run) for run in [*rules, *control]),
        *(("b", 1, *run) for run in [*rules, ("csp-rest", None, None), *control]),
    ]


def test_the_default_study_of_one_treebank(sources):
    runs = trainings(ParsingSettings(treebanks=sources[:1]))
    assert len(runs) == 2 * (1 + 4 * 4 + 5 + 4)
    assert len(trainings(ParsingSettings(treebanks=sources[:1], control=False))) == 2 * 22


def test_csp_learns_from_everything_and_the_others_from_the_rest(settings, sources, monkeypatch):
    seen = {}
    start = Parser.start

    def watch(self, treebank, *arguments, **options):
        seen.setdefault(treebank.number_of_sentences, []).append((self.rule.name, self.margin))
        return start(self, treebank, *arguments, **options)

    data = read_data(sources[1], sample_dev=False, sentences=None, seed=0)
    options = ParserOptions(1, False, 2**10)
    rules = [("csp", None), ("csp-rest", None), ("csp/1", None), ("b-wm", 0.5)]
    runs = [Training("b", 1, rule, beta) for rule, beta in rules]
    for run in runs:
        train_once(options, data, run, threading.Event())  # compiles
    monkeypatch.setattr(Parser, "start", watch)
    found = [train_once(options, data, run, threading.Event()) for run in runs]
    assert seen == {30: [("csp", 0.0)], 27: [("csp", 0.0), ("csp", 1.0), ("b-wm", 0.0)]}
    assert found[0].dev is None  # it has learnt from these sentences
    assert [run.dev[1] for run in found[1:]] == [data.dev.tokens] * 3


def test_csp_is_measured_on_a_development_file(results):
    assert [run.dev is None for run in results.runs if run.rule == "csp"] == [False, True]


def test_a_run_can_be_redone_from_its_settings(results, sources):
    data = read_data(sources[1], sample_dev=False, sentences=None, seed=0)
    run = next(run for run in results.runs if run.treebank == "b" and run.beta == 2.0)
    parser = Parser(rule="b-wm", beta=2.0, margin=0.0, epochs=2, labels=False, random_state=0, hashed=2**12)
    parser.fit(data.train)
    assert run.test == (round(parser.score(data.test) * data.test.tokens), data.test.tokens)
    assert run.dev == (round(parser.score(data.dev) * data.dev.tokens), data.dev.tokens)
    assert run.history["mistakes"] == [epoch.mistakes for epoch in parser.history_]
    assert run.pruning.recall == parser.pruning(data.test).recall


def test_seeds_are_trainings_in_other_orders(settings, results, tmp_path):
    changed = dataclasses.replace(settings, treebanks=settings.treebanks[:1], rules=("csp",), seeds=2, control=False)
    first, second = run_parsing(changed, tmp_path).runs
    assert (first.seed, second.seed) == (0, 1)
    assert first.history == results.runs[0].history
    assert first.history["norm"] != second.history["norm"]
    assert len(trainings(dataclasses.replace(settings, seeds=3))) == 3 * len(results.runs)


def test_the_control_is_csp_on_other_orders(results):
    runs = [run for run in results.runs if run.treebank == "a" and run.rule in ("csp", "csp-orders")]
    assert len({tuple(run.history["norm"]) for run in runs}) == 3


def test_what_is_counted_of_a_test_set():
    test = treebank_of([["a", "b", "."], ["c"]], heads=[[2, 0, 1], [0]])
    found = measure(test, np.array([True, False, True, True]))
    assert found.test == (3, 4)
    assert found.no_punctuation == (2, 3)
    assert found.right == [2, 1]
    assert found.by_sentence_length["1-10"] == (3, 4)
    arcs = {"root": (1, 2), "1": (1, 1), "2": (1, 1)}
    assert found.by_arc_length == arcs | dict.fromkeys(("3-5", "6-10", "11-20", "21-"), (0, 0))


def test_second_order_is_trained_and_measured_as_first_order_is(sources, tmp_path):
    settings = ParsingSettings(
        treebanks=sources[:1], orders=(1, 2), rules=("csp", "b-wm"), betas=(1.0,), epochs=2, hashed=2**14, control=False
    )
    results = run_parsing(settings, tmp_path)
    found = {(run.order, run.rule): run for run in results.runs}
    assert set(found) == {(order, rule) for order in (1, 2) for rule in ("csp", "b-wm")}
    for (order, _), run in found.items():
        assert run.test[0] == sum(run.right) > 0
        assert run.certified == 1.0
        assert len(run.history["mistakes"]) == 2
        assert (run.pruning.heads < found[1, "csp"].pruning.heads) == (order == 2)
    assert found[1, "csp"].history["norm"] != found[2, "csp"].history["norm"]
    (second,) = (summary for summary in summarise_parsing(results, samples=50) if summary.order == 2)
    assert second.treebanks[0].uas("csp") == found[2, "csp"].test[0] / found[2, "csp"].test[1]


@pytest.mark.parametrize("orders", [(2,), (1, 2)])
def test_rules_that_second_order_does_not_offer_are_refused_before_anything_is_trained(sources, orders):
    with pytest.raises(InputError, match=r"rule 'mira:3' is for first order: leave it out, or study --orders 1"):
        ParsingSettings(treebanks=sources, orders=orders, rules=("csp", "mira:3/1"))
    assert ParsingSettings(treebanks=sources, orders=(1,), rules=("csp", "mira:3/1")).rules == ("csp", "mira:3/1")


def test_several_roots_are_predicted_only_where_they_were_seen(monkeypatch, sources):
    seen = []
    make = parsing_runs.make_parser
    monkeypatch.setattr(
        parsing_runs, "make_parser", lambda *a, one_root: seen.append(one_root) or make(*a, one_root=one_root)
    )
    data = read_data(sources[0], sample_dev=False, sentences=None, seed=0)
    two = treebank_of([["a", "b"], ["c"]], heads=[[0, 0], [0]])
    for given in (data, dataclasses.replace(data, whole=two, train=two)):
        train_once(ParserOptions(1, False, 2**11), given, Training("a", 1, "csp"), threading.Event())
    assert (seen[0], seen[-1]) == (True, False)


def test_results_do_not_depend_on_the_number_of_threads(settings, results, tmp_path):
    assert timeless(run_parsing(settings, tmp_path, jobs=1)) == timeless(results)


def test_results_survive_the_way_through_json(results):
    again = ParsingResults.from_json(json.loads(json.dumps(results.to_json())))
    assert (again.runs, again.treebanks, again.header) == (results.runs, results.treebanks, results.header)
    assert again.to_json() == results.to_json()
    assert again.settings.to_json() == results.settings.to_json()


def test_a_stopped_study_resumes_where_it_was(settings, results, tmp_path):
    def stop_after_five(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_parsing(settings, tmp_path, progress=stop_after_five)
    kept = (tmp_path / running.NAME).read_text().splitlines()
    assert 5 <= len(kept) - 1 < len(results.runs)
    seen = []
    resumed = run_parsing(settings, tmp_path, progress=lambda done, total: seen.append(done))
    assert seen[0] == len(kept) - 1
    assert timeless(resumed) == timeless(results)
    assert run_parsing(settings, tmp_path) == resumed


def test_a_stopped_training_is_not_kept(settings, sources):
    stopped = threading.Event()
    stopped.set()
    data = read_data(sources[0], sample_dev=False, sentences=None, seed=0)
    assert train_once(ParserOptions(3, False, 2**10), data, Training("a", 1, "csp"), stopped) is None


def test_another_treebank_of_the_same_name_is_another_study(settings, results, tmp_path):
    run_parsing(dataclasses.replace(settings, rules=("csp",), control=False), tmp_path / "study")
    text = settings.treebanks[0].test.read_text()
    (tmp_path / "a").mkdir()
    for part in ("train", "dev", "test"):
        (tmp_path / "a" / f"{part}.conllu").write_bytes(getattr(settings.treebanks[0], part).read_bytes())
    (tmp_path / "a" / "test.conllu").write_text(text.replace("dog", "fox"))
    other = (*find_treebanks([str(tmp_path / "a")]), settings.treebanks[1])
    with pytest.raises(InputError, match=r"holds another study's results \(it differs in: treebanks\)"):
        run_parsing(dataclasses.replace(settings, rules=("csp",), control=False, treebanks=other), tmp_path / "study")


def test_a_treebank_that_cannot_be_read_is_told_before_anything_is_trained(tmp_path):
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.conllu").write_text(f"{part}\n")
    settings = ParsingSettings(treebanks=find_treebanks([str(tmp_path)]), orders=(1,))
    with pytest.raises(InputError, match=r"train\.conllu"):
        run_parsing(settings, tmp_path / "study")
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"orders": (3,)}, "orders must be 1, 2 or both, not '3'"),
        ({"orders": ()}, "orders must be one or more"),
        ({"rules": ("b-wm", "b-wm/0")}, "rules must be different"),
        ({"rules": ("b-wn",)}, "unknown gamma 'wn'"),
        ({"rules": ("b-wm@x",)}, "what is after @ must be a number"),
        ({"rules": ("b-wm@0",)}, "beta must be a number > 0"),
        ({"rules": ("csp/-1",)}, "what is after / must be a number of at least 0"),
        ({"rules": ("csp/",)}, "what is after / must be a number of at least 0"),
        ({"betas": (0.0,)}, "beta must be a number > 0"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"sentences": 0}, "sentences must be at least 1"),
        ({"hashed": 1000}, "hashed must be a power of 2"),
        ({"seed": -1}, "seed must be"),
        ({"treebanks": ()}, "no treebank"),
    ],
)
def test_bad_settings_are_told(settings, changes, message):
    with pytest.raises(InputError, match=message):
        dataclasses.replace(settings, **changes)


def test_csp_is_always_run_and_comes_first(settings):
    assert dataclasses.replace(settings, rules=("a-wm@0.50/30.0",)).rules == ("csp", "a-wm@0.5/30")
    assert dataclasses.replace(settings, rules=("b-wm", "csp")).rules == ("csp", "b-wm")


def test_which_rules_have_a_beta_to_choose():
    assert [notation(rule).tuned for rule in DEFAULT_RULES] == [False, *[True] * 4, *[False] * 5]
    assert not notation("b-wm@2").tuned
    with pytest.raises(InputError, match="rule 'csp@2/1': csp has no β"):
        notation("csp@2/1")
    assert notation("b-wm@2").rule(4.0).beta == 2.0
    assert notation("b-wm").rule(4.0).beta == 4.0


def test_what_counts_as_swvp():
    rules = [*DEFAULT_RULES, "csp-orders", "csp-rest", "mira:5/1", "a-wm:components@1/3"]
    assert [rule for rule in rules if not is_swvp(rule)] == [
        "csp",
        "csp/30",
        "mira/1",
        "csp-orders",
        "csp-rest",
        "mira:5/1",
    ]


def test_the_protocol_of_the_paper(sources):
    settings = ParsingSettings(treebanks=sources[:1], **PAPER)
    assert settings.rules == ("csp", "b-wm:parts")
    assert settings.betas == (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
    assert (settings.dev_sentences, settings.shuffle, settings.one_root) == (1000, False, False)
    assert len(trainings(settings)) == 2 * (1 + 10 + 1)


def test_features_pruning_and_order_of_a_study_reach_its_parsers(sources, monkeypatch):
    made = []
    start = Parser.start

    def watch(self, *arguments, **options):
        made.append((self, start(self, *arguments, **options)))
        return made[-1][1]

    monkeypatch.setattr(Parser, "start", watch)
    data = read_data(sources[0], sample_dev=False, sentences=None, seed=0)
    options = ParserOptions(1, False, 2**10, features="light", shuffle=False, one_root=False)
    train_once(options, data, Training("a", 1, "csp"), threading.Event())
    parser, training = made[-1]
    assert (parser.features, parser.one_root, training.shuffle) == ("light", False, False)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (("turbo",), "one preset for each of the orders 1,2, not 1"),
        (("second-order", "second-order"), "unknown features of order 1 'second-order'"),
        (("first-order", "nothing"), "unknown features of order 2 'nothing'"),
    ],
)
def test_features_are_presets_of_their_order(sources, features, message):
    with pytest.raises(InputError, match=message):
        ParsingSettings(treebanks=sources[:1], features=features)
