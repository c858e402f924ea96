"""The Structured Weighted Violations Perceptron: one epoch as a kernel, and training as a sequence of epochs.

CSP (Algorithm 1) is the rule with JJ_x = {[L_x]} and γ = 1 (section 4), so Algorithm 2 is all there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from swvp.compiled import implements, in_python, kernel, uncached
from swvp.errors import InputError
from swvp.learning.all_subsets import AllSubsets, sweep_all_subsets
from swvp.learning.epoch import (
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
    Epoch,
)
from swvp.learning.gamma import (
    GAMMAS,
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
from swvp.learning.groups import AllOfGroups
from swvp.learning.label_lattice import AllOfLattice, sweep_lattice
from swvp.learning.minibatch import Batches, check_batches
from swvp.learning.mira import KBest, sweep_k_best
from swvp.learning.python_rule import PythonRule
from swvp.learning.rule import STEPS, UpdateRule, registered_gammas, registered_substructures
from swvp.learning.rule_kernels import CompiledRule, define_substructures, set_gamma
from swvp.learning.softmax import sweep_softmax
from swvp.learning.step import update
from swvp.learning.substructures import MOST_SETS, OF_HEADS, SUBSTRUCTURES
from swvp.learning.triples import AllOfTriples
from swvp.structures.exact import GRID, grid_of
from swvp.structures.generic import PythonProblem, as_heads
from swvp.structures.operations import (
    best_outputs,
    counts_features,
    direction,
    expected_difference,
    find_mistakes,
    groups,
    has_parts,
    heads,
    keep,
    label_lattice,
    length,
    longest,
    margins,
    new_squares,
    norm,
    reach,
)
from swvp.structures.titles import title_of
from swvp.types import Floats, Singles

__all__ = ["COUNTS", "Epoch", "State", "check_structure", "generator", "new_state", "run_epochs"]

NO_SQUARES: Singles = np.zeros(0, np.float32)


@dataclass
class State:
    """What a training hands on from epoch to epoch, besides the weights.

    `clock` is the number of examples seen, largest[0] the largest |margin| so far. `squares` is for the step `ada`: for
    each weight the sum of its squared updates. For rules without that step it is empty.
    """

    clock: int
    largest: Floats
    squares: Singles


@kernel
def sweep(problem, model, rule, order, clock, power, largest, counts, found=None):
    """Lines 3–13 of Algorithm 2: one epoch over the examples of `order`; `clock` examples were seen before.

    `power` is that of averaging: 1 for the mean of all weight vectors (see `structures.exact.averaged`). largest[0] is
    the largest |margin| of the training so far. Where φ counts features, the amounts of updates are multiples of the
    rule's grid, and sums of weights are exact. If the only example of `order` is predicted already, `found` are its
    wrong positions (see `minibatch`).

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
        if found is None:
            k = find_mistakes(problem, model, i, wrong)  # y* = argmax w·φ(x, y')
        else:
            k, wrong = len(found), found
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
        when = float(clock + t) ** power
        counts[UPDATES] += update(
            rule, problem, model, i, all_starts, all_positions, chosen, n_chosen, gamma, chosen_margin, used, k, when
        )
    return len(order)


def run_epochs(
    problem: Any,
    model: Any,
    rule: UpdateRule,
    *,
    examples: int,
    epochs: int,
    random_state: np.random.Generator | None = None,
    power: float = 1.0,
    state: State | None = None,
    first: int = 1,
    after: Callable[[int, bool], object] | None = None,
    batch_size: int = 1,
    n_jobs: int = 1,
) -> Iterator[Epoch]:
    """Train `model` in place and yield each `Epoch`; stop after `epochs` of them or after one without a mistake.

    Parameters
    ----------
    problem, model : the examples and the model of a structure (see `swvp.structures.operations`)
    rule : the update rule
    examples : number of examples
    epochs : largest number of epochs
    random_state : source of a new random order in each epoch; by default the examples stay in their order
    power : that of averaging, as in `sweep`
    state : the state of an earlier training, to resume it; it is updated. By default a new one
    first : number of the first epoch to run
    after : function called after each example with its number and whether it made an update
    batch_size : number of examples that are predicted before the first of them makes its update; not with `after`
    n_jobs : number of threads that predict them

    Yields
    ------
    Epoch
    """
    state = new_state(rule, model) if state is None else state
    check_rule(rule, problem)
    check_batches(batch_size, rule, type(problem))
    batches = None
    if batch_size > 1:
        batches = Batches(problem, model, examples=examples, size=batch_size, n_jobs=n_jobs)
    for epoch in range(first, first + epochs):
        run, prepared = sweep_of(rule.at(epoch), problem, state.squares)
        run = run if batches is None else batches.sweep(run)
        run = run if after is None else one_by_one(run, after)
        order = np.arange(examples) if random_state is None else random_state.permutation(examples)
        counts = np.zeros(len(COUNTS), np.int64)
        began = time.perf_counter()
        done = run(problem, model, prepared, order, state.clock, power, state.largest, counts)
        if done < examples:
            raise too_many_substructures(rule.at(epoch), order[done], problem)
        state.clock += examples
        yield Epoch(
            epoch=epoch,
            examples=examples,
            norm=norm(model),
            seconds=time.perf_counter() - began,
            **{name: int(count) for name, count in zip(COUNTS, counts, strict=True)},
        )
        if counts[MISTAKES] == 0:
            return


def new_state(rule: UpdateRule, model: Any) -> State:
    """The state of a training that has seen no example."""
    return State(0, np.zeros(1), new_squares(model) if rule.adapts else NO_SQUARES.copy())


