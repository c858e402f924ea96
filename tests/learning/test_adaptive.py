"""The step `ada`, the rule `softmax`, margins and costs of chains, weights of sentences, averages of late weights."""

import itertools

import numpy as np
import pytest

from helpers.plain_tagger import BARRIERS, LABELS, PlainTagger, as_problem, random_examples, started
from helpers.twin import change
from swvp import SequenceTagger, StructuredPerceptron, theory
from swvp.errors import InputError
from swvp.learning.epoch import COUNTS
from swvp.learning.perceptron import new_state, run_epochs, sweep_of
from swvp.learning.rule import UpdateRule, as_rule
from swvp.structures import PlainChain, operations
from swvp.structures.chain.attributes import new_model
from swvp.structures.chain.expected import LEAST
from swvp.structures.generic import PythonModel, PythonProblem
from swvp.tagging.decoder import costs_of

WORDS = [["a", "b"], ["b", "c", "a"], ["c"], ["a", "c", "b", "b"]]
TAGS = [["X", "Y"], ["Y", "Z", "X"], ["Y"], ["X", "Z", "Y", "X"]]


# ---------------------------------------------------------------- rules


def test_names_of_adaptive_rules_are_read_back():
    for name in ("csp:ada", "softmax", "a-wm:ada", "b-maxent:all:ada", "a-wm:segments:ada:impose", "2xcsp..softmax"):
        assert as_rule(name).name == name
    assert as_rule("csp:ada") == as_rule("csp", step="ada")
    assert as_rule("softmax").C == 0.3
    assert as_rule("softmax", C=2).C == 2
    assert not as_rule("softmax").uses_beta
    assert not as_rule("softmax").respects_conditions()


def test_softmax_takes_no_other_parts():
    for changes in ({"step": "unit"}, {"gamma": "wm"}, {"approach": "aggressive"}, {"impose": True}):
        with pytest.raises(InputError, match="the rule softmax has no other"):
            as_rule("softmax", **changes)
    with pytest.raises(InputError, match="more than one part"):
        as_rule("softmax:ada")


# ---------------------------------------------------------------- the step


def test_two_updates_by_hand():
    """g = 1, then again 1: w = C/√2, then C/√2 + C/√3."""
    deltas = np.array([1.0, -1.0, 0.0])
    squares = np.zeros(3, np.float32)
    first = change("ada", 0.5, [(1.0, deltas, 1)], np.zeros(3), False, 1, squares)
    np.testing.assert_allclose(first, 0.5 / np.sqrt(2) * deltas)
    second = change("ada", 0.5, [(1.0, deltas, 1)], first, False, 1, squares)
    np.testing.assert_allclose(second, 0.5 / np.sqrt(3) * deltas)


def test_each_wrong_position_counts_once():
    """With three wrong positions of one attribute each, uniform γ over single positions is the direction of CSP."""
    X, Y = [[[(0, 1.0)], [(1, 1.0)], [(2, 1.0)]]], [(1, 1, 1)]
    weights = []
    for rule in ("csp:ada", "a-uniform:ada"):
        model = new_model(8, LABELS, 4)
        list(run_epochs(as_problem(X, Y, valued=False), model, as_rule(rule), examples=1, epochs=1))
        weights.append(model.w)
    assert weights[0].any()
    np.testing.assert_allclose(*weights, atol=1e-6)  # γ = 1/3 is rounded


def test_rare_features_learn_faster_than_frequent_ones():
    X, Y = [[[(0, 1.0), (1, 1.0)]], [[(0, 1.0), (2, 1.0)]]], [(1,), (2,)]
    model = new_model(8, LABELS, 4)
    list(run_epochs(as_problem(X, Y, valued=False), model, as_rule("csp:ada"), examples=2, epochs=5))
    assert abs(model.w[1]).max() > abs(model.w[0]).max()


# ---------------------------------------------------------------- softmax


