"""`swvp.CRF` takes the place of sklearn-crfsuite's `CRF`."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict

from swvp import CRF, InputError, SequenceTagger

WORDS = [["Ann", "saw", "Bo"], ["Bo", "Lee", "left"], ["they", "saw", "Ann", "Lee"], ["she", "left"], ["Bo", "ran"]]
y = [["B", "O", "B"], ["B", "I", "O"], ["O", "O", "B", "I"], ["O", "O"], ["B", "O"]]
X = [
    [{"word": word, "title": word.istitle(), "first": k == 0} for k, word in enumerate(sentence)] for sentence in WORDS
]


def coefficients(fitted):
    return {**fitted.state_features_, **fitted.transition_features_}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"algorithm": "ap", "max_iterations": 3}, {"rule": "csp", "epochs": 3}),
        ({"algorithm": "ap", "min_freq": 2, "max_iterations": 3}, {"rule": "csp", "epochs": 3, "minimum_count": 2}),
        ({"algorithm": "pa", "c": 0.1, "max_iterations": 3}, {"rule": "mira", "C": 0.1, "epochs": 3}),
        (
            {"algorithm": "pa", "averaging": False, "max_iterations": 2},
            {"rule": "mira", "C": 1, "average": False, "epochs": 2},
        ),
        ({"c2": 0.25, "max_iterations": 50}, {"rule": "crf", "l2": 0.5, "epochs": 50}),
        (
            {"algorithm": "l2sgd", "c1": 0, "all_possible_transitions": True, "max_iterations": 50},
            {"rule": "crf", "l2": 2.0, "epochs": 50},
        ),
    ],
    ids=lambda options: " ".join(map(str, options.values())),
)
def test_parameters_are_those_of_the_tagger_under_other_names(old, new):
    tagger = SequenceTagger(constraint=None, random_state=0, **new).fit(X, y)
    assert coefficients(CRF(**old).fit(X, y)) == coefficients(tagger)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"algorithm": "app"}, r"unknown algorithm 'app' \(did you mean 'ap'\?\); known: lbfgs, l2sgd, ap, pa, arow"),
        ({"algorithm": "arow"}, r"algorithm 'arow' is not offered: use SequenceTagger\(rule='csp:ada'\) or 'pa'"),
        ({"c1": 0.1}, "c1 must be 0, there is no L1 regularisation: use c2, or min_freq to drop rare attributes"),
        ({"c2": -1}, "c2 must be a number of at least 0, not -1"),
        ({"algorithm": "ap", "c2": 0.1}, "c2 is for algorithm 'lbfgs' or 'l2sgd', not 'ap'"),
        ({"c": 0.1}, "c is for algorithm 'pa', not 'lbfgs'"),
        ({"algorithm": "pa", "pa_type": 2}, "pa_type must be 1 and error_sensitive True: they are the step 'mira'"),
        ({"epsilon": 1e-3}, "epsilon has no equivalent: leave it out: training stops after max_iterations"),
        ({"model_filename": "x"}, r"model_filename has no equivalent: use crf.tagger_.save\(path\)"),
        ({"verbose": True}, r"verbose is not offered: use SequenceTagger.fit\(watch=…\) to follow a training"),
        ({"max_iterations": 0}, "epochs must be a whole number of at least 1, not 0"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else "",
)
def test_parameters_without_an_equivalent_are_refused_with_the_new_name(given, message):
    with pytest.raises(InputError, match=message):
        CRF(**given).fit(X, y)


def test_every_parameter_is_mapped_or_refused():
    """A parameter that is neither changes nothing and raises nothing: only those that may be ignored do."""
    ignored = set()
    for name in list(inspect.signature(CRF.__init__).parameters)[1:]:
        if name in ("algorithm", "random_state", "n_jobs"):
            continue
        algorithm = "pa" if name in ("c", "averaging") else "lbfgs"
        value = {"averaging": False, "c": 0.01}.get(name, 3)
        try:
            fitted = CRF(algorithm=algorithm, **{name: value}).fit(X, y)
        except InputError:
            continue
        if coefficients(fitted) == coefficients(CRF(algorithm=algorithm).fit(X, y)):
            ignored.add(name)
    assert ignored == {"all_possible_states", "all_possible_transitions", "keep_tempfiles"}


def test_it_has_the_names_of_sklearn_crfsuite():
    theirs = pytest.importorskip("sklearn_crfsuite").CRF
    names = {name for name in vars(theirs) if not name.startswith("_")} - {"tagger_", "size_"}
    assert [name for name in names if not hasattr(CRF, name) and not hasattr(CRF(), name)] == []
    parameters = list(inspect.signature(theirs.__init__).parameters)
    assert list(inspect.signature(CRF.__init__).parameters)[: len(parameters)] == parameters


def test_it_ends_near_sklearn_crfsuite():
    """CRFsuite has no weights of the first and last label: without those, the optimum would be the same."""
    theirs = pytest.importorskip("sklearn_crfsuite").CRF(
        c2=0.1, all_possible_states=True, all_possible_transitions=True
    )
    mine = CRF(c2=0.1)
    assert mine.fit(X, y).predict(X).tolist() == list(map(list, theirs.fit(X, y).predict(X)))
    for ours, other in zip(mine.predict_marginals(X), theirs.predict_marginals(X), strict=True):
        for a, b in zip(ours, other, strict=True):
            assert a == pytest.approx(b, abs=0.1)


def test_predictions_come_for_one_sentence_or_all():
    for fitted in (CRF().fit(X, y), SequenceTagger(rule="crf", constraint=None).fit(X, y)):
        predicted = fitted.predict(X)
        assert all(isinstance(labels, list) for labels in predicted)
        assert [fitted.predict_single(x) for x in X] == predicted.tolist()
        assert [fitted.predict_marginals_single(x) for x in X] == fitted.predict_marginals(X)
        assert fitted.classes_ == ["B", "I", "O"]


def test_weights_are_dicts_by_name():
    fitted = CRF(algorithm="ap", max_iterations=4).fit(X, y)
    tagger = fitted.tagger_
    names = fitted.attributes_
    assert len(names) == fitted.num_attributes_ == len(tagger.coef_)
    for (name, label), weight in fitted.state_features_.items():
        assert weight == tagger.coef_[names.index(name), fitted.classes_.index(label)] != 0
    assert len(fitted.state_features_) == np.count_nonzero(tagger.coef_)
    for (before, label), weight in fitted.transition_features_.items():
        a, b = fitted.classes_.index(before), fitted.classes_.index(label)
        assert weight == tagger.transitions_[a, b] != 0
    assert len(fitted.transition_features_) == np.count_nonzero(tagger.transitions_[:3, :3])


def test_forbidden_transitions_are_no_features():
    tagger = SequenceTagger(constraint=lambda before, label: (before, label) != ("O", "I"), random_state=0).fit(X, y)
    assert tagger.transition_features_
    assert ("O", "I") not in tagger.transition_features_


def test_weights_of_templates_have_their_names():
    tagger = SequenceTagger(features=["word[0]"], random_state=0).fit(WORDS, y)
    assert ("word[0] = Ann", "B") in tagger.state_features_


def test_scikit_learn_s_tools_work():
    assert clone(CRF(c2=0.5)).get_params()["c2"] == 0.5
    search = GridSearchCV(CRF(max_iterations=20), {"c2": [0.01, 1.0], "algorithm": [None, "lbfgs"]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"c2", "algorithm"}
    assert len(cross_val_predict(CRF(algorithm="ap", max_iterations=2), X, y, cv=2)) == len(X)
    fitted = CRF(algorithm="ap", max_iterations=2).fit(X, y)
    assert coefficients(pickle.loads(pickle.dumps(fitted))) == coefficients(fitted)
    assert fitted.score(X, y) == fitted.tagger_.score(X, y)


def test_a_dev_set_needs_both_parts_and_chooses_the_epoch():
    with pytest.raises(InputError, match="give both X_dev and y_dev, or none of them"):
        CRF().fit(X, y, X)
    assert len(CRF(algorithm="ap", max_iterations=3).fit(X, y, X, y).tagger_.dev_scores_) > 0


def test_an_unfitted_one_says_so():
    with pytest.raises(NotFittedError, match=r"this CRF is not fitted: call fit\(X, y\) first"):
        CRF().predict(X)
    assert not hasattr(CRF(), "classes_")
