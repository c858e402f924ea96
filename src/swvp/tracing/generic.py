"""The updates of a structure that a user defined in Python, one by one: `StructuredPerceptron.trace`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from swvp.learning.perceptron import generator
from swvp.learning.rule import UpdateRule
from swvp.structures.generic import Label, PythonModel, PythonProblem
from swvp.tracing.trace import Trace
from swvp.types import Floats, Ints

__all__ = ["PythonSubject", "PythonTracing"]


class PythonSubject:
    """The words of an example are the elements of x, if it has one for each position of the label.

    Features have names if the user's problem has an attribute `feature_names`, a sequence of texts. Labels are heads of
    words if it has an attribute `structure` that says so.
    """

    def __init__(self, problem: PythonProblem, model: PythonModel):
        self.problem, self.model = problem, model
        self.structure = str(getattr(problem.problem, "structure", "labels"))

    def tokens(self, i: int) -> Sequence[str]:
        x = self.problem.X[i]
        if not isinstance(x, (list, tuple, str)) or len(x) != len(self.problem.Y[i]):
            return ()
        return [str(element) for element in x]

    def readable(self, label: Any) -> Sequence[Any]:
        return label.tolist() if hasattr(label, "tolist") else list(label)

    def score(self, i: int, label: Any) -> float:
        return float(self.model.w @ self.problem.phi(i, label))

    def values(self, features: Ints) -> Floats:
        return self.model.w[features]

    def names(self, i: int, features: Sequence[int], wrong: Sequence[int]) -> list[str]:
        known = getattr(self.problem.problem, "feature_names", None)
        return [f"feature {feature}" if known is None else str(known[feature]) for feature in features]


class PythonTracing:
    """The method of a learner that shows its training, update by update."""

    epochs: int
    shuffle: bool
    random_state: Any

    if TYPE_CHECKING:  # implemented by the learner

        def _start(
            self, X: Sequence[Any], y: Sequence[Label], initial: Floats | None
        ) -> tuple[PythonProblem, PythonModel, UpdateRule, float]: ...

    def trace(
        self,
        X: Sequence[Any],
        y: Sequence[Label],
        *,
        epochs: int | None = None,
        features: int = 10,
        initial: Floats | None = None,
    ) -> Trace:
        """Return an iterator over the updates that `fit` would make; the learner itself stays as it is.

        Features have names if `problem` has an attribute `feature_names`, a sequence of texts.

        Parameters
        ----------
        X, y : sequences
            The inputs and their labels, as for `fit`.
        epochs : int, optional
            The largest number of epochs. By default that of the learner.
        features : int, default 10
            How many of the weights that changed most an update names.
        initial : ndarray of shape (n_features,), optional
            The weights to start from. By default 0.

        Returns
        -------
        Trace
        """
        problem, model, rule, power = self._start(X, y, initial)
        return Trace(
            problem,
            model,
            rule,
            PythonSubject(problem, model),
            examples=len(X),
            epochs=self.epochs if epochs is None else epochs,
            orders=generator(self.random_state) if self.shuffle else None,
            power=power,
            features=features,
        )
