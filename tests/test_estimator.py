"""The generic learner behaves as scikit-learn's estimators do, and as the paper's algorithms say."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from helpers.problems import RememberingChain, random_sequences, separable_sequences
from swvp import CRF
from swvp.errors import InputError
from swvp.estimators import DependencyParser, SequenceTagger, StructuredPerceptron
from swvp.learning.rule import UpdateRule


class Votes:
    """Every position is decided by itself: y_k = 1 where w_k > 0. φ is y."""

    def joint_feature(self, x, y):
        return np.array(y, float)

    def argmax(self, x, w):
        return [int(v > 0) for v in w]


def chain_data(seed, *, examples=12):
    X, Y = random_sequences(np.random.default_rng(seed), examples=examples, symbols=5, labels=3, longest=4)
    return RememberingChain(5, 3), X, Y


def noisy_learner(**options):
    """Trained on random labels."""
    chain, X, Y = chain_data(40)
    return StructuredPerceptron(chain, **{"random_state": 0, **options}).fit(X, Y)


# ---------------------------------------------------------------- scikit-learn's manner


def test_clone_copies_the_parameters_and_not_what_was_learned():
    learner = noisy_learner(rule=UpdateRule(gamma="wmr", beta=2), epochs=3, average=False, random_state=5)
    copy = clone(learner)
    assert not hasattr(copy, "coef_")
    for name in ("rule", "beta", "epochs", "average", "shuffle", "random_state"):
        assert getattr(copy, name) == getattr(learner, name)


def test_a_clone_learns_the_same():
    learner = noisy_learner(random_state=5)
    _, X, Y = chain_data(40)
    np.testing.assert_array_equal(clone(learner).fit(X, Y).coef_, learner.coef_)


def test_get_params_names_every_parameter():
    names = {"problem", "rule", "beta", "epochs", "average", "average_power", "vote", "shuffle", "random_state"}
    assert set(StructuredPerceptron(Votes()).get_params()) == names


def test_estimators_need_no_scikit_learn():
    program = (
        "import sys, swvp\n"
        "tagger, parser = swvp.SequenceTagger(epochs=3), swvp.DependencyParser()\n"
        "print(tagger, parser.get_params()['epochs'], swvp.CRF(c2=0.5).set_params(c2=1.0), hasattr(tagger, 'coef_'))\n"
        "print({'sklearn', 'scipy.sparse', 'pandas'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "SequenceTagger(epochs=3) 10 CRF(c2=1.0) False\nset()\n"


def test_estimators_work_where_scikit_learn_is_not_installed():
    program = (
        "import sys, pickle\n"
        "sys.modules['sklearn'] = None\n"
        "import swvp\n"
        "from swvp.errors import InputError\n"
        "tagger = swvp.SequenceTagger()\n"
        "print(pickle.loads(pickle.dumps(tagger)), hasattr(tagger, 'set_fit_request'))\n"
        "try:\n"
        "    tagger.predict([['a']])\n"
        "except InputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "SequenceTagger() False\nthis SequenceTagger is not fitted: call fit(X, y) first\n"


@pytest.mark.parametrize("cls", [SequenceTagger, DependencyParser, CRF])
def test_parameters_and_tags_are_those_of_scikit_learn(cls):
    mine, theirs = cls(n_jobs=2), type(cls.__name__, (BaseEstimator, cls), {})(n_jobs=2)
    assert list(mine.get_params().items()) == list(theirs.get_params().items())
    assert repr(mine) == repr(theirs)
    assert not hasattr(theirs, "__sklearn_tags__") or mine.__sklearn_tags__() == theirs.__sklearn_tags__()


def test_an_estimator_passes_parameters_on_to_one_inside():
    outer = StructuredPerceptron(SequenceTagger(epochs=3))
    assert outer.set_params(problem__epochs=4, epochs=5).get_params()["problem__epochs"] == outer.problem.epochs == 4
    with pytest.raises(ValueError, match="Invalid parameter 'epoch' for SequenceTagger"):
        outer.set_params(problem__epoch=4)


def test_scikit_learn_routes_metadata_to_an_estimator_and_draws_it():
    tagger = SequenceTagger()
    with config_context(enable_metadata_routing=True):
        assert tagger.set_fit_request(sample_weight=True) is tagger
        assert clone(tagger).get_metadata_routing().fit.requests["sample_weight"] is True
    assert "SequenceTagger" in make_pipeline(tagger)._repr_html_()
    for name in ("coef_", "_secret", "transform"):
        with pytest.raises(AttributeError, match=f"'SequenceTagger' object has no attribute '{name}'"):
            getattr(tagger, name)


def test_set_params_takes_effect_at_the_next_fit():
    chain, X, Y = chain_data(40)
    learner = noisy_learner(rule="csp", shuffle=False).set_params(rule="a-wm:segments", epochs=3).fit(X, Y)
    other = StructuredPerceptron(chain, rule="a-wm:segments", epochs=3, shuffle=False).fit(X, Y)
    np.testing.assert_array_equal(learner.last_coef_, other.last_coef_)


def test_fit_leaves_the_parameters_as_they_are():
    learner = StructuredPerceptron(RememberingChain(5, 3), rule="a-wm", beta=2, random_state=0)
    before = learner.get_params()
    _, X, Y = chain_data(40)
    assert learner.fit(X, Y) is learner
    assert learner.get_params() == before


def test_fitting_again_starts_afresh():
    chain, X, Y = chain_data(40)
    learner = StructuredPerceptron(chain, random_state=0)
    first = learner.fit(X, Y).last_coef_
    np.testing.assert_array_equal(learner.fit(X, Y).last_coef_, first)


def test_predicting_before_fitting_is_refused():
    with pytest.raises(NotFittedError, match="call fit"):
        StructuredPerceptron(Votes()).predict([None])


# ---------------------------------------------------------------- order and seeds


def test_the_same_seed_learns_the_same_weights():
    a, b = noisy_learner(random_state=3), noisy_learner(random_state=3)
    np.testing.assert_array_equal(a.last_coef_, b.last_coef_)
    np.testing.assert_array_equal(a.averaged_coef_, b.averaged_coef_)


def test_a_random_state_object_serves_as_a_seed():
    a, b = (noisy_learner(random_state=np.random.RandomState(3)) for _ in range(2))
    np.testing.assert_array_equal(a.last_coef_, b.last_coef_)


def test_other_seeds_can_learn_other_weights():
    weights = [noisy_learner(random_state=seed).last_coef_.tolist() for seed in range(4)]
    assert any(w != weights[0] for w in weights)


def test_without_shuffling_the_seed_does_not_matter():
    a, b = noisy_learner(shuffle=False, random_state=1), noisy_learner(shuffle=False, random_state=2)
    np.testing.assert_array_equal(a.last_coef_, b.last_coef_)


class Watching(RememberingChain):
    """Remembers the inputs it was asked to predict."""

    def __init__(self):
        super().__init__(5, 3)
        self.seen = []

    def argmax(self, x, w):
        self.seen.append(x)
        return super().argmax(x, w)


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_pass_sees_every_example_once(shuffle):
    _, X, Y = chain_data(40)
    watching = Watching()
    learner = StructuredPerceptron(watching, epochs=3, shuffle=shuffle, random_state=0).fit(X, Y)
    orders = [watching.seen[k : k + len(X)] for k in range(0, len(watching.seen), len(X))]
    assert len(orders) == len(learner.history_) == 3
    assert all(sorted(order) == sorted(X) for order in orders)
    assert all(order == X for order in orders) == (not shuffle)


# ---------------------------------------------------------------- the algorithm


def structured_perceptron(problem, X, Y, epochs):
    """Algorithm 1 of the paper."""
    w = np.zeros(len(problem.joint_feature(X[0], Y[0])))
    for _ in range(epochs):
        for x, y in zip(X, Y, strict=True):
            predicted = problem.argmax(x, w)
            if predicted != y:
                w = w + problem.joint_feature(x, y) - problem.joint_feature(x, predicted)
    return w


@pytest.mark.parametrize("seed", range(5))
def test_the_csp_rule_is_algorithm_1(seed):
    chain, X, Y = chain_data(seed)
    learner = StructuredPerceptron(chain, rule="csp", epochs=6, shuffle=False).fit(X, Y)
    np.testing.assert_array_equal(learner.last_coef_, structured_perceptron(chain, X, Y, epochs=6))
    assert sum(epoch.back_offs for epoch in learner.history_) == 0


@pytest.mark.parametrize("rule", ["csp", "a-wm", "b-wmr:pairs:sqrt"])
def test_averaged_weights_are_the_mean_of_the_weights_after_each_example(rule):
    chain, X, Y = chain_data(41)
    w, every_w = np.random.default_rng(41).normal(size=len(chain.joint_feature(X[0], Y[0]))), []
    learner = StructuredPerceptron(chain, rule=rule, epochs=2, shuffle=False).fit(X, Y, initial=w)
    one_pass = clone(learner).set_params(epochs=1)
    for _ in range(2):
        every_w += [one_pass.fit(X[:n], Y[:n], initial=w).last_coef_ for n in range(1, len(X) + 1)]
        w = every_w[-1]
    np.testing.assert_allclose(learner.last_coef_, w, atol=1e-12)
    np.testing.assert_allclose(learner.averaged_coef_, np.mean(every_w, axis=0), atol=1e-12)


def test_passes_that_were_not_needed_do_not_change_the_average():
    chain, X, Y, _ = separable_sequences(np.random.default_rng(46), examples=6, symbols=3, labels=2, length=3)
    many = StructuredPerceptron(chain, epochs=500, shuffle=False).fit(X, Y)
    assert 2 < len(many.history_) < 500
    just_enough = StructuredPerceptron(chain, epochs=len(many.history_), shuffle=False).fit(X, Y)
    np.testing.assert_array_equal(many.averaged_coef_, just_enough.averaged_coef_)


def test_predictions_use_the_averaged_weights_if_asked_to():
    averaged, last = noisy_learner(average=True), noisy_learner(average=False)
    np.testing.assert_array_equal(averaged.coef_, averaged.averaged_coef_)
    np.testing.assert_array_equal(last.coef_, last.last_coef_)
    np.testing.assert_array_equal(averaged.last_coef_, last.last_coef_)


def test_training_stops_after_a_pass_without_a_mistake():
    chain, X, Y, _ = separable_sequences(np.random.default_rng(46), examples=6, symbols=3, labels=2, length=3)
    learner = StructuredPerceptron(chain, epochs=500, average=False, random_state=0).fit(X, Y)
    assert learner.converged_
    assert [epoch.mistakes == 0 for epoch in learner.history_] == [False] * (len(learner.history_) - 1) + [True]
    assert learner.predict(X) == Y


def test_training_that_runs_out_of_passes_has_not_converged():
    learner = StructuredPerceptron(Votes(), epochs=3).fit([None, None], [[0], [1]])
    assert not learner.converged_
    assert len(learner.history_) == 3


def test_beta_replaces_the_beta_of_the_rule():
    a = noisy_learner(rule=UpdateRule(beta=0.5), beta=3)
    b = noisy_learner(rule=UpdateRule(beta=3))
    c = noisy_learner(rule=UpdateRule(beta=0.5))
    np.testing.assert_array_equal(a.last_coef_, b.last_coef_)
    assert not np.array_equal(a.last_coef_, c.last_coef_)


def test_initial_weights_that_separate_stay_as_they_are():
    chain, X, Y, w = separable_sequences(np.random.default_rng(43), examples=6, symbols=3, labels=2, length=3)
    learner = StructuredPerceptron(chain).fit(X, Y, initial=w)
    assert len(learner.history_) == 1
    np.testing.assert_array_equal(learner.last_coef_, w)
    np.testing.assert_allclose(learner.averaged_coef_, w, rtol=1e-9)


def test_initial_weights_are_not_changed_in_place():
    start = np.zeros(2)
    StructuredPerceptron(Votes(), rule="csp").fit([None], [[1, 1]], initial=start)
    np.testing.assert_array_equal(start, [0, 0])


# ---------------------------------------------------------------- history


@pytest.fixture(scope="module")
def histories():
    return [noisy_learner(rule=rule, epochs=8).history_ for rule in ("csp", "a-wm", "b-wm", "b-uniform:impose")]


def test_epochs_are_numbered_from_1_and_count_the_examples(histories):
    for history in histories:
        assert [epoch.epoch for epoch in history] == list(range(1, len(history) + 1))
        assert {epoch.examples for epoch in history} == {12}


def test_every_mistake_is_one_update_and_back_offs_are_among_them(histories):
    for epoch in (epoch for history in histories for epoch in history):
        assert 0 <= epoch.back_offs <= epoch.updates == epoch.mistakes <= epoch.examples
        assert epoch.without_violation == 0


def test_csp_has_one_violating_mixed_assignment_for_each_mistake(histories):
    for epoch in histories[0]:
        assert (epoch.violating, epoch.non_violating) == (epoch.mistakes, 0)


def test_single_positions_have_one_mixed_assignment_for_each_wrong_position(histories):
    for epoch in (epoch for history in histories[1:] for epoch in history):
        assert epoch.violating + epoch.non_violating == epoch.wrong_positions >= epoch.mistakes


def test_wrong_positions_are_those_of_the_predictions():
    (epoch,) = StructuredPerceptron(Votes(), rule="csp", epochs=1).fit([None], [[1, 0, 1, 1]]).history_
    assert epoch.wrong_positions == 3


def test_the_norm_is_that_of_the_last_weights():
    learner = noisy_learner(epochs=2)
    assert learner.history_[-1].norm == pytest.approx(np.linalg.norm(learner.last_coef_))
    assert learner.history_[0].norm != learner.history_[-1].norm


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_labels_may_be_lists_tuples_or_arrays(kind):
    chain, X, Y = chain_data(44)
    other = StructuredPerceptron(chain, shuffle=False).fit(X, [kind(y) for y in Y])
    np.testing.assert_array_equal(other.last_coef_, StructuredPerceptron(chain, shuffle=False).fit(X, Y).last_coef_)


class Words:
    """y_k is the tag of word x_k; one weight per word and tag."""

    tags = ("determiner", "noun", "verb")

    def joint_feature(self, x, y):
        counts = np.zeros((3, 3))
        for word, tag in zip(x, y, strict=True):
            counts[word, self.tags.index(tag)] += 1
        return counts.ravel()

    def argmax(self, x, w):
        return [self.tags[k] for k in w.reshape(3, 3)[list(x)].argmax(1)]


def test_words_as_labels_may_be_lists_or_arrays():
    X, Y = [[0, 1], [2, 0, 1]], [["noun", "verb"], ["determiner", "noun", "verb"]]
    lists = StructuredPerceptron(Words(), shuffle=False).fit(X, Y)
    arrays = StructuredPerceptron(Words(), shuffle=False).fit(X, [np.array(y) for y in Y])
    np.testing.assert_array_equal(arrays.last_coef_, lists.last_coef_)


def test_the_labels_of_a_two_dimensional_array_are_its_rows():
    rows = np.array([[1, 0, 1], [1, 0, 0]])
    a = StructuredPerceptron(Votes(), shuffle=False).fit([None] * 2, rows)
    b = StructuredPerceptron(Votes(), shuffle=False).fit([None] * 2, rows.tolist())
    np.testing.assert_array_equal(a.last_coef_, b.last_coef_)


def test_a_label_without_positions_is_never_wrong():
    chain, X, Y = chain_data(45)
    learner = StructuredPerceptron(chain, shuffle=False, epochs=2).fit([(), *X], [(), *Y])
    other = StructuredPerceptron(chain, shuffle=False, epochs=2).fit(X, Y)
    np.testing.assert_array_equal(learner.last_coef_, other.last_coef_)
    assert learner.predict([()]) == [()]


def test_the_score_is_the_share_of_positions_predicted_right():
    learner = StructuredPerceptron(Votes(), rule="csp", epochs=1, average=False).fit([None], [[1, 1, 0]])
    assert learner.predict([None]) == [[1, 1, 0]]
    assert learner.score([None, None], [[1, 1, 0], [0, 1, 1]]) == pytest.approx(4 / 6)


# ---------------------------------------------------------------- errors


def fit(problem, X=(None,), Y=((1, 1),), **options):
    return StructuredPerceptron(problem, rule="csp", epochs=1).fit(list(X), list(Y), **options)


def test_an_argmax_of_the_wrong_length_is_refused_with_the_example():
    class TooLong(Votes):
        def argmax(self, x, w):
            return [0, 0, 0]

    with pytest.raises(InputError, match=r"argmax returned an output with 3 positions for example 0, .* has 2"):
        fit(TooLong())


def test_an_argmax_that_returns_no_sequence_is_refused():
    class NoSequence(Votes):
        def argmax(self, x, w):
            return 1

    with pytest.raises(InputError, match="argmax returned a int for example 0"):
        fit(NoSequence())


def test_x_and_y_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="X has 1 examples and y has 2"):
        fit(Votes(), Y=[(1, 1), (0, 1)])


def test_scoring_with_x_and_y_of_different_lengths_is_refused():
    with pytest.raises(InputError, match="X has 1 examples and y has 2"):
        fit(Votes()).score([None], [(1, 1), (0, 1)])


def test_no_examples_are_refused():
    with pytest.raises(InputError, match="no training examples"):
        fit(Votes(), X=[], Y=[])


def test_a_label_that_is_a_string_is_refused():
    with pytest.raises(InputError, match="label 1 is a str: use a list, a tuple or a 1-d array"):
        fit(Votes(), X=[None, None], Y=[(1, 1), "NV"])


@pytest.mark.parametrize("missing", ["argmax", "joint_feature"])
def test_a_problem_without_its_methods_is_refused(missing):
    class Half(Votes):
        pass

    setattr(Half, missing, None)
    with pytest.raises(InputError, match=f"problem Half has no method '{missing}'"):
        fit(Half())


def test_features_of_two_dimensions_are_refused():
    class Square(Votes):
        def joint_feature(self, x, y):
            return np.zeros((2, 2))

    with pytest.raises(InputError, match="array of 2 dimensions"):
        fit(Square())


def test_initial_weights_of_the_wrong_length_are_refused():
    with pytest.raises(InputError, match=r"initial has the shape \(3,\), joint_feature returns 2 values"):
        fit(Votes(), initial=np.zeros(3))


@pytest.mark.parametrize("epochs", [0, -1, 2.5])
def test_no_whole_number_of_epochs_is_refused(epochs):
    with pytest.raises(InputError, match="epochs must be a whole number of at least 1"):
        StructuredPerceptron(Votes(), epochs=epochs).fit([None], [[1]])


def test_an_unknown_rule_is_refused_when_fitting():
    with pytest.raises(InputError, match="unknown gamma 'wn'"):
        StructuredPerceptron(Votes(), rule="a-wn").fit([None], [[1]])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda x, y: [np.nan, 1], "NaN or infinite values for example 0"),
        (lambda x, y: [1.0] * (1 + sum(y)), "joint_feature returned . values for example 0, . before"),
        (lambda x, y: [[1.0]], "an array of 2 dimensions"),
    ],
    ids=["nan", "length", "dimensions"],
)
def test_joint_features_that_make_no_sense_are_refused(value, message):
    class Broken:
        joint_feature = staticmethod(value)

        def argmax(self, x, w):
            return [0]

    with pytest.raises(InputError, match=message):
        StructuredPerceptron(Broken()).fit([None], [[1]])
