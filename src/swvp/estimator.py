"""Owns the generic learner: SWVP for structures that users define in plain Python, in scikit-learn's manner."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from swvp.errors import InputError
from swvp.learning.perceptron import Epoch, generator, passes
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.voting import Hypotheses, Recorder, changes_of, vote
from swvp.structures.operations import averaged_weights, weights
from swvp.structures.python import Label, Problem, PythonModel, PythonProblem, predict, varies

__all__ = ["StructuredPerceptron"]


class StructuredPerceptron(BaseEstimator):  # type: ignore[misc]
    """The Structured Weighted Violations Perceptron for any structure.

    Parameters
    ----------
    problem : object with `argmax(x, w)` and `joint_feature(x, y)`
        See `swvp.structures.python.Problem`.
    rule : str or UpdateRule
        A short name such as "csp" or "a-wm:segments", or an `UpdateRule`.
    beta : float, optional
        Replaces the β of the rule.
    epochs : int
        At most so many passes; training stops earlier after a pass without a mistake.
    average : bool
        Predict with the averaged weights instead of the last ones. Both are kept.
    vote : bool
        Predict by the vote of all weight vectors of training, each with as many votes as examples it survived (the
        voted perceptron). It takes an `argmax` for each of them. Equal votes: the label of the earliest vector wins.
    shuffle : bool
        A new order of the examples in every pass.
    random_state : int, RandomState or None
        Decides the orders.

    Attributes
    ----------
    coef_ : the weights used to predict
    last_coef_, averaged_coef_ : the weights after the last update, and their mean over all examples seen
    hypotheses_ : with `vote`, the weight vectors and how long each survived (`swvp.learning.voting.Hypotheses`)
    history_ : list of `Epoch`, what happened in each pass
    converged_ : whether the last pass made no mistake

    Examples
    --------
    >>> class Bits:  # y_k should be the k-th bit of x
    ...     def joint_feature(self, x, y):
    ...         return [sum(a == b for a, b in zip(x, y)), sum(y)]
    ...     def argmax(self, x, w):
    ...         return [int(w[0] * a + w[1] > w[0] * (1 - a)) for a in x]
    >>> X = [[0, 1, 1], [1, 0, 0], [1, 1, 0]]
    >>> learner = StructuredPerceptron(Bits(), rule="a-wm", random_state=0).fit(X, X)
    >>> learner.predict([[0, 0, 1]])
    [[0, 0, 1]]
    """

    def __init__(
        self,
        problem: Problem,
        *,
        rule: str | UpdateRule = "a-wm",
        beta: float | None = None,
        epochs: int = 10,
        average: bool = True,
        vote: bool = False,
        shuffle: bool = True,
        random_state: Any = None,
    ):
        self.problem = problem
        self.rule = rule
        self.beta = beta
        self.epochs = epochs
        self.average = average
        self.vote = vote
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Sequence[Any], y: Sequence[Label], *, initial: NDArray[np.float64] | None = None) -> Self:
        """Learn from the inputs X and their labels y, starting from the weights `initial` (default: 0)."""
        for method in ("argmax", "joint_feature"):
            if isinstance(self.problem, type):
                raise InputError(
                    f"problem is the class {self.problem.__name__}: give an object, {self.problem.__name__}()"
                )
            if not callable(getattr(self.problem, method, None)):
                raise InputError(f"problem {type(self.problem).__name__} has no method '{method}'")
        if len(X) != len(y):
            raise InputError(f"X has {len(X)} examples and y has {len(y)}: give as many")
        if len(X) == 0:
            raise InputError("no training examples")
        if not (isinstance(self.epochs, numbers.Integral) and self.epochs >= 1):
            raise InputError(f"epochs must be a whole number of at least 1, not {self.epochs}")
        rule = as_rule(self.rule) if self.beta is None else as_rule(self.rule, beta=self.beta)
        problem = PythonProblem(self.problem, X, y)
        size = len(problem.phi(0, y[0]))
        model = PythonModel(np.zeros(size) if initial is None else initial)
        if not np.isfinite(model.w).all():
            raise InputError("initial holds NaN or infinite weights")
        if model.w.shape != (size,):
            raise InputError(f"initial has the shape {model.w.shape}, joint_feature returns {size} values")
        orders = generator(self.random_state) if self.shuffle else None
        recorder = Recorder(model.w.copy(), changes_of(model)) if self.vote else None
        after = None if recorder is None else recorder.after
        self.history_: list[Epoch] = list(
            passes(problem, model, rule, examples=len(X), epochs=self.epochs, random_state=orders, after=after)
        )
        self.hypotheses_: Hypotheses | None = None if recorder is None else recorder.hypotheses()
        self.last_coef_ = weights(model)
        self.averaged_coef_ = averaged_weights(model, len(X) * len(self.history_))
        self.converged_ = self.history_[-1].mistakes == 0
        self.coef_: NDArray[np.float64] = self.averaged_coef_ if self.average else self.last_coef_
        return self

    def predict(self, X: Sequence[Any]) -> list[Label]:
        """The label of each input."""
        if not hasattr(self, "coef_"):
            raise NotFittedError("this StructuredPerceptron is not fitted: call fit(X, y) first")
        if self.vote:
            if self.hypotheses_ is None:
                raise InputError("this StructuredPerceptron was fitted without vote: fit it again")
            return vote(self.problem, X, self.hypotheses_)
        return [predict(self.problem, x, self.coef_, None, f"input {i}") for i, x in enumerate(X)]

    def score(self, X: Sequence[Any], y: Sequence[Label]) -> float:
        """The share of positions predicted right."""
        if len(X) != len(y):
            raise InputError(f"X has {len(X)} examples and y has {len(y)}: give as many")
        right = []
        for i, (gold, guess) in enumerate(zip(y, self.predict(X), strict=True)):
            if len(gold) != len(guess) and not varies(self.problem):
                raise InputError(f"argmax returned a label of {len(guess)} positions for input {i}, not {len(gold)}")
            right += [a == b for a, b in zip(gold, guess, strict=False)] + [False] * abs(len(gold) - len(guess))
        return float(np.mean(right)) if right else 1.0
