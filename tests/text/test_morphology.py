"""Chains of candidates against enumeration, and the morphological tagger that uses them."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.model_files import Memory
from swvp.io.tree_checks import column_of
from swvp.io.treebank import treebank_of
from swvp.structures import operations
from swvp.structures.chain.candidates import (
    CandidateChain,
    expected_difference,
    grouping_places,
    new_candidate_model,
    predict_candidates,
)
from swvp.structures.chain.lattice import difference_from_expectation
from swvp.text.analyses import endings_of, learn_analyses
from swvp.text.morphology import MorphologicalTagger, strings_of

LABELS = 5


def random_problem(seed, margin=0.0, places=64):
    """Three sequences of up to four positions, each with one to three candidates."""
    rng = np.random.default_rng(seed)
    lengths = [4, 1, 3]
    tokens = sum(lengths)
    sizes = rng.integers(1, 4, tokens)
    candidates = np.concatenate([rng.permutation(LABELS)[:size] for size in sizes]).astype(np.int32)
    attributes = rng.integers(0, 9, (tokens, 3)).astype(np.uint32)
    key_sizes = rng.integers(1, 3, LABELS)
    groups = np.array([[*range(LABELS), LABELS], [*(np.arange(LABELS) % 2), 2]], np.int32)
    group_sizes, group_places = grouping_places(groups, places)
    return CandidateChain(
        attributes=attributes.ravel(),
        starts=np.arange(0, 3 * tokens + 1, 3),
        offsets=np.cumsum([0, *lengths]),
        candidates=candidates,
        candidate_starts=np.concatenate([[0], np.cumsum(sizes)]),
        gold=np.array([rng.integers(size) for size in sizes], np.int32),
        keys=rng.integers(0, 7, key_sizes.sum()).astype(np.int32),
        key_starts=np.concatenate([[0], np.cumsum(key_sizes)]),
        groups=groups,
        group_sizes=group_sizes,
        group_places=group_places,
        places=places,
        margin=margin,
    )


def features(problem, i, chosen):
    """φ(x, y') by definition, as {place: count}."""
    counts = {}
    first = problem.offsets[i]
    labels = [problem.candidates[problem.candidate_starts[first + k] + r] for k, r in enumerate(chosen)]
    for k, label in enumerate(labels):
        for a in problem.attributes[problem.starts[first + k] : problem.starts[first + k + 1]]:
            for key in problem.keys[problem.key_starts[label] : problem.key_starts[label + 1]]:
                block = ((int(a) * 1640531527 + int(key) // 8 * 2147483629) >> 20) % (problem.places // 8)
                place = block * 8 + (int(a) + int(key)) % 8
                counts[place] = counts.get(place, 0) + 1
    for before, label in itertools.pairwise([-1, *labels, -1]):
        for g, begin in enumerate(problem.group_places):
            place = begin + problem.groups[g, before] * problem.group_sizes[g] + problem.groups[g, label]
            counts[place] = counts.get(place, 0) + 1
    return counts


def vector(counts, size):
    result = np.zeros(size)
    for place, count in counts.items():
        result[place] += count
    return result


def outputs(problem, i):
    first, last = problem.offsets[i], problem.offsets[i + 1]
    sizes = np.diff(problem.candidate_starts)[first:last]
    return list(itertools.product(*map(range, sizes)))


def made(seed, margin=0.0, zero=False):
    problem = random_problem(seed, margin)
    model = new_candidate_model(problem)
    if not zero:
        model.w[:] = np.random.default_rng(seed + 100).normal(size=len(model.w))
    return problem, model


def scores(problem, model, i):
    """The score of each output, with the margin."""
    first = problem.offsets[i]
    result = {}
    for chosen in outputs(problem, i):
        wrong = sum(r != problem.gold[first + k] for k, r in enumerate(chosen))
        result[chosen] = model.w @ vector(features(problem, i, chosen), len(model.w)) + problem.margin * wrong
    return result


@pytest.mark.parametrize("seed", range(6))
def test_the_prediction_is_the_best_of_all_outputs(seed):
    problem, model = made(seed)
    out = np.zeros(problem.offsets[-1], np.int64)
    predict_candidates(problem, model, np.inf, out)
    for i, (a, b) in enumerate(itertools.pairwise(problem.offsets)):
        of_output = scores(problem, model, i)
        assert of_output[tuple(out[a:b])] == pytest.approx(max(of_output.values()))


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_mistakes_margins_and_directions_are_those_of_the_definition(seed, zero):
    problem, model = made(seed, margin=1.5, zero=zero)
    for i in range(3):
        wrong = np.zeros(4, np.int64)
        count = operations.find_mistakes(problem, model, i, wrong)
        n = problem.offsets[i + 1] - problem.offsets[i]
        gold, predicted = problem.gold[problem.offsets[i] :][:n], model.predicted[:n]
        of_output = scores(problem, model, i)
        assert of_output[tuple(predicted)] == pytest.approx(max(of_output.values()))
        assert wrong[:count].tolist() == np.flatnonzero(gold != predicted).tolist()
        sets = [[k] for k in wrong[:count]] + [wrong[:count].tolist()]
        starts = np.cumsum([0, *map(len, sets)])
        positions = np.array([k for one in sets for k in one], np.int64)
        margins = np.zeros(len(sets))
        operations.margins(problem, model, i, starts, positions, len(sets), margins)
        amounts = np.linspace(0.5, 1.5, len(sets))
        size, places, values = operations.direction(
            problem, model, i, starts, positions, np.arange(len(sets)), len(sets), amounts
        )
        direction = np.bincount(places[:size], values[:size], len(model.w))
        expected = np.zeros(len(model.w))
        for one, margin, amount in zip(sets, margins, amounts, strict=True):
            mixed = [predicted[k] if k in one else gold[k] for k in range(n)]
            difference = vector(features(problem, i, gold), len(model.w))
            difference -= vector(features(problem, i, mixed), len(model.w))
            assert margin == pytest.approx(model.w @ difference)
            expected += amount * difference
        np.testing.assert_allclose(direction, expected, atol=1e-12)


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_expected_differences_are_sums_over_all_outputs(seed, zero, monkeypatch):
    problem, model = made(seed, margin=0.7, zero=zero)
    plain = getattr(difference_from_expectation, "py_func", difference_from_expectation)
    for i in range(3):
        operations.find_mistakes(problem, model, i, np.zeros(4, np.int64))
        size, places, values = expected_difference(problem, model, i)
        compiled = np.bincount(places[:size], values[:size], len(model.w))
        size, places, values = plain(problem, model, i, model.node)
        np.testing.assert_allclose(compiled, np.bincount(places[:size], values[:size], len(model.w)), atol=1e-12)
        with monkeypatch.context() as patch:
            patch.setattr("swvp.structures.chain.lattice.LEAST", 0.0)  # else small differences are left out
            size, places, values = plain(problem, model, i, model.node)
        got = np.bincount(places[:size], values[:size], len(model.w))
        of_output = scores(problem, model, i)
        log_z = math.log(sum(math.exp(score) for score in of_output.values()))
        n = problem.offsets[i + 1] - problem.offsets[i]
        expected = vector(features(problem, i, problem.gold[problem.offsets[i] :][:n]), len(model.w))
        for chosen, score in of_output.items():
            expected -= math.exp(score - log_z) * vector(features(problem, i, chosen), len(model.w))
        np.testing.assert_allclose(got, expected, atol=1e-9)


WORDS = [["the", "dog", "barks"], ["dogs", "bark"], ["the", "cats", "sleep"], ["a", "cat", "sleeps"]]
TAGS = {
    "the": ("DET", "_"),
    "a": ("DET", "Number=Sing"),
    "dog": ("NOUN", "Number=Sing"),
    "cat": ("NOUN", "Number=Sing"),
    "dogs": ("NOUN", "Number=Plur"),
    "cats": ("NOUN", "Number=Plur"),
    "barks": ("VERB", "Number=Sing"),
    "sleeps": ("VERB", "Number=Sing"),
    "bark": ("VERB", "Number=Plur"),
    "sleep": ("VERB", "Number=Plur"),
}


def toy():
    treebank = treebank_of(WORDS * 8)
    forms = strings_of(treebank.words)
    return dataclasses.replace(
        treebank,
        upos=column_of(TAGS[form][0] for form in forms),
        feats=column_of(TAGS[form][1] for form in forms),
    )


@pytest.fixture(scope="module")
def tagger():
    return MorphologicalTagger.train(toy(), places=2**12)


def test_it_learns_what_can_be_learnt(tagger):
    treebank = toy()
    predicted = tagger.predict(treebank.words, treebank.offsets)
    assert strings_of(predicted.upos) == strings_of(treebank.upos)
    assert strings_of(predicted.feats) == strings_of(treebank.feats)
    unknown = treebank_of([["the", "horses", "sleep"]])
    assert strings_of(tagger.predict(unknown.words, unknown.offsets).upos)[0] == "DET"


def test_a_seed_gives_the_same_weights_and_contents_the_same_tags(tagger):
    again = MorphologicalTagger.train(toy(), places=2**12)
    assert np.array_equal(again.weights, tagger.weights)
    meta, arrays = tagger.contents()
    restored = MorphologicalTagger.from_contents(meta, arrays, Memory())
    treebank = toy()
    one, other = (each.predict(treebank.words, treebank.offsets) for each in (tagger, restored))
    assert all(strings_of(a) == strings_of(b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    "change",
    [{"places": 3}, {"places": 2**40}, {"analyses": []}, {"of_forms": [[99]]}, {"endings": ["x"]}, {"frequent": []}],
)
def test_contents_that_do_not_fit_are_refused(tagger, change):
    meta, arrays = tagger.contents()
    with pytest.raises((InputError, ValueError)):
        MorphologicalTagger.from_contents(meta | change, arrays, Memory())


def test_weights_outside_of_the_table_are_refused(tagger):
    meta, arrays = tagger.contents()
    outside = arrays["weight places"].copy()
    outside[-1] = 2**31
    with pytest.raises(InputError):
        MorphologicalTagger.from_contents(meta, arrays | {"weight places": outside}, Memory())


def test_a_treebank_without_tags_is_refused():
    with pytest.raises(InputError, match="no tags"):
        MorphologicalTagger.train(treebank_of([["a", "b"]]))


def test_candidates_are_those_of_the_form_then_those_of_its_ending():
    analyses = learn_analyses(["dogs", "cats", "runs"], [("N", "_", "P"), ("N", "_", "P"), ("V", "_", "S")])
    assert analyses.candidates("runs")[0] == 1
    assert analyses.candidates("rats")[0] == 0
    assert analyses.candidates("zzz") == [0, 1]
    assert endings_of("A1") == ["#a1", "#1", "#", ""]
