"""The operations that a structure implements for the algorithm: prediction, margins and updates.

`problem` holds the examples; `model` holds the weights, the averaging sums and buffers. Their classes belong to a
structure, which implements the operations below with `swvp.compiled.implement`. `learning` calls the operations and
knows nothing of tags or trees. Every structure implements `longest`, `find_mistakes`, `margins`, `add`, `weights`,
`norm` and `averaged_weights`, and should say whether φ counts features (`counts_features`). The others are optional:

    direction               for the steps `mira` and `ada`
    change                  for the step `ada`
    place, change_at,
    new_squares             for models whose weights are not numbered as in `weights`
    expected_difference     for the rule `softmax`
    best_outputs, keep      for k-best MIRA
    heads                   for sub-structures of heads
    length                  for the γ `wmr-printed`
    labels                  for γ and JJ that are functions of a user's
    refresh                 for weights that are loaded from a file
    has_parts               for rules with `parts`
    reach, groups           for γ over all sub-structures without listing them
    label_lattice,
    lattice_direction       for γ over the labels of the K best outputs
    importance              for weights of examples
    with_buffers            for minibatches

The *kept prediction* is the last one of `find_mistakes` or `keep`, stored in `model`. examples/compiled_structure.py is
a small structure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swvp.compiled import implement, inlined_with_arrays, inner, kernel, operation
from swvp.types import Floats, Ints, Singles


@operation
def longest(problem: Any) -> int:
    """The largest number of positions that a label of this problem has."""


@operation
def length(problem: Any, model: Any, i: int) -> int:
    """L_x: the number of positions of the label of example i, or of its prefix if the search cut it."""


@implement(length, object)
@kernel
def length_at_most(problem: Any, model: Any, i: int) -> int:
    return longest(problem)


@operation
def has_parts(problem: Any) -> bool:
    """Whether Δφ of a sub-structure can be that of the parts of its words (never called in kernels)."""


@implement(has_parts, object)
def no_parts(problem: Any) -> bool:
    return False


@operation
def reach(problem: Any) -> int:
    """How far apart the positions of one feature can be: 1 for neighbours, 2, or 0 if there is no such bound.

    It is never called in kernels.
    """


@implement(reach, object)
def no_reach(problem: Any) -> int:
    return 0


@operation
def groups(problem: Any, model: Any, i: int, wrong: Ints, k: int, group: Ints) -> int:
    """Put the k wrong positions into groups without common features; write their groups and return their number.

    Whether one position has its gold or its predicted label must not change which features those of another group add.
    """


@operation
def counts_features(problem: Any) -> bool:
    """Whether every value of φ is a whole number, so that sums of weights can be exact (`swvp.structures.exact`)."""


@implement(counts_features, object)
@kernel
def unknown_features(problem: Any) -> bool:
    return False


@operation
def importance(problem: Any, i: int) -> float:
    """The weight of example i, which multiplies its updates."""


@implement(importance, object)
@inner
def equal_importance(problem: Any, i: int) -> float:
    return 1.0


@operation
def find_mistakes(problem: Any, model: Any, i: int, wrong: Ints) -> int:
    """Predict example i, y* = argmax w·φ(x, y'), and store it in `model` as the kept prediction.

    Write the positions where y* differs from the gold label into `wrong`, in increasing order; return their number.
    """


@operation
def with_buffers(problem: Any, model: Any) -> Any:
    """A model with the same weights, averaging sums and owners, and buffers of its own (never called in kernels).

    It is for structures whose `margins` come from the scores that `find_mistakes` left in the buffers.
    """


@operation
def margins(problem: Any, model: Any, i: int, starts: Ints, positions: Ints, count: int, out: Floats) -> None:
    """Write w·Δφ(x, y, m^J) for each of the `count` sub-structures J = positions[starts[j]:starts[j + 1]].

    The mixed assignment m^J is the kept prediction on J and the gold label elsewhere.
    """


@operation
def add(
    problem: Any,
    model: Any,
    i: int,
    starts: Ints,
    positions: Ints,
    sets: Ints,
    count: int,
    amounts: Floats,
    clock: float,
) -> None:
    """w += Σ_c amounts[c] · Δφ(x, y, m^J) with J = positions[starts[sets[c]]:starts[sets[c] + 1]], for c < count.

    `clock` is the number of examples seen before this one, or a power of it (`average_power`): the averaging sums take
    clock · amount · Δφ.
    """


@operation
def direction(
    problem: Any, model: Any, i: int, starts: Ints, positions: Ints, sets: Ints, count: int, amounts: Floats
) -> tuple[int, Ints, Floats]:
    """The vector that `add` adds, d = Σ_c amounts[c] · Δφ(x, y, m^J), as n sparse pairs: (n, features, values).

    Features are numbered as in `weights`. One may come more than once: then its values add up.
    """


@implement(direction, object)
@inlined_with_arrays
def no_direction(problem, model, i, starts, positions, sets, count, amounts):
    """Return nothing, for kernels of structures without `direction`: no rule that needs it is allowed."""
    return 0, np.empty(0, np.int64), np.empty(0)


@operation
def change(model: Any, feature: int, amount: float, clock: float) -> None:
    """w[feature] += amount, for a feature as in `weights`; the averaging sums take clock · amount."""


@implement(change, object)
@kernel
def no_change(model: Any, feature: int, amount: float, clock: float) -> None:
    """Do nothing, for kernels of structures without `change`."""


@operation
def place(model: Any, feature: int) -> int:
    """Where the sum of squares of a feature is in the array of `new_squares`; finding it may move others."""


@implement(place, object)
@inner
def place_by_number(model: Any, feature: int) -> int:
    return feature


@operation
def change_at(model: Any, place: int, feature: int, amount: float, clock: float) -> None:
    """Change a weight as `change` does, given its `place`."""


@implement(change_at, object)
@inner
def change_by_number(model: Any, place: int, feature: int, amount: float, clock: float) -> None:
    change(model, feature, amount, clock)


@operation
def new_squares(model: Any) -> Singles:
    """An array of zeros for the sums of squares of the step `ada` (never called in kernels)."""


@implement(new_squares, object)
def squares_by_number(model: Any) -> Singles:
    return np.zeros(len(weights(model)), np.float32)


@operation
def expected_difference(problem: Any, model: Any, i: int) -> tuple[int, Ints, Floats]:
    """φ(x, y) - E[φ(x, y')] under p(y') ∝ exp(w·φ(x, y') + costs of y'), as sparse pairs, like `direction`.

    It is called after `find_mistakes` of the same example. Labels of tiny probability may be left out.
    """


@operation
def best_outputs(problem: Any, model: Any, i: int, k: int) -> tuple[int, Any]:
    """The k outputs of example i with the largest w·φ(x, y'), best first, as (their number, the outputs)."""


@operation
def keep(problem: Any, model: Any, i: int, outputs: Any, r: int, wrong: Ints) -> int:
    """Make output r of `best_outputs` the kept prediction, as `find_mistakes` does with the best one."""


@operation
def label_lattice(problem: Any, model: Any, i: int, k: int) -> tuple[int, Ints, Ints, Floats]:
    """The labels of the k best outputs of example i, position by position, and their margins.

    Returns W, the labels, their numbers and the margins. Position t has number[t] ≤ W labels, labels[t * W + a], first
    the gold one. margins[t * W + a] is the gold score of position t minus that of label a. The margin of label b at
    t - 1 and label a at t is margins[(n + t * W + b) * W + a]: the score of the gold pair minus that of this one.
    t = n is the end, and both ends have one label. All other margins are 0. It is called after `find_mistakes`.
    """


@operation
def lattice_direction(
    problem: Any, model: Any, i: int, width: int, labels: Ints, number: Ints, amounts: Floats
) -> tuple[int, Ints, Floats]:
    """Σ amount · (gold feature vector - that of other labels) over a lattice, as sparse pairs, like `direction`.

    The amounts are numbered as the margins of `label_lattice`.
    """


@operation
def heads(problem: Any, model: Any, i: int) -> tuple[Ints, Ints] | None:
    """The gold and the kept heads of example i, 0 for the root and k for word k; None if labels are not heads."""


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
    """Recompute everything in `model` that is derived from the weights (never called in kernels)."""


@operation
def norm(model: Any) -> float:
    """‖w‖ (never called in kernels)."""


@operation
def averaged_weights(model: Any, clock: float) -> Floats:
    """The mean of w after each of the `clock` examples seen, as one vector (never called in kernels).

    If `add` and `change` were given a power of the number of examples, `clock` is that power too.
    """
