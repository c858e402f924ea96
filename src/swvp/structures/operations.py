"""Owns the seam between the algorithm and the structures: what a structure gives to `learning`.

`problem` holds the examples, `model` the weights, the sums for averaging and the room to work in. Their classes
belong to a structure, which implements the operations below with `swvp.compiled.implement`; `learning` calls
them and knows nothing of tags or trees. All need `longest`, `find_mistakes`, `margins` and `add`, and should say
whether φ counts features (`counts_features`). Only the step `mira` needs `direction`, only k-best MIRA `best_outputs`
and `keep`, only sub-structures of heads `heads`, only the γ `wmr-printed` `length`; `refresh` is for weights that come
from elsewhere.
"""

from __future__ import annotations

from typing import Any

from swvp.compiled import implement, kernel, operation
from swvp.types import Floats, Ints


@operation
def longest(problem: Any) -> int:
    """The largest number of positions that a label of this problem has."""


@operation
def length(problem: Any, model: Any, i: int) -> int:
    """L_x: the number of positions of the label of example i; where the search cut it, up to there."""


@implement(length, object)
@kernel
def length_at_most(problem: Any, model: Any, i: int) -> int:
    return longest(problem)


@operation
def has_parts(problem: Any) -> bool:
    """Whether the structure can take the parts of words for a sub-structure's Δφ (never called in kernels)."""


@implement(has_parts, object)
def no_parts(problem: Any) -> bool:
    return False


@operation
def counts_features(problem: Any) -> bool:
    """Whether every value of φ is a whole number, so that sums of weights can be exact (`swvp.structures.exact`)."""


@implement(counts_features, object)
@kernel
def unknown_features(problem: Any) -> bool:
    return False


@operation
def find_mistakes(problem: Any, model: Any, i: int, wrong: Ints) -> int:
    """Predict example i, y* = argmax w·φ(x, y'), and keep it in `model`.

    Writes the positions where y* differs from the gold label into `wrong`, in increasing order; returns how many.
    """


@operation
def margins(problem: Any, model: Any, i: int, starts: Ints, positions: Ints, count: int, out: Floats) -> None:
    """Write w·Δφ(x, y, m^J) for each of the `count` sub-structures J = positions[starts[j]:starts[j + 1]].

    The mixed assignment m^J is the kept prediction on J and the gold label elsewhere.
    """


@operation
def add(
    problem: Any, model: Any, i: int, starts: Ints, positions: Ints, sets: Ints, count: int, amounts: Floats, clock: int
) -> None:
    """w += Σ_c amounts[c] · Δφ(x, y, m^J) with J = positions[starts[sets[c]]:starts[sets[c] + 1]], for c < count.

    `clock` is the number of examples seen before this one: the sums for averaging take clock · amount · Δφ.
    """


@operation
def direction(
    problem: Any, model: Any, i: int, starts: Ints, positions: Ints, sets: Ints, count: int, amounts: Floats
) -> tuple[int, Ints, Floats]:
    """What `add` adds, d = Σ_c amounts[c] · Δφ(x, y, m^J), as a sparse vector: (n, features, values), n pairs.

    Features are numbered as in `weights`. One may come more than once: then its values add up.
    """


@operation
def best_outputs(problem: Any, model: Any, i: int, k: int) -> tuple[int, Any]:
    """The k outputs of example i with the largest w·φ(x, y'), best first: (how many there are, the outputs)."""


@operation
def keep(problem: Any, model: Any, i: int, outputs: Any, r: int, wrong: Ints) -> int:
    """Make output r of `best_outputs` the kept prediction, as `find_mistakes` does with the best one."""


@operation
def heads(problem: Any, model: Any, i: int) -> tuple[Ints, Ints] | None:
    """Where labels are heads, 0 for the root and k for word k: the gold and the kept ones of example i; else None."""


@implement(heads, object)
@kernel
def no_heads(problem: Any, model: Any, i: int) -> None:
    return None


@operation
def labels(problem: Any, model: Any, i: int) -> tuple[Any, Any]:
    """The gold label and the kept prediction of example i, for functions of the user's (never called in kernels)."""


@operation
def weights(model: Any) -> Floats:
    """w as one vector (never called in kernels)."""


@operation
def refresh(model: Any) -> None:
    """Bring what was computed from weights up to date with those that were put in place (never called in kernels)."""


@operation
def norm(model: Any) -> float:
    """‖w‖ (never called in kernels)."""


@operation
def averaged_weights(model: Any, clock: int) -> Floats:
    """The mean of w after each of the `clock` examples seen, as one vector (never called in kernels)."""
