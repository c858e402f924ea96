"""Owns the algorithm: one pass of the Structured Weighted Violations Perceptron, and training as passes.

CSP (Algorithm 1) is the rule with JJ_x = {[L_x]} and γ = 1 (section 4), so Algorithm 2 is all there is.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import implements, in_python, kernel, uncached
from swvp.errors import InputError
from swvp.learning.counts import (
    BACK_OFFS,
    CONDITION_2_FAILURES,
    COUNTS,
    EXCLUDED,
    MISTAKES,
    NON_VIOLATING,
    UPDATES,
    VIOLATING,
    WITHOUT_VIOLATION,
    WRONG_POSITIONS,
)
from swvp.learning.example import PythonRule, define_substructures, prepare, set_gamma
from swvp.learning.gamma import (
    RELATIVE_ZERO,
    WMR_PRINTED,
    choose,
    impose_condition_2,
    normalise,
    round_gamma,
    rounding,
    weighs_a_violation,
    weighted_margin,
)
from swvp.learning.mira import KBest, sweep_k_best
from swvp.learning.rule import UpdateRule
from swvp.learning.step import step_length
from swvp.learning.substructures import MOST_SETS, OF_HEADS
from swvp.structures.exact import grid_of, on_grid
from swvp.structures.generic import PythonProblem, as_heads
from swvp.structures.operations import (
    add,
    best_outputs,
    counts_features,
    direction,
    find_mistakes,
    has_parts,
    heads,
    keep,
    length,
    longest,
    margins,
    norm,
)

__all__ = ["COUNTS", "Epoch", "check_structure", "generator", "passes"]


@kernel
def sweep(problem, model, rule, order, clock, largest, counts):
    """Lines 3–13 of Algorithm 2: one pass over the examples of `order`; `clock` examples were seen before.

    largest[0] is the largest |margin| of the training so far. Where φ counts features, the amounts of updates are
    multiples of the rule's grid, and sums of weights are exact.

    Returns the number of examples done: fewer than there are if one has too many sub-structures.
    """
    n = longest(problem)
    wrong = np.empty(n, np.int64)
    starts, positions = np.empty(n + 2, np.int64), np.empty(2 * n + 2, np.int64)
    chosen, margin, chosen_margin, gamma = (
        np.empty(n + 1, np.int64),
        np.empty(n + 1),
        np.empty(n + 1),
        np.empty(n + 1),
    )
    whole = np.zeros(2, np.int64)
    exact = counts_features(problem)
    for t in range(len(order)):
        i = order[t]
        k = find_mistakes(problem, model, i, wrong)  # y* = argmax w·φ(x, y')
        if k == 0:  # y* = y
            continue
        counts[MISTAKES] += 1
        counts[WRONG_POSITIONS] += k

        # JJ_x and its mixed assignments m^J, divided into I^v and I^nv by their margins w·Δφ(x, y, m^J)
        count, starts, positions = define_substructures(rule, problem, model, i, wrong, k, starts, positions)
        if count < 0:
            return t
        if count > len(margin):
            chosen, margin = np.empty(2 * count, np.int64), np.empty(2 * count)
            chosen_margin, gamma = np.empty(2 * count), np.empty(2 * count)
        margins(problem, model, i, starts, positions, count, margin)
        for j in range(count):
            largest[0] = max(largest[0], abs(margin[j]))
        zero = rule.grid / 2 if exact else RELATIVE_ZERO * largest[0]
        violations, n_chosen = choose(margin, count, zero, rule.aggressive, rule.literal, chosen, chosen_margin)
        counts[VIOLATING] += violations
        counts[NON_VIOLATING] += count - violations

        # γ = SetGamma(), under condition (1) and, if imposed, condition (2)
        used = 0
        if n_chosen > 0:
            right = 0
            if rule.scheme == WMR_PRINTED and not rule.aggressive:
                right = length(problem, model, i) - k
            set_gamma(rule, chosen_margin, n_chosen, right, zero, gamma)
            used = normalise(gamma, n_chosen)
            if not (rule.literal or weighs_a_violation(gamma, chosen_margin, n_chosen, zero)):
                used = 0
            if used > 0 and exact:
                used = round_gamma(gamma, n_chosen)
            small = RELATIVE_ZERO * largest[0] + (rounding(chosen_margin, n_chosen) if exact else 0.0)
            if used > 0 and weighted_margin(gamma, chosen_margin, n_chosen) > small:
                if rule.impose:
                    counts[EXCLUDED] += impose_condition_2(gamma, chosen_margin, n_chosen, small)
                    used = normalise(gamma, n_chosen)
                    if used > 0 and exact:
                        used = round_gamma(gamma, n_chosen)
                else:
                    counts[CONDITION_2_FAILURES] += 1

        # w = w + Σ γ(m^J) Δφ(x, y, m^J); without a γ that meets the conditions, a CSP update: J = [L_x], γ = 1
        all_starts, all_positions = starts, positions
        if used == 0:
            all_starts, all_positions = whole, wrong
            whole[1] = k
            margins(problem, model, i, whole, wrong, 1, margin)
            largest[0] = max(largest[0], abs(margin[0]))
            zero = rule.grid / 2 if exact else RELATIVE_ZERO * largest[0]
            if margin[0] > zero and not rule.literal:  # y is better than y*: the search did not find it
                counts[WITHOUT_VIOLATION] += 1
                continue
            counts[BACK_OFFS] += 1
            chosen[0], gamma[0], n_chosen = 0, 1.0, 1
        step = step_length(
            rule, problem, model, i, all_starts, all_positions, chosen, n_chosen, gamma, chosen_margin, used
        )
        changed = False
        for c in range(n_chosen):
            gamma[c] = on_grid(step * gamma[c], rule.grid) if exact else step * gamma[c]
            changed |= gamma[c] > 0
        add(problem, model, i, all_starts, all_positions, chosen, n_chosen, gamma, clock + t)
        counts[UPDATES] += changed
    return len(order)


@dataclass(frozen=True)
class Epoch:
    """What happened in one pass over the training set.

    `violating` and `non_violating` count mixed assignments (with k-best MIRA, wrong outputs); `excluded` those taken
    out to impose condition (2). An update of length 0 is none. `without_violation` counts mistakes that are left alone
    because not even the whole prediction is a violation: the search is not exact, or y is not among its outputs.
    """

    epoch: int
    examples: int
    mistakes: int
    wrong_positions: int
    updates: int
    back_offs: int
    violating: int
    non_violating: int
    condition_2_failures: int
    excluded: int
    norm: float
    seconds: float
    without_violation: int = 0

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def passes(
    problem: Any,
    model: Any,
    rule: UpdateRule,
    *,
    examples: int,
    epochs: int,
    random_state: np.random.Generator | None = None,
    clock: int = 0,
    largest: NDArray[np.float64] | None = None,
    first: int = 1,
    after: Callable[[int, bool], object] | None = None,
) -> Iterator[Epoch]:
    """Train `model` in place, pass by pass; stops after `epochs` passes or after one without a mistake.

    With a `random_state` each pass goes through the examples in a new random order, else in their own. To go on with
    an earlier training, give the number of examples it has seen, `clock`, the array `largest` it has filled, and the
    number of the `first` pass that is to come. `after` is called after each example with its number and whether it made
    an update.
    """
    largest = np.zeros(1) if largest is None else largest
    check_rule(rule, problem)
    for epoch in range(first, first + epochs):
        run, given = sweep_of(rule.at(epoch), problem)
        run = run if after is None else one_by_one(run, after)
        order = np.arange(examples) if random_state is None else random_state.permutation(examples)
        counts = np.zeros(len(COUNTS), np.int64)
        began = time.perf_counter()
        done = run(problem, model, given, order, clock, largest, counts)
        if done < examples:
            raise too_many_substructures(rule.at(epoch), order[done])
        clock += examples
        yield Epoch(
            epoch=epoch,
            examples=examples,
            norm=norm(model),
            seconds=time.perf_counter() - began,
            **{name: int(count) for name, count in zip(COUNTS, counts, strict=True)},
        )
        if counts[MISTAKES] == 0:
            return


def generator(random_state: Any) -> np.random.Generator:
    """Random numbers from what scikit-learn takes as random_state: a seed, a RandomState, a Generator, or None."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(f"random_state must be a seed ≥ 0, a generator or None, not {random_state!r}") from None