def brute_force(plain, x, y, w, costs):
    """φ(x, y) - E[φ] and the cost-augmented scores of all outputs."""
    outputs = [z for z in itertools.product(range(LABELS), repeat=len(x)) if plain.allowed(z)]
    phi = np.stack([plain.joint_feature(x, z) for z in outputs])
    scores = phi @ w + [sum(costs[a, b] for a, b in zip(y, z, strict=True)) for z in outputs]
    p = np.exp(scores - scores.max())
    return plain.joint_feature(x, y) - (p / p.sum()) @ phi, dict(zip(outputs, scores, strict=True))


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("from_zero", [False, True])
def test_the_difference_is_that_of_the_definition(barrier, valued, from_zero):
    rng = np.random.default_rng(5)
    checked = 0
    for _ in range(8):
        X, Y = random_examples(rng, valued=valued, barrier=BARRIERS[barrier])
        costs = rng.choice([0.5, 1.0, 2.0], size=(LABELS, LABELS)) * (1 - np.eye(LABELS))
        problem = as_problem(X, Y, valued=valued)._replace(costs=costs)
        model, w = started(rng, BARRIERS[barrier])
        if from_zero:
            model.w[:] = model.w_move[:] = 0.0
            operations.refresh(model)
            w = np.zeros_like(w)
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            expected, scores = brute_force(PlainTagger(BARRIERS[barrier]), x, y, w, costs)
            k = operations.find_mistakes(problem, model, i, np.zeros(4, np.int64))
            predicted = tuple(model.predicted[: len(x)].tolist())
            assert scores[predicted] == pytest.approx(max(scores.values()))
            assert k == sum(a != b for a, b in zip(y, predicted, strict=True))
            size, features, values = operations.expected_difference(problem, model, i)
            difference = np.zeros_like(w)
            np.add.at(difference, features[:size], values[:size])
            most = max(1.0, *(abs(value) for position in x for _, value in position))
            np.testing.assert_allclose(difference, expected, atol=4 * LEAST * most)
            checked += 1
    assert checked == 48


def test_extreme_transitions_are_summed_by_logarithms():
    rng = np.random.default_rng(6)
    X, Y = random_examples(rng, valued=False)
    model, _ = started(rng)
    model.w_move[:] *= 300
    operations.refresh(model)
    w, problem = operations.weights(model), as_problem(X, Y, valued=False)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        operations.find_mistakes(problem, model, i, np.zeros(4, np.int64))
        size, features, values = operations.expected_difference(problem, model, i)
        difference = np.zeros_like(w)
        np.add.at(difference, features[:size], values[:size])
        np.testing.assert_allclose(difference, brute_force(PlainTagger(), x, y, w, np.zeros((3, 3)))[0], atol=4 * LEAST)


def test_softmax_skips_examples_that_win_by_their_costs():
    X, Y = [[[(0, 1.0)]]], [(1,)]
    costs = 2.0 * (1 - np.eye(LABELS))
    problem, model = as_problem(X, Y, valued=False)._replace(costs=costs), new_model(8, LABELS, 4)
    history = list(run_epochs(problem, model, as_rule("softmax"), examples=1, epochs=50))
    assert history[-1].mistakes == 0  # training ended because the gold label wins by the margin
    score = model.w[0] + model.w_move[LABELS, :LABELS] + model.w_move[:LABELS, LABELS]
    assert score[1] - max(score[0], score[2]) >= 2


# ---------------------------------------------------------------- margins and costs


def test_margins_of_mixed_assignments_include_their_costs():
    rng = np.random.default_rng(7)
    X, Y = random_examples(rng, valued=False)
    costs = rng.uniform(0, 2, size=(LABELS, LABELS)) * (1 - np.eye(LABELS))
    problem = as_problem(X, Y, valued=False)
    model, w = started(rng)
    plain, checked = PlainTagger(), 0
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        wrong, out = np.zeros(4, np.int64), np.zeros(4)
        k = operations.find_mistakes(problem._replace(costs=costs), model, i, wrong)
        operations.margins(problem._replace(costs=costs), model, i, np.arange(k + 1), wrong, k, out)
        for j in range(k):
            mixed = list(y)
            mixed[wrong[j]] = int(model.predicted[wrong[j]])
            delta = plain.joint_feature(x, y) - plain.joint_feature(x, mixed)
            assert out[j] == pytest.approx(w @ delta - costs[y[wrong[j]], mixed[wrong[j]]])
            checked += 1
    assert checked > 3


def test_costs_are_factors_of_the_margin():
    labels = ["O", "B", "I"]
    np.testing.assert_array_equal(costs_of(2.0, None, labels), 2.0 * (1 - np.eye(3)))
    np.testing.assert_array_equal(
        costs_of(2.0, {("B", "O"): 5, "B": 3}, labels), [[0.0, 2.0, 2.0], [10.0, 0.0, 6.0], [2.0, 2.0, 0.0]]
    )
    assert costs_of(0.0, {"B": 3}, labels).size == 0


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ({"B": -1}, "must be a number of at least 0"),
        ({"Q": 1}, "neither a label"),
        ({("B", "Q"): 1}, "neither a label"),
    ],
)
def test_wrong_costs_are_refused(cost, message):
    with pytest.raises(InputError, match=message):
        costs_of(1.0, cost, ["O", "B", "I"])


