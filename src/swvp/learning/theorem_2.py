"""The smallest value of Theorem 2's bound over u and δ, from the Δφ of the examples as arrays.

With v = u/δ the bound is g(v)², where r^i(v) = min_z v·Δφ(x^i, y^i, z) and r^iJJ(v) the same over mixed assignments:

    CSP     g(v) = R‖v‖ + √Σ max(0, 1 - r^i(v))²                                          `convex_minimum`
    SWVP    g(v) = (R^JJ‖v‖ + √Σ max(0, 1 - r^i(v))²) / (1 + min_i (r^iJJ(v) - r^i(v)))   `local_minimum`
    mixed   g(v) = R^JJ‖v‖ + √Σ max(0, 1 - r^iJJ(v))²                                     `convex_minimum`

The first and the third are convex. As (a + b)² = min over 0 < θ < 1 of a²/θ + b²/(1 - θ), each θ leaves a quadratic
problem: the largest margin in the space of the paper's proof, where example i has a feature of its own with the
value Δ, Δ² = R²(1 - θ)/θ. That margin is the distance of the origin from a convex hull. What remains is convex in θ.

The second is not convex, for r^diff is a minimum of differences of concave functions: it is searched from several
points. The third is never larger than the second: with δ' = δ + r^diff, max(0, δ' - r^iJJ) ≤ max(0, δ - r^i), and R^JJ
is the same. It is also a bound, by the proof of Theorem 2 with these slacks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar, nnls

from swvp.errors import InputError
from swvp.types import Floats, Ints

__all__ = ["Slacks", "convex_minimum", "local_minimum", "nearest_point", "slacks_of"]

TOLERANCE = 1e-9


class Slacks(NamedTuple):
    """The rows Δφ of all examples, those of example i from starts[i] on, and how many equal examples there are."""

    rows: Floats
    starts: Ints
    counts: Floats

    def smallest(self, v: Floats) -> tuple[Floats, Ints]:
        """r^i(v), and the row that gives it."""
        products = self.rows @ v
        ends = [*self.starts[1:], len(products)]
        places = np.array([a + int(products[a:b].argmin()) for a, b in zip(self.starts, ends, strict=True)])
        return products[places], places


def slacks_of(differences: Sequence[Floats], counts: Sequence[int]) -> Slacks:
    """Examples with their Δφ as rows, at least one each."""
    starts = np.cumsum([0, *(len(d) for d in differences[:-1])])
    return Slacks(np.concatenate(differences), starts, np.array(counts, float))


def nearest_point(points: Floats) -> Floats:
    """The point of the convex hull of some points that is nearest to the origin, by non-negative least squares."""
    largest, scale = np.abs(points).max(), 100.0
    columns = np.vstack([points.T / largest, np.full(len(points), scale)])
    try:
        alpha, _ = nnls(columns, np.append(np.zeros(points.shape[1]), scale), maxiter=30 * len(points))
    except RuntimeError:
        raise InputError("the search for a separator did not end; use fewer or shorter examples") from None
    return np.asarray(alpha @ points / max(alpha.sum(), TOLERANCE))


def convex_value(slacks: Slacks, R: float, v: Floats) -> float:
    """R‖v‖ + √Σ max(0, 1 - r^i(v))²."""
    missing = np.maximum(0, 1 - slacks.smallest(v)[0])
    return R * float(np.linalg.norm(v)) + math.sqrt(float(slacks.counts @ missing**2))


def convex_minimum(slacks: Slacks, R: float) -> tuple[float, Floats]:
    """The smallest R‖v‖ + √Σ max(0, 1 - r^i(v))², and v."""
    nothing = np.zeros(slacks.rows.shape[1])
    best = [(convex_value(slacks, R, nothing), nothing)]
    if R == 0:
        return best[0]
    working = set(slacks.smallest(nothing)[1].tolist())

    def value(log_ratio: float) -> float:
        v = with_extra_features(slacks, R * math.exp(log_ratio), working)
        best.append((convex_value(slacks, R, v), v))
        return best[-1][0]

    minimize_scalar(value, bounds=(-12, 12), method="bounded", options={"xatol": 1e-4})
    return min(best, key=lambda pair: pair[0])


def with_extra_features(slacks: Slacks, size: float, working: set[int]) -> Floats:
    """The v of the largest margin if example i has one more feature, of value `size`.

    Only the rows of `working` are used; rows that violate the margin are added to it until there are none.
    """
    examples = np.repeat(np.arange(len(slacks.counts)), np.diff([*slacks.starts, len(slacks.rows)]))
    value = size / np.sqrt(slacks.counts)
    d = slacks.rows.shape[1]
    while True:
        chosen = np.array(sorted(working))
        points = np.zeros((len(chosen), d + len(value)))
        points[:, :d] = slacks.rows[chosen]
        points[np.arange(len(chosen)), d + examples[chosen]] = value[examples[chosen]]
        nearest = nearest_point(points)
        V = nearest / float(nearest @ nearest)
        r, places = slacks.smallest(V[:d])
        left_out = set(places[r + value * V[d:] < 1 - TOLERANCE**0.5].tolist()) - working
        if not left_out:
            return V[:d]
        working |= left_out


def local_minimum(
    full: Slacks, mixed: Slacks, R: float, starts: Sequence[Floats], lowest: float
) -> tuple[float, Floats, float]:
    """A small (R‖q‖ + √Σ max(0, s - r^i(q))²) / (s + min_i (r^iJJ(q) - r^i(q))), q and s; v = q/s, and s may be near 0.

    No larger than at any q of `starts`, for a few s. Nothing more is searched if one has the `lowest` value possible.
    """

    def value(point: Floats) -> tuple[float, Floats]:
        q, s = point[:-1], point[-1]
        (r, places), (r_mixed, mixed_places) = full.smallest(q), mixed.smallest(q)
        i = int((r_mixed - r).argmin())
        below = s + r_mixed[i] - r[i]
        if below <= TOLERANCE:
            return 1e12, np.zeros_like(point)
        missing, length = np.maximum(0, s - r), float(np.linalg.norm(q))
        distance = math.sqrt(float(full.counts @ missing**2))
        above = R * length + distance
        pull = full.counts * missing / max(distance, TOLERANCE)
        slope = np.append(R * q / max(length, TOLERANCE) - pull @ full.rows[places], pull.sum())
        gain = np.append(mixed.rows[mixed_places[i]] - full.rows[places[i]], 1.0)
        return above / below, slope / below - above / below**2 * gain

    points = []
    for q in starts:
        r_diff = float((mixed.smallest(q)[0] - full.smallest(q)[0]).min())
        points += [np.append(q, s) for s in (1.0, max(1 - r_diff, TOLERANCE), TOLERANCE)]
    best = [(value(point)[0], point) for point in points]
    if min(bound for bound, _ in best) > lowest * (1 + TOLERANCE):
        bounds = [(None, None)] * len(points[0][:-1]) + [(TOLERANCE, None)]
        for point in [*points, *((a + b) / 2 for a, b in zip(points, points[3:], strict=False))]:
            end = minimize(value, point, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}).x
            best.append((value(end)[0], end))
    least, point = min(best, key=lambda pair: pair[0])
    return least, point[:-1], float(point[-1])
