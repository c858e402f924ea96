"""`CRF`: the interface of sklearn-crfsuite over `SequenceTagger`, for programs written for that package.

Its parameters are those of sklearn-crfsuite, under their names, so that `clone` and searches over `c2` work. At `fit`
they become options of a `SequenceTagger`; those without an equivalent are refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_real, shown, unknown_name
from swvp.estimators import Estimator, SequenceTagger
from swvp.tagging.corpus import Sentences
from swvp.training.options import not_fitted

__all__ = ["CRF"]

UNLIMITED = 10_000
"""Iterations of L-BFGS without a limit: it converges long before."""
PERCEPTRON_EPOCHS = 100
"""CRFsuite's default for `ap` and `pa`."""

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")
ONLY_FOR = {
    "c2": ("lbfgs", "l2sgd"),
    "c": ("pa",),
    "averaging": ("pa",),
    "pa_type": ("pa",),
    "error_sensitive": ("pa",),
}
"""Parameters that CRFsuite has for some algorithms only."""

STOPS = "leave it out: training stops after max_iterations, or when nothing improves"
LINE_SEARCH = "leave it out: L-BFGS is SciPy's"
NO_CALIBRATION = "leave it out: 'l2sgd' is trained by L-BFGS, which has no learning rate"
REFUSED = {
    "epsilon": STOPS,
    "period": STOPS,
    "delta": STOPS,
    "num_memories": LINE_SEARCH,
    "linesearch": LINE_SEARCH,
    "max_linesearch": LINE_SEARCH,
    "calibration_eta": NO_CALIBRATION,
    "calibration_rate": NO_CALIBRATION,
    "calibration_samples": NO_CALIBRATION,
    "calibration_candidates": NO_CALIBRATION,
    "calibration_max_trials": NO_CALIBRATION,
    "variance": "it is for 'arow': use SequenceTagger(rule='csp:ada')",
    "gamma": "it is for 'arow': use SequenceTagger(rule='csp:ada')",
    "model_filename": "use crf.tagger_.save(path), and SequenceTagger.load(path) to predict",
    "trainer_cls": "leave it out: use SequenceTagger.fit(watch=…) to follow a training",
}
"""Parameters without an equivalent, and what to do instead."""