@pytest.mark.parametrize("rule", ["csp", "softmax"])
def test_a_gold_label_with_a_higher_cost_gets_larger_weights(rule):
    rng = np.random.default_rng(8)
    X = [[str(rng.integers(3)) for _ in range(6)] for _ in range(60)]
    y = [["P" if rng.random() < 0.3 else "N" for _ in sentence] for sentence in X]  # words say nothing about labels
    weights = []
    for cost in ({"P": 0.2}, {"P": 5}):
        tagger = SequenceTagger(rule=rule, margin=4, cost=cost, features=["word[0]"], random_state=0).fit(X, y)
        weights.append(tagger.coef_[:, tagger.classes_.index("P")].sum())
    assert weights[1] > weights[0]


def test_a_crf_has_no_margin_and_no_costs():
    for more in ({"margin": 1}, {"cost": {"X": 2}}):
        with pytest.raises(InputError, match="margin and cost are for other rules than crf"):
            SequenceTagger(rule="crf", **more).fit(WORDS, TAGS)


@pytest.mark.parametrize("options", [{"order": 2}, {"decoder": "beam"}, {"rule": "crf"}])
def test_weights_of_sentences_need_first_order_and_exact_search(options):
    with pytest.raises(InputError, match="sample_weight is for order 1"):
        SequenceTagger(**options).fit(WORDS, TAGS, sample_weight=[1, 1, 1, 1])


def test_the_default_rule_depends_on_the_search():
    assert SequenceTagger()._rule().name == "softmax"
    assert SequenceTagger(order=2)._rule().name == "softmax"
    assert SequenceTagger(order=2, gamma="wm")._rule().name == "a-wm:segments:sqrt"
    assert SequenceTagger(decoder="beam")._rule().name == "a-wm:segments:sqrt"


# ---------------------------------------------------------------- weights of sentences


@pytest.mark.parametrize("rule", ["csp", "mira", "mira:3", "csp:ada", "softmax", "b-maxent:all"])
def test_a_sentence_of_weight_0_changes_nothing(rule):
    def fit(words, tags, **given):
        return SequenceTagger(rule=rule, C=0.25, epochs=3, random_state=0, features=["word[0]"]).fit(
            words, tags, **given
        )

    one = fit(WORDS, TAGS, sample_weight=[1, 1, 1, 1])
    np.testing.assert_array_equal(one.coef_, fit(WORDS, TAGS).coef_)
    none = fit(WORDS, TAGS, sample_weight=[0, 0, 0, 0])
    assert not none.coef_.any()
    assert sum(epoch.updates for epoch in none.history_) == 0
    assert abs(one.coef_ - fit(WORDS, TAGS, sample_weight=[3, 1, 0.5, 1]).coef_).max() > 0


def test_a_weight_multiplies_a_perceptron_update():
    X, Y = [[[(0, 1.0)]]], [(1,)]
    changes = []
    for importance in ([1.0], [2.5]):
        model = new_model(8, LABELS, 4)
        problem = as_problem(X, Y, valued=False)._replace(importance=np.array(importance))
        list(run_epochs(problem, model, as_rule("csp"), examples=1, epochs=1))
        changes.append(operations.weights(model))
    np.testing.assert_allclose(changes[1], 2.5 * changes[0])


@pytest.mark.parametrize("weights", [[1], [1, 2, 3, -1], [1, 2, 3, np.nan], ["a"] * 4, 3])
def test_wrong_weights_of_sentences_are_refused(weights):
    with pytest.raises(InputError, match="one number of at least 0 for each of the 4 sentences"):
        SequenceTagger().fit(WORDS, TAGS, sample_weight=weights)


# ---------------------------------------------------------------- averages of late weights


@pytest.mark.parametrize("rule", ["csp", "a-wm:ada"])
@pytest.mark.parametrize("power", [1.0, 2.0, 3.0])
def test_averages_weigh_later_vectors_by_the_power(rule, power):
    rng = np.random.default_rng(9)
    X, Y = random_examples(rng, valued=False)
    problem, every = as_problem(X, Y, valued=False), []
    model = new_model(8, LABELS, 4)
    given = as_rule(rule)
    squares = new_state(given, model).squares
    run, prepared = sweep_of(given, problem, squares)
    largest, counts = np.zeros(1), np.zeros(len(COUNTS), np.int64)
    for t in range(3 * len(X)):
        run(problem, model, prepared, np.array([t % len(X)]), t, power, largest, counts)
        every.append(operations.weights(model))
    t = np.arange(len(every))
    shares = (t + 1.0) ** power - t**power
    mean = (shares[:, None] * every).sum(0) / shares.sum()
    np.testing.assert_allclose(operations.averaged_weights(model, float(len(every)) ** power), mean, atol=1e-8)
    plain = StructuredPerceptron(PlainTagger(), rule=given, epochs=3, average_power=power, shuffle=False).fit(X, Y)
    if len(plain.history_) == 3:
        np.testing.assert_allclose(plain.averaged_coef_, mean, atol=1e-8)


