"""Structures that users define in plain Python, by `argmax` and `joint_feature` alone.

Everything is computed from the definitions, without shortcuts. So this is also the reference for the compiled
structures: on small problems they must give exactly the same weights.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from swvp.compiled import implement
from swvp.errors import InputError, counted
from swvp.structures import operations
from swvp.structures.exact import averaged
from swvp.types import Floats, Ints

__all__ = ["Problem", "PythonModel", "PythonProblem", "as_heads", "mixed_assignment", "wrong_positions"]

Label = Sequence[Any]

LARGEST_COUNT = 2**16


@runtime_checkable
class Problem(Protocol):
    """The structure that a user defines.

    A label y is a list, a tuple or a 1-d array; its length L_x may differ between inputs.
    """

    def joint_feature(self, x: Any, y: Label) -> Any:
        """φ(x, y): a 1-d array, of the same length for every x and y."""
        ...

    def argmax(self, x: Any, w: Floats) -> Label:
        """The label y' of Y(x) that maximises w·φ(x, y')."""
        ...


class KBestProblem(Problem, Protocol):
    """A problem for k-best MIRA."""

    def k_best(self, x: Any, w: Floats, k: int) -> Sequence[Label]:
        """The k labels of Y(x) with the largest w·φ(x, y'), each once, best first; fewer if Y(x) has fewer."""
        ...


class EnumerableProblem(Problem, Protocol):
    """A problem whose outputs can be listed, as the theory needs it."""

    def outputs(self, x: Any) -> Iterable[Label]:
        """Every label of Y(x)."""
        ...


class PythonProblem:
    """A user's problem with its training examples."""

    def __init__(self, problem: Problem, X: Sequence[Any], Y: Sequence[Label]):
        self.problem = problem
        self.X = X
        self.Y = Y
        self.features: int | None = None
        for i, y in enumerate(Y):
            if not isinstance(y, (list, tuple, np.ndarray)):
                raise InputError(f"label {i} is a {type(y).__name__}: use a list, a tuple or a 1-d array")
            if isinstance(y, np.ndarray) and y.ndim != 1:
                raise InputError(f"label {i} is an array of {y.ndim} dimensions: use one, as with y.ravel()")

    @functools.cached_property
    def counts_features(self) -> bool:
        """Whether φ counts features, judged by its values for the gold labels."""
        return all(counts(self.phi(i, y)) for i, y in enumerate(self.Y))

    def difference(self, i: int, predicted: Label, J: tuple[int, ...]) -> Floats:
        """Δφ(x, y, m^J) = φ(x, y) - φ(x, m^J)."""
        return self.phi(i, self.Y[i]) - self.phi(i, mixed_assignment(self.Y[i], predicted, J))

    def phi(self, i: int, y: Label) -> Floats:
        vector = np.asarray(self.problem.joint_feature(self.X[i], y), dtype=float)
        if vector.ndim != 1:
            raise InputError(f"joint_feature returned an array of {vector.ndim} dimensions: return a 1-d array")
        if not np.isfinite(vector).all():
            raise InputError(f"joint_feature returned NaN or infinite values for example {i}")
        if self.features not in (None, len(vector)):
            raise InputError(f"joint_feature returned {len(vector)} values for example {i}, {self.features} before")
        self.features = len(vector)
        return vector


def counts(vector: Floats) -> bool:
    """Whether the values are whole numbers that are not large: large ones are probably measurements."""
    return bool((vector == np.rint(vector)).all() and np.abs(vector).max(initial=0.0) <= LARGEST_COUNT)


class PythonModel:
    """w, the averaging sums `delayed`, and the last prediction with the Δφ computed from it."""

    def __init__(self, w: Floats):
        self.w = np.array(w, dtype=float)
        self.delayed = np.zeros_like(self.w)
        self.predicted: Label = ()
        self.deltas: dict[tuple[int, ...], Floats] = {}


def wrong_positions(gold: Label, predicted: Label) -> list[int]:
    """Return the positions where two labels differ; if one is longer, its rest counts as one position.

    Parameters
    ----------
    gold, predicted : sequence
        Two labels of one example.

    Examples
    --------
    >>> wrong_positions("abc", "abde")
    [2, 3]
    """
    wrong = [k for k, (a, b) in enumerate(zip(gold, predicted, strict=False)) if a != b]
    return wrong if len(gold) == len(predicted) else [*wrong, min(len(gold), len(predicted))]


def mixed_assignment(gold: Label, predicted: Label, J: Iterable[int]) -> Label:
    """Return m^J(y*, y): predicted on J, gold elsewhere (Definition 1), with the type of the gold label.

    Parameters
    ----------
    gold, predicted : sequence
        Two labels of one example. They may have different lengths: the position after the shorter one then stands for
        all that follows.
    J : iterable of int
        Positions, from 0.

    Examples
    --------
    >>> mixed_assignment((1, 1, 1), (2, 2, 2), {1})
    (1, 2, 1)
    >>> mixed_assignment((1, 1, 1), (2,), {1})
    (1,)
    """
    common = min(len(gold), len(predicted))
    J = set(J)
    mixed = [(predicted if k in J else gold)[k] for k in range(common)]
    mixed += list((predicted if common in J else gold)[common:])
    if isinstance(gold, np.ndarray):
        return np.array(mixed, dtype=np.result_type(gold, np.asarray(predicted)))
    return type(gold)(mixed)  # type: ignore[call-arg]


def as_heads(label: Label, what: str) -> Ints:
    """A label as an array of heads, 0 for the root and k for word k; InputError if it has no heads."""
    heads = np.asarray(label)
    if heads.size and not (heads.dtype.kind in "iu" and heads.min() >= 0 and heads.max() <= len(label)):
        raise InputError(
            f"the {what} label {list(label)[:5]!r}{' …' if len(label) > 5 else ''} has no heads, 0 for the root and k "
            "for word k, which sub-structures of heads need; use 'segments' or others of positions"
        )
    return heads.astype(np.int64)


@implement(operations.heads, PythonProblem)
def heads(problem: PythonProblem, model: PythonModel, i: int) -> tuple[Ints, Ints]:
    return as_heads(problem.Y[i], "gold"), as_heads(model.predicted, "predicted")


@implement(operations.counts_features, PythonProblem)
def counts_features(problem: PythonProblem) -> bool:
    return problem.counts_features


@implement(operations.longest, PythonProblem)
def longest(problem: PythonProblem) -> int:
    return max((len(y) for y in problem.Y), default=0) + varies(problem.problem)


@implement(operations.length, PythonProblem)
def length(problem: PythonProblem, model: PythonModel, i: int) -> int:
    """The rest of the longer label counts as one position."""
    gold, predicted = len(problem.Y[i]), len(model.predicted)
    return gold if gold == predicted else min(gold, predicted) + 1


def varies(problem: Any) -> bool:
    """Whether labels of one input may have different lengths: the attribute `variable_length` of the problem."""
    return bool(getattr(problem, "variable_length", False))


@implement(operations.find_mistakes, PythonProblem)
def find_mistakes(problem: PythonProblem, model: PythonModel, i: int, wrong: Ints) -> int:
    gold = problem.Y[i]
    size = None if varies(problem.problem) else len(gold)
    predicted = predict(problem.problem, problem.X[i], model.w, size, f"example {i}")
    return keep(problem, model, i, [predicted], 0, wrong)


@implement(operations.keep, PythonProblem)
def keep(problem: PythonProblem, model: PythonModel, i: int, outputs: list[Label], r: int, wrong: Ints) -> int:
    model.predicted = outputs[r]
    model.deltas = {}
    positions = wrong_positions(problem.Y[i], model.predicted)
    wrong[: len(positions)] = positions
    return len(positions)


@implement(operations.best_outputs, PythonProblem)
def best_outputs(problem: PythonProblem, model: PythonModel, i: int, k: int) -> tuple[int, list[Label]]:
    method = getattr(problem.problem, "k_best", None)
    if not callable(method):
        name = type(problem.problem).__name__
        raise InputError(f"problem {name} has no method k_best(x, w, k): k-best MIRA needs it")
    outputs = list(method(problem.X[i], model.w, k))[:k]
    if not outputs:
        raise InputError(f"k_best returned no label for example {i}")
    size = None if varies(problem.problem) else len(problem.Y[i])
    for y in outputs:
        check_length("k_best", y, size, f"example {i}")
    return len(outputs), outputs


def predict(problem: Problem, x: Any, w: Floats, size: int | None, where: str) -> Label:
    """The result of argmax; InputError if it does not have `size` positions, if that is known."""
    predicted = problem.argmax(x, w)
    check_length("argmax", predicted, size, where)
    return predicted


def check_length(method: str, predicted: Any, size: int | None, where: str) -> None:
    try:
        length = len(predicted)
    except TypeError:
        raise InputError(f"{method} returned a {type(predicted).__name__} for {where}: return a sequence") from None
    if size is not None and length != size:
        raise InputError(
            f"{method} returned an output with {counted(length, 'position')} for {where}, whose gold label has {size}; "
            "if lengths may differ, give the problem an attribute variable_length = True"
        )


def delta(problem: PythonProblem, model: PythonModel, i: int, J: tuple[int, ...]) -> Floats:
    """Δφ(x, y, m^J), computed once for each prediction."""
    if J not in model.deltas:
        model.deltas[J] = problem.difference(i, model.predicted, J)
    return model.deltas[J]


def slices(starts: Ints, positions: Ints, sets: Iterable[int]) -> Iterable[tuple[int, ...]]:
    return (tuple(positions[starts[j] : starts[j + 1]].tolist()) for j in sets)


@implement(operations.margins, PythonProblem)
def margins(
    problem: PythonProblem, model: PythonModel, i: int, starts: Ints, positions: Ints, count: int, out: Floats
) -> None:
    for j, J in enumerate(slices(starts, positions, range(count))):
        out[j] = model.w @ delta(problem, model, i, J)


@implement(operations.add, PythonProblem)
def add(
    problem: PythonProblem,
    model: PythonModel,
    i: int,
    starts: Ints,
    positions: Ints,
    sets: Ints,
    count: int,
    amounts: Floats,
    clock: float,
) -> None:
    for J, amount in zip(slices(starts, positions, sets[:count]), amounts[:count], strict=True):
        model.w += amount * delta(problem, model, i, J)
        model.delayed += clock * amount * delta(problem, model, i, J)


@implement(operations.direction, PythonProblem)
def direction(
    problem: PythonProblem,
    model: PythonModel,
    i: int,
    starts: Ints,
    positions: Ints,
    sets: Ints,
    count: int,
    amounts: Floats,
) -> tuple[int, Ints, Floats]:
    d = np.zeros_like(model.w)
    for J, amount in zip(slices(starts, positions, sets[:count]), amounts[:count], strict=True):
        d += amount * delta(problem, model, i, J)
    return len(d), np.arange(len(d)), d


@implement(operations.change, PythonModel)
def change(model: PythonModel, feature: int, amount: float, clock: float) -> None:
    model.w[feature] += amount
    model.delayed[feature] += amount * clock


@implement(operations.labels, PythonProblem)
def labels(problem: PythonProblem, model: PythonModel, i: int) -> tuple[Label, Label]:
    return problem.Y[i], model.predicted


@implement(operations.weights, PythonModel)
def weights(model: PythonModel) -> Floats:
    return model.w.copy()


@implement(operations.norm, PythonModel)
def norm(model: PythonModel) -> float:
    return float(np.linalg.norm(model.w))


@implement(operations.averaged_weights, PythonModel)
def averaged_weights(model: PythonModel, clock: float) -> Floats:
    return averaged(model.w, model.delayed, clock)