class CRF(Estimator):
    """A tagger with the parameters, methods and attributes of sklearn-crfsuite's `CRF`.

    Use it to run an existing program; new programs have more options with `SequenceTagger`. All sklearn-crfsuite
    parameters are accepted by the constructor. `fit` raises InputError for one that has no equivalent, and names what
    to use instead.

    Parameters
    ----------
    algorithm : str, default "lbfgs"
        "lbfgs" and "l2sgd" train a conditional random field (the rule "crf", by L-BFGS). "ap" is the averaged
        perceptron (the rule "csp"). "pa" is the passive-aggressive one (the rule "mira", with the Hamming loss).
    min_freq : float, default 0
        Attributes that occur less often are dropped, whatever their label.
    all_possible_states, all_possible_transitions : bool, optional
        Ignored: swvp has a weight for every attribute and label, and for every pair of labels.
    c1 : float, default 0
        Must be 0: there is no L1 regularisation.
    c2 : float, default 1
        The coefficient of L2 regularisation, for "lbfgs" and "l2sgd".
    max_iterations : int, optional
        The largest number of iterations or epochs. By default 100 for "ap" and "pa", else until convergence.
    num_memories, epsilon, period, delta, linesearch, max_linesearch : optional
        Must be None.
    calibration_eta, calibration_rate, calibration_samples, calibration_candidates, calibration_max_trials : optional
        Must be None.
    pa_type : int, default 1
        Must be 1.
    c : float, default 1
        The longest step of "pa".
    error_sensitive : bool, default True
        Must be True.
    averaging : bool, default True
        Whether "pa" averages its weights.
    variance, gamma : optional
        Must be None.
    verbose : bool, default False
        Must be False.
    model_filename : optional
        Must be None.
    keep_tempfiles : bool, default False
        Ignored: there are no temporary files.
    trainer_cls : optional
        Must be None.
    random_state : int, RandomState, Generator or None, default 0
        Seed of the order of the sentences in "ap" and "pa".
    n_jobs : int, default 1
        The number of threads for prediction and for training by L-BFGS.

    Attributes
    ----------
    tagger_ : SequenceTagger
        The fitted tagger, with all its methods: `save`, `explain`, `confidence` and more.
    classes_ : list
        The labels, sorted.
    attributes_ : list of str
        The names of the attributes.
    num_attributes_ : int
        Their number.
    state_features_ : dict
        The weights of attributes: {(attribute, label): weight}, without zeros.
    transition_features_ : dict
        The weights of adjacent labels: {(label, next label): weight}, without zeros.

    Examples
    --------
    >>> X = [[{"word": "Ann", "title": True}, {"word": "left", "title": False}], [{"word": "she", "title": False}]]
    >>> crf = CRF(algorithm="ap", max_iterations=5).fit(X, [["N", "V"], ["P"]])
    >>> crf.predict_single(X[0])
    ['N', 'V']
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: Any = None,
        epsilon: Any = None,
        period: Any = None,
        delta: Any = None,
        linesearch: Any = None,
        max_linesearch: Any = None,
        calibration_eta: Any = None,
        calibration_rate: Any = None,
        calibration_samples: Any = None,
        calibration_candidates: Any = None,
        calibration_max_trials: Any = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: Any = None,
        gamma: Any = None,
        verbose: bool = False,
        model_filename: Any = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
        *,
        random_state: Any = 0,
        n_jobs: int = 1,
    ):
        self.__dict__.update({name: value for name, value in locals().items() if name != "self"})

    def fit(
        self,
        X: Sentences,
        y: Sequence[Sequence[Any]],
        X_dev: Sentences | None = None,
        y_dev: Sequence[Sequence[Any]] | None = None,
    ) -> Self:
        """Learn from sentences and the labels of their tokens.

        Parameters
        ----------
        X : list of sentences
            Each is a list of tokens, as lists or dicts of features.
        y : list of lists
            The label of each token.
        X_dev, y_dev : lists, optional
            A dev set. The weights are then those of the epoch with the best dev score; CRFsuite only prints it.

        Returns
        -------
        self
        """
        if (X_dev is None) != (y_dev is None):
            raise InputError("give both X_dev and y_dev, or none of them")
        dev = None if X_dev is None or y_dev is None else (X_dev, y_dev)
        self.tagger_ = SequenceTagger(**tagger_options(self.get_params())).fit(X, y, dev=dev)
        return self

    def predict(self, X: Sentences) -> NDArray[np.object_]:
        """Return the labels of each sentence: an array of lists."""
        return self._fitted().predict(X)

    def predict_single(self, xseq: Sequence[Any]) -> list[Any]:
        """Return the labels of one sentence."""
        return self._fitted().predict_single(xseq)

    def predict_marginals(self, X: Sentences) -> list[list[dict[Any, float]]]:
        """Return the probability of each label for each token of each sentence.

        Those of "ap" and "pa" are not learnt, in swvp as in CRFsuite; see `SequenceTagger.confidence`.
        """
        return self._fitted().predict_marginals(X)

    def predict_marginals_single(self, xseq: Sequence[Any]) -> list[dict[Any, float]]:
        """Return the probability of each label for each token of one sentence."""
        return self._fitted().predict_marginals_single(xseq)

    def score(self, X: Sentences, y: Sequence[Sequence[Any]]) -> float:
        """Return the accuracy: the share of tokens with the right label."""
        return self._fitted().score(X, y)

    @property
    def classes_(self) -> list[Any]:
        """The labels, sorted."""
        return self._fitted().classes_

    @property
    def attributes_(self) -> list[str]:
        """The names of the attributes."""
        tagger = self._fitted()
        return tagger.encoder_.names(range(tagger.n_attributes_))

    @property
    def num_attributes_(self) -> int:
        """The number of attributes."""
        return self._fitted().n_attributes_

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """The weights of attributes: {(attribute, label): weight}."""
        return self._fitted().state_features_

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """The weights of adjacent labels: {(label, next label): weight}."""
        return self._fitted().transition_features_

    def _fitted(self) -> SequenceTagger:
        if not hasattr(self, "tagger_"):
            raise not_fitted("CRF")
        return self.tagger_


def tagger_options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of `SequenceTagger` for the parameters of sklearn-crfsuite; InputError if one has no equivalent."""
    algorithm = "lbfgs" if given["algorithm"] is None else given["algorithm"]
    if algorithm not in ALGORITHMS:
        raise unknown_name("algorithm", algorithm, ALGORITHMS)
    check_parameters(algorithm, given)
    options: dict[str, Any] = {
        "constraint": None,
        "minimum_count": max(1, math.ceil(number_in(given, "min_freq", 0.0))),
        "random_state": given["random_state"],
        "n_jobs": given["n_jobs"],
    }
    limit = UNLIMITED if algorithm in ("lbfgs", "l2sgd") else PERCEPTRON_EPOCHS
    options["epochs"] = limit if given["max_iterations"] is None else given["max_iterations"]
    if algorithm == "ap":
        return options | {"rule": "csp", "average": True}
    if algorithm == "pa":
        averaging = given["averaging"] is None or bool(given["averaging"])
        return options | {"rule": "mira", "C": number_in(given, "c", 1.0), "average": averaging}
    return options | {"rule": "crf", "l2": 2 * number_in(given, "c2", 1.0)}


def check_parameters(algorithm: str, given: dict[str, Any]) -> None:
    """Raise InputError for parameters that have no equivalent, or that the algorithm does not have."""
    if algorithm == "arow":
        raise InputError("algorithm 'arow' is not offered: use SequenceTagger(rule='csp:ada') or 'pa'")
    for name, advice in REFUSED.items():
        if given[name] is not None:
            raise InputError(f"{name} has no equivalent: {advice}")
    for name, algorithms in ONLY_FOR.items():
        if given[name] is not None and algorithm not in algorithms:
            raise InputError(f"{name} is for algorithm {' or '.join(map(repr, algorithms))}, not '{algorithm}'")
    if number_in(given, "c1", 0.0):
        raise InputError("c1 must be 0, there is no L1 regularisation: use c2, or min_freq to drop rare attributes")
    if given["pa_type"] not in (None, 1) or given["error_sensitive"] not in (None, True):
        raise InputError("pa_type must be 1 and error_sensitive True: they are the step 'mira' of SequenceTagger")
    if given["verbose"]:
        raise InputError("verbose is not offered: use SequenceTagger.fit(watch=…) to follow a training")


def number_in(given: dict[str, Any], name: str, default: float) -> float:
    """A parameter that is a number of at least 0, or its default; InputError if it is something else."""
    value = default if given[name] is None else given[name]
    if not is_real(value) or value < 0:
        raise InputError(f"{name} must be a number of at least 0, not {shown(value)}")
    return float(value)