def one_by_one(run: Any, after: Callable[[int, bool], object]) -> Any:
    """A sweep that takes the examples one by one and calls `after` in between."""

    def sweep_and_tell(problem, model, rule, order, clock, largest, counts):
        for t in range(len(order)):
            updates = counts[UPDATES]
            if run(problem, model, rule, order[t : t + 1], clock + t, largest, counts) == 0:
                return t
            after(int(order[t]), bool(counts[UPDATES] > updates))
        return len(order)

    return sweep_and_tell


def sweep_of(rule: UpdateRule, problem: Any) -> tuple[Any, Any]:
    """The function that makes one pass, and the rule as it takes it."""
    plain = not isinstance(problem, tuple)
    given: Any = (
        KBest(rule.k_best, float(rule.C), grid_of(rule.C)) if rule.k_best > 1 else prepare(rule, in_python=plain)
    )
    run = sweep_k_best if rule.k_best > 1 else sweep
    if plain or isinstance(given, PythonRule):
        return in_python(run), given
    return run if type(problem).__module__.startswith("swvp.") else uncached(run), given


def check_rule(rule: UpdateRule, problem: Any) -> None:
    """Refuse a rule that the structure of a problem, or its labels, cannot have."""
    check_structure(rule, type(problem))
    if isinstance(problem, PythonProblem) and any(stage.substructures in OF_HEADS for stage in rule.stages):
        for y in problem.Y:
            as_heads(y, "gold")


def check_structure(rule: UpdateRule, structure: type) -> None:
    """Refuse a rule that a class of problems cannot have.

    The step `mira` needs more of a structure than others, k-best MIRA still more; some sub-structures need heads.
    """
    for stage in rule.stages:
        if stage.parts and not implements(structure, has_parts):
            raise InputError(f"rule '{rule.name}': parts are for trees of second order, not for {structure.__name__}")
        needed = ([direction] if stage.step == "mira" else []) + ([best_outputs, keep] if stage.k_best > 1 else [])
        if lacking := [operation for operation in needed if not implements(structure, operation)]:
            raise InputError(
                f"rule '{stage.name}' is not offered for {structure.__name__}, "
                f"which does not implement {lacking[0].__name__}; use another rule"
            )
        if stage.substructures in OF_HEADS and not implements(structure, heads):
            raise InputError(
                f"substructures '{stage.substructures}' are for labels that are heads of words, "
                f"not for {structure.__name__}; use 'segments'"
            )


def too_many_substructures(rule: UpdateRule, example: int) -> InputError:
    return InputError(
        f"substructures '{rule.substructures}' of example {example} make more than {MOST_SETS} mixed assignments "
        "or take too much memory: too many of its positions are wrong; use 'segments' or 'single'"
    )