def generator(random_state: Any) -> np.random.Generator:
    """The random generator of a scikit-learn random_state: a seed, a RandomState, a Generator, or None."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(f"random_state must be a seed ≥ 0, a generator or None, not {random_state!r}") from None


def one_by_one(run: Any, after: Callable[[int, bool], object]) -> Any:
    """A sweep that takes the examples one by one and calls `after` in between."""

    def sweep_one_by_one(problem, model, rule, order, clock, power, largest, counts):
        for t in range(len(order)):
            updates = counts[UPDATES]
            if run(problem, model, rule, order[t : t + 1], clock + t, power, largest, counts) == 0:
                return t
            after(int(order[t]), bool(counts[UPDATES] > updates))
        return len(order)

    return sweep_one_by_one


def sweep_of(rule: UpdateRule, problem: Any, squares: Singles = NO_SQUARES) -> tuple[Any, Any]:
    """The function that runs one epoch, and the rule in the form that it takes."""
    in_plain_python = not isinstance(problem, tuple)
    prepared: Any
    if rule.k_best > 1 and rule.sums_over_all:
        run = sweep_lattice
        prepared = AllOfLattice(
            prepare(rule, squares, in_plain_python=in_plain_python), rule.gamma == "maxent", rule.k_best
        )
    elif rule.k_best > 1:
        run, prepared = sweep_k_best, KBest(rule.k_best, float(rule.C), grid_of(rule.C))
    elif rule.all_labels:
        run, prepared = sweep_softmax, prepare(rule, squares, in_plain_python=in_plain_python)
    elif rule.sums_over_all and (sums := sums_of(problem)) is not None:
        base = prepare(rule, squares, in_plain_python=in_plain_python)
        run, prepared = sweep_all_subsets, sums(base, rule.gamma == "maxent")
    else:
        run, prepared = sweep, prepare(rule, squares, in_plain_python=in_plain_python)
    if in_plain_python or isinstance(prepared, PythonRule):
        return in_python(run), prepared
    return run if type(problem).__module__.startswith("swvp.") else uncached(run), prepared


def sums_of(problem: Any) -> Any:
    """The class of rules whose sums over all sub-structures a problem allows, or None."""
    if implements(type(problem), groups):
        return AllOfGroups
    return {1: AllSubsets, 2: AllOfTriples}.get(reach(problem))


def prepare(rule: UpdateRule, squares: Singles = NO_SQUARES, *, in_plain_python: bool = False) -> Any:
    """The rule for kernels or, with a user's function or if asked for, for plain Python."""
    family: Any = rule.substructures
    if isinstance(family, str):
        family = registered_substructures.get(family) or SUBSTRUCTURES.index(family)
    scheme: Any = rule.gamma
    if isinstance(scheme, str):
        scheme = registered_gammas.get(scheme) or GAMMAS.index(scheme)
    functions = callable(family) or callable(scheme)
    prepared: Any = PythonRule if in_plain_python or functions else CompiledRule
    return prepared(
        family=family,
        scheme=scheme,
        beta=float(rule.beta),
        aggressive=rule.approach == "aggressive",
        step=STEPS.index(rule.step),
        C=float(rule.C),
        impose=rule.impose,
        literal=rule.literal,
        grid=grid_of(rule.C) if rule.step in ("mira", "ada") else GRID,
        squares=squares,
    )


OPERATIONS: dict[str, list[Any]] = {"mira": [direction], "ada": [direction]}
"""The operations of problems that a step needs besides those of every structure."""


def check_rule(rule: UpdateRule, problem: Any) -> None:
    """Raise InputError if the structure of a problem, or its labels, cannot use a rule."""
    check_structure(rule, type(problem))
    if isinstance(problem, PythonProblem) and any(stage.substructures in OF_HEADS for stage in rule.stages):
        for y in problem.Y:
            as_heads(y, "gold")


def check_structure(rule: UpdateRule, structure: type) -> None:
    """Raise InputError if a class of problems lacks an operation that a rule needs.

    Some steps need more operations than others, so do k-best MIRA and softmax; some sub-structures need heads.
    """
    for stage in rule.stages:
        if stage.parts and not implements(structure, has_parts):
            raise InputError(f"rule '{rule.name}': parts are for trees of second order, not for {title_of(structure)}")
        needed = [*OPERATIONS.get(stage.step, [])]
        if stage.k_best > 1:
            needed += [label_lattice] if stage.sums_over_all else [best_outputs, keep]
        needed += [expected_difference] if stage.all_labels else []
        if lacking := [operation for operation in needed if not implements(structure, operation)]:
            raise InputError(
                f"rule '{stage.name}' is not offered for {title_of(structure)}, "
                f"where {lacking[0].__name__} is not implemented; use another rule"
            )
        if stage.substructures in OF_HEADS and not implements(structure, heads):
            raise InputError(
                f"substructures '{stage.substructures}' are for labels that are heads of words, "
                f"not for {title_of(structure)}; use 'segments'"
            )


def too_many_substructures(rule: UpdateRule, example: int, problem: Any) -> InputError:
    if rule.sums_over_all and implements(type(problem), groups):
        return InputError(
            f"rule '{rule.name}': in example {example} too many wrong heads share parts with each other, so there are "
            f"more than {MOST_SETS} mixed assignments of them; begin with some epochs of another rule, as in "
            f"'3xmira..{rule.name}', or use the sub-structures 'components'"
        )
    return InputError(
        f"substructures '{rule.substructures}' of example {example} make more than {MOST_SETS} mixed assignments "
        "or take too much memory: too many of its positions are wrong; use 'segments' or 'single'"
    )