def test_the_default_power_depends_on_the_step():
    assert SequenceTagger()._average_power(as_rule("softmax")) == 3
    assert SequenceTagger()._average_power(as_rule("csp:ada")) == 3
    assert SequenceTagger()._average_power(as_rule("mira")) == 1
    assert SequenceTagger(average_power=2)._average_power(as_rule("mira")) == 2
    for wrong in (0.5, "3", np.nan):
        with pytest.raises(InputError, match="average_power must be a number of at least 1"):
            SequenceTagger(average_power=wrong).fit(WORDS, TAGS)


# ---------------------------------------------------------------- the state of a training


@pytest.mark.parametrize("rule", ["csp:ada", "softmax"])
def test_an_interrupted_training_resumes_to_the_same_weights(rule, tmp_path):
    def fit(**given):
        return SequenceTagger(rule=rule, epochs=4, random_state=0).fit(WORDS, TAGS, **given)

    def stop(progress):
        if progress.epoch.epoch == 2:
            raise KeyboardInterrupt

    path = tmp_path / "tagger.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        fit(watch=stop, checkpoint=path)
    assert path.exists()
    np.testing.assert_array_equal(fit(checkpoint=path).coef_, fit().coef_)


def test_partial_fit_keeps_the_squares_of_known_attributes_and_labels():
    tagger = SequenceTagger(rule="csp:ada", margin=0, features=["word[0]"], random_state=0)
    tagger.partial_fit([["a", "b"]], [["X", "Y"]])
    before = tagger._training.state.squares.copy()
    assert before.any()
    tagger.partial_fit([["c"]], [["W"]])  # one more attribute, and a label that comes before the others
    after = tagger._training.state.squares
    assert len(after) > len(before)
    assert after.sum() >= before.sum()


def test_users_gamma_can_take_adaptive_steps():
    rule = UpdateRule(gamma=lambda margins, beta: np.ones(len(margins)), step="ada", C=0.5)
    own = SequenceTagger(rule=rule, margin=0, random_state=0, epochs=3).fit(WORDS, TAGS)
    same = SequenceTagger(rule="a-uniform:ada", C=0.5, margin=0, random_state=0, epochs=3).fit(WORDS, TAGS)
    np.testing.assert_array_equal(own.coef_, same.coef_)


# ---------------------------------------------------------------- what is left of Theorem 1


@pytest.mark.parametrize("rule", ["csp:ada", "a-wm:ada", "b-maxent:all:ada"])
def test_updates_on_separable_data_are_bounded(rule):
    """M ≤ (D²/2C + C) Σ_f √(1 + Σg_f²) / δ, with D the largest |w_f - u_f| of the run."""
    rng, chain, C = np.random.default_rng(11), PlainChain(symbols=4, labels=3), 0.5
    X = [tuple(rng.integers(4, size=4).tolist()) for _ in range(12)]
    Y = [tuple(s % 3 for s in x) for x in X]
    u = 3 * theory.separator(chain, X, Y)
    given = as_rule(rule, C=C)
    delta = theory.margin(chain, X, Y, u, substructures=given.substructures) * np.linalg.norm(u)
    assert delta > 0
    problem, model = PythonProblem(chain, X, Y), PythonModel(np.zeros(len(u)))
    state = new_state(given, model)
    seen = [model.w.copy()]
    epochs = list(
        run_epochs(
            problem,
            model,
            given,
            examples=len(X),
            epochs=50,
            state=state,
            after=lambda *_: seen.append(model.w.copy()),
        )
    )
    assert epochs[-1].mistakes == 0
    updates = sum(epoch.updates for epoch in epochs)
    squares = state.squares
    moved = squares > 0
    D = abs(np.array(seen) - u)[:, moved].max()
    bound = (D**2 / (2 * C) + C) * np.sqrt(1 + squares[moved].astype(float)).sum() / delta
    assert 0 < updates <= bound
