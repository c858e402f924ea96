"""SetGamma (sections 4 and 5): the weights γ of the mixed assignments in one update, and their conditions.

A scheme takes the margins w·Δφ(x, y, m^J) of the mixed assignments in use (I^v if aggressive, I if balanced; n of
them) and gives each a weight ≥ 0. The weights are scaled to Σγ = 1 afterwards.

    wm        |margin|^β                                      weighted margin
    wmr       ((n - r) / n)^β, r the rank of |margin|         weighted margin rank; r = 0 is the largest
    wmr-printed   the same with |JJ_x| for n                  if balanced, JJ_x has a set for each right position too
    uniform   1
    softmin   exp(-β · margin)
    worst     1 for the smallest margin, else 0               min Σγ·margin under the γ conditions
    optimal   at most two weights, see `optimal`              max Σγ·margin under the γ conditions
    maxent    exp(-λ · margin), the smallest λ ≥ 0 that       max entropy of γ under the γ conditions
              meets condition (2)

To add a scheme, write one kernel with the arguments of these and add one row to `SCHEMES`.

Ties go to the sub-structure that comes first. The γ selection conditions (Definition 3) are

    (1)  Σγ = 1 and γ ≥ 0        (2)  Σγ(m^J) w·Δφ(x, y, m^J) ≤ 0.

No γ meets (2) if nothing is violated, and wm is 0/0 if all margins in use are 0 (as when w = 0). Then `choose` or
`normalise` returns 0 and the update backs off to CSP. It also backs off if no violation has any weight, as with wm if
all violations have margin 0: the balanced approach has weight on both kinds (section 5).

`zero` is the largest margin that counts as 0, hence as a violation. Where φ counts features, margins are multiples of
the grid (`swvp.structures.exact`) and zero is half of it, so rounding plays no part. Otherwise it is `RELATIVE_ZERO` of
the largest |margin| of the training so far. Summing the weights in another order changes a margin by less than that,
and scaling φ changes nothing. Condition (2) has that tolerance everywhere, and that of `rounding` where γ is rounded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import kernel, one_of
from swvp.structures.exact import GRID, on_grid

RELATIVE_ZERO = 1e-10

# a bracket of λ: its ends, the mean margin at each, which end moved last (1 low, -1 high), number of evaluations
LOW, AT_LOW, HIGH, AT_HIGH, SIDE, ROUNDS = range(6)
MOST_ROUNDS = 200


@kernel
def choose(margin, count, zero, aggressive, literal, chosen, chosen_margin):
    """I^v if aggressive, else I = I^v ∪ I^nv: write its indexes and margins.

    Returns the number of violations |I^v| and the number chosen: 0 if nothing is violated and the rule is not literal.
    """
    violations = 0
    for j in range(count):
        violations += margin[j] <= zero
    n = 0
    if violations or literal:
        for j in range(count):
            if margin[j] <= zero or not aggressive:
                chosen[n] = j
                chosen_margin[n] = margin[j]
                n += 1
    return violations, n


@kernel
def wm(beta, margin, n, right, zero, gamma):
    """|margin|^β, scaled by the largest one."""
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(margin[j]))
    for j in range(n):
        gamma[j] = (abs(margin[j]) / largest) ** beta if abs(margin[j]) > zero else 0.0


@kernel
def wmr(beta, margin, n, right, zero, gamma):
    """((n - r) / n)^β."""
    weigh_ranks(beta, margin, n, n, gamma)


@kernel
def wmr_printed(beta, margin, n, right, zero, gamma):
    """((|JJ_x| - r) / |JJ_x|)^β."""
    weigh_ranks(beta, margin, n, n + right, gamma)


@kernel
def uniform(beta, margin, n, right, zero, gamma):
    for j in range(n):
        gamma[j] = 1.0


@kernel
def softmin(beta, margin, n, right, zero, gamma):
    """exp(-β · margin), scaled by the largest one."""
    smallest = margin[extremes(margin, n)[0]]
    for j in range(n):
        gamma[j] = np.exp(-beta * (margin[j] - smallest))


@kernel
def worst(beta, margin, n, right, zero, gamma):
    """1 for the smallest margin."""
    for j in range(n):
        gamma[j] = 0.0
    gamma[extremes(margin, n)[0]] = 1.0


@kernel
def extremes(margin, n):
    """The indexes of the smallest and of the largest margin, the first of each."""
    a = b = 0
    for j in range(1, n):
        a = j if margin[j] < margin[a] else a
        b = j if margin[j] > margin[b] else b
    return a, b


@kernel
def weigh_ranks(beta, margin, n, size, gamma):
    """((size - r) / size)^β; the rank r counts the |margins| that are larger, and the equal ones before."""
    if n <= 16:  # counting beats sorting
        for j in range(n):
            r = 0
            for other in range(n):
                r += abs(margin[other]) > abs(margin[j]) or (abs(margin[other]) == abs(margin[j]) and other < j)
            gamma[j] = ((size - r) / size) ** beta
    else:
        order = decreasing_order(np.abs(margin[:n]))
        for r in range(n):
            gamma[order[r]] = ((size - r) / size) ** beta


@kernel
def decreasing_order(values):
    """The indexes that sort the values in decreasing order; equal values keep their order.

    A merge sort, which compiles faster than NumPy's sort.
    """
    n = len(values)
    order, other = np.arange(n), np.empty(n, np.int64)
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            a, b = start, middle
            for at in range(start, end):
                if a < middle and (b == end or values[order[a]] >= values[order[b]]):
                    other[at] = order[a]
                    a += 1
                else:
                    other[at] = order[b]
                    b += 1
        order, other = other, order
        width *= 2
    return order


@kernel
def optimal(beta, margin, n, right, zero, gamma):
    """The linear program: maximise Σγ·margin subject to conditions (1) and (2).

    If every margin is ≤ 0 the optimum is the largest of them: γ = 1 there. Otherwise it is 0, reached by the
    most violated mixed assignment a and the most correct one b together: γ_a·margin_a + γ_b·margin_b = 0.
    """
    for j in range(n):
        gamma[j] = 0.0
    a, b = extremes(margin, n)
    if margin[b] <= zero:
        gamma[b] = 1.0
    else:
        lowest = min(margin[a], 0.0)
        gamma[a] = margin[b] / (margin[b] - lowest)
        gamma[b] += -lowest / (margin[b] - lowest)  # with a literal rule, b may be a


@kernel
def maxent(beta, margin, n, right, zero, gamma):
    """The γ of largest entropy under conditions (1) and (2): exp(-λ·margin) with the smallest λ ≥ 0 that meets (2).

    If Σmargin ≤ 0, λ = 0 and γ is uniform. If no margin is < 0, only margins of 0 can have any weight: λ = ∞.
    """
    lowest = margin[extremes(margin, n)[0]]
    total = 0.0
    for j in range(n):
        total += margin[j]
    if total <= zero or lowest >= -zero:
        for j in range(n):
            gamma[j] = 1.0 if total <= zero or margin[j] <= zero else 0.0
        return
    bracket, multiplier = new_bracket(total), 1 / max(-lowest, margin[extremes(margin, n)[1]])
    while multiplier > 0:
        multiplier = next_multiplier(bracket, multiplier, scaled_mean_margin(multiplier, margin, n, lowest))
    softmin(bracket[HIGH], margin, n, right, zero, gamma)


@kernel
def scaled_mean_margin(multiplier, margin, n, lowest):
    """Σγ·margin for γ ∝ exp(-λ·margin), times a factor > 0; λ = multiplier."""
    total = 0.0
    for j in range(n):
        total += np.exp(-multiplier * (margin[j] - lowest)) * margin[j]
    return total


@kernel
def new_bracket(at_zero):
    """The bracket of the λ > 0 at which a mean margin, which is at_zero > 0 for λ = 0, changes its sign."""
    bracket = np.zeros(6)
    bracket[AT_LOW], bracket[HIGH] = at_zero, np.inf
    return bracket


@kernel
def next_multiplier(bracket, multiplier, mean):
    """Record the mean margin at λ = multiplier; return the next λ to try, or -1 when the bracket is narrow enough.

    Then bracket[HIGH] is the smallest λ with a mean ≤ 0, up to rounding. The method is regula falsi with the Illinois
    correction: the next λ is where the line through both ends is 0; an end that stays twice gets half of its value.
    """
    if mean > 0:
        bracket[LOW], bracket[AT_LOW] = multiplier, mean
        bracket[AT_HIGH] *= 0.5 if bracket[SIDE] > 0 else 1.0
        bracket[SIDE] = 1.0
        if bracket[HIGH] == np.inf:
            return 2 * multiplier
    else:
        bracket[HIGH], bracket[AT_HIGH] = multiplier, mean
        bracket[AT_LOW] *= 0.5 if bracket[SIDE] < 0 else 1.0
        bracket[SIDE] = -1.0
    bracket[ROUNDS] += 1
    low, high = bracket[LOW], bracket[HIGH]
    if mean == 0 or high - low <= 1e-15 * high or bracket[ROUNDS] > MOST_ROUNDS:
        return -1.0
    cut = (low * bracket[AT_HIGH] - high * bracket[AT_LOW]) / (bracket[AT_HIGH] - bracket[AT_LOW])
    if not low < cut < high:
        cut = (low + high) / 2
    return cut if low < cut < high else -1.0


class Scheme(NamedTuple):
    """A compiled γ: the name it has in rules, its kernel, and what holds for it.

    `meets_conditions` says that the γ selection conditions hold for all margins, also with the balanced approach.
    """

    name: str
    function: Any
    uses_beta: bool
    meets_conditions: bool


SCHEMES = (
    Scheme("wm", wm, uses_beta=True, meets_conditions=False),
    Scheme("wmr", wmr, uses_beta=True, meets_conditions=False),
    Scheme("uniform", uniform, uses_beta=False, meets_conditions=False),
    Scheme("softmin", softmin, uses_beta=True, meets_conditions=False),
    Scheme("worst", worst, uses_beta=False, meets_conditions=True),
    Scheme("optimal", optimal, uses_beta=False, meets_conditions=True),
    Scheme("wmr-printed", wmr_printed, uses_beta=True, meets_conditions=False),
    Scheme("maxent", maxent, uses_beta=False, meets_conditions=True),
)
GAMMAS = tuple(scheme.name for scheme in SCHEMES)
WMR_PRINTED = GAMMAS.index("wmr-printed")

apply_scheme = one_of([scheme.function for scheme in SCHEMES])


@kernel
def weigh(scheme, beta, margin, n, right, zero, gamma):
    """Write the weight of each of the n margins by SCHEMES[scheme], not yet scaled to sum to 1.

    `right` is the number of sub-structures with m^J = y, which are not among the n.
    """
    apply_scheme(scheme, beta, margin, n, right, zero, gamma)


@kernel
def normalise(gamma, n):
    """Condition (1): scale to Σγ = 1. Returns how many are positive, 0 if all of them are 0."""
    total = 0.0
    for j in range(n):
        total += gamma[j]
    if total <= 0:
        return 0
    positive = 0
    for j in range(n):
        gamma[j] /= total
        positive += gamma[j] > 0
    return positive


@kernel
def round_gamma(gamma, n):
    """Round γ to multiples of GRID, by rounding its partial sums: so Σγ = 1 and γ ≥ 0 stay, and none is off by more.

    Returns how many are positive.
    """
    total, before, positive = 0.0, 0.0, 0
    for j in range(n):
        total += gamma[j]
        here = on_grid(total, GRID) if j < n - 1 else 1.0
        gamma[j] = max(here - before, 0.0)
        before = max(here, before)
        positive += gamma[j] > 0
    return positive


@kernel
def rounding(margin, n):
    """What rounding γ can change in Σγ·margin: each γ is off by at most GRID."""
    total = 0.0
    for j in range(n):
        total += abs(margin[j])
    return GRID * total


@kernel
def weighs_a_violation(gamma, margin, n, zero):
    """Whether γ > 0 for one of the violations."""
    weight = 0.0
    for j in range(n):
        weight += gamma[j] if margin[j] <= zero else 0.0
    return weight > 0


@kernel
def weighted_margin(gamma, margin, n):
    """The left side of condition (2): Σγ(m^J) w·Δφ(x, y, m^J)."""
    total = 0.0
    for j in range(n):
        total += gamma[j] * margin[j]
    return total


@kernel
def impose_condition_2(gamma, margin, n, zero):
    """Exclude non-violating terms, the one with the largest γ·margin first, until condition (2) holds.

    Returns how many were excluded. The other weights are not scaled.
    """
    order = decreasing_order(gamma[:n] * margin[:n])
    total = 0.0
    excluded = n
    while excluded > 0 and total + gamma[order[excluded - 1]] * margin[order[excluded - 1]] <= zero:
        excluded -= 1
        total += gamma[order[excluded]] * margin[order[excluded]]
    for r in range(excluded):
        gamma[order[r]] = 0.0
    return excluded
