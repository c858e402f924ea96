"""A slow twin of the algorithm, written from the paper and design notes with nothing shared with the package."""

import itertools
import math

import numpy as np

RELATIVE_ZERO = 1e-10
UNIT = 2.0**-24  # what the amounts of updates are multiples of, where φ counts features


def to_units(x, unit=UNIT):
    return math.floor(x / unit + 0.5) * unit


def unit_of(step, C):
    """Where steps are at most C < 1, amounts are multiples of a smaller unit: by the largest power of 2 up to C."""
    return UNIT * 2.0 ** min(0, math.floor(math.log2(C))) if step in ("mira", "ada") else UNIT


def zero_of(largest, exact, unit):
    """How large a margin may be and still count as 0."""
    return unit / 2 if exact else RELATIVE_ZERO * largest


def rounded(weights):
    """Weights with sum 1 as multiples of UNIT with sum 1: their partial sums are rounded."""
    sums = [to_units(total) for total in itertools.accumulate(weights)]
    sums[-1] = 1.0
    return [here - before for before, here in itertools.pairwise([0.0, *sums])]


def sets_of(name, wrong):
    """JJ_x by name, as tuples of wrong positions."""
    k = len(wrong)
    if name == "single":
        return [(j,) for j in wrong]
    if name == "full":
        return [tuple(wrong)]
    if name in ("pairs", "triples"):
        return list(itertools.combinations(wrong, min(2 if name == "pairs" else 3, k)))
    if name == "prefixes":
        return [tuple(wrong[: j + 1]) for j in range(k)]
    if name == "single+full":
        return [(j,) for j in wrong] + ([tuple(wrong)] if k > 1 else [])
    if name == "all":
        return [tuple(wrong[j] for j in range(k) if number >> j & 1) for number in range(1, 2**k)]
    runs = [[wrong[0]]]  # segments
    for j in wrong[1:]:
        if j == runs[-1][-1] + 1:
            runs[-1].append(j)
        else:
            runs.append([j])
    return [tuple(run) for run in runs]


def gamma_of(name, margins, beta, zero, right):
    """Weights summing to 1, or None where the formula is 0/0."""
    n = len(margins)
    if name == "wm":
        raw = [abs(m) ** beta if abs(m) > zero else 0.0 for m in margins]
    elif name in ("wmr", "wmr-printed"):
        order = sorted(range(n), key=lambda j: (-abs(margins[j]), j))
        size = n + right if name == "wmr-printed" else n  # |JJ_x|
        raw = [((size - order.index(j)) / size) ** beta for j in range(n)]
    elif name == "uniform":
        raw = [1.0] * n
    elif name == "softmin":
        raw = [math.exp(-beta * (m - min(margins))) for m in margins]
    elif name == "maxent":
        raw = maxent(margins, zero)
    elif name == "worst":
        raw = [float(j == margins.index(min(margins))) for j in range(n)]
    else:
        low, high = min(margins), max(margins)
        raw = [0.0] * n
        if high <= zero:
            raw[margins.index(high)] = 1.0
        else:
            low = min(low, 0.0)
            raw[margins.index(min(margins))] += high
            raw[margins.index(high)] += -low
    total = sum(raw)
    return [r / total for r in raw] if total > 0 else None


def maxent(margins, zero):
    """exp(-λ·margin) with the smallest λ ≥ 0 for which the weighted margin is at most 0; found by halving intervals."""
    if sum(margins) <= zero:
        return [1.0] * len(margins)
    if min(margins) >= -zero:
        return [float(m <= zero) for m in margins]

    def weights(multiplier):
        return [math.exp(-multiplier * (m - min(margins))) for m in margins]

    def too_small(multiplier):
        return sum(g * m for g, m in zip(weights(multiplier), margins, strict=True)) > 0

    high = 1.0
    while too_small(high):
        high *= 2
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return weights(high)


def update(margins, largest, exact, unit, *, gamma, approach, beta, impose, right=0, literal=False):
    """γ of each mixed assignment, or None for a CSP update."""
    zero = zero_of(largest, exact, unit)
    used = [j for j, m in enumerate(margins) if m <= zero or approach == "balanced"]
    if not used or not (literal or any(m <= zero for m in margins)):
        return None
    weights = gamma_of(gamma, [margins[j] for j in used], beta, zero, right if approach == "balanced" else 0)
    if weights is None:
        return None
    if not (literal or any(g > 0 and margins[j] <= zero for j, g in zip(used, weights, strict=True))):
        return None
    weights = dict(zip(used, rounded(weights) if exact else weights, strict=True))
    small = RELATIVE_ZERO * largest + (UNIT * sum(abs(margins[j]) for j in used) if exact else 0.0)
    if impose and sum(g * margins[j] for j, g in weights.items()) > small:
        while sum(g * margins[j] for j, g in weights.items()) > small:
            weights[max(weights, key=lambda j: weights[j] * margins[j])] = 0.0
        total = sum(weights.values())
        if total <= 0:
            return None
        scaled = [g / total for g in weights.values()]
        weights = dict(zip(weights, rounded(scaled) if exact else scaled, strict=True))
    return weights


def change(step, C, terms, w, exact, wrong, squares):
    """What an update adds to w, from its (γ, Δφ, |J|); the squares of its features are added to `squares`."""
    if step == "ada":
        g = wrong / sum(g * size for g, _, size in terms) * sum(g * delta for g, delta, _ in terms)
        squares += (g * g).astype(np.float32)
        by = C * g / np.sqrt(1.0 + squares.astype(float))
        return np.array([to_units(b, unit_of(step, C)) for b in by]) if exact else by
    factor = length(step, C, terms, w)
    unit = unit_of(step, C)
    return sum((to_units(factor * g, unit) if exact else factor * g) * delta for g, delta, _ in terms)


def length(step, C, terms, w):
    """The factor of an update from its (γ, Δφ, |J|)."""
    m = sum(g > 0 for g, _, _ in terms)
    if step != "mira":
        return {"unit": 1.0, "sqrt": math.sqrt(m), "count": float(m)}[step]
    d = sum(g * delta for g, delta, _ in terms)
    missing = sum(g * size for g, _, size in terms) - w @ d
    return min(C, max(0.0, missing / (d @ d))) if (d @ d) > 0 else 0.0


def train(
    problem,
    X,
    Y,
    w,
    *,
    epochs,
    substructures,
    gamma,
    approach,
    beta,
    step,
    impose,
    C=1.0,
    exact=True,
    literal=False,
    batch=1,
):
    """Algorithm 2; the examples of a batch see the weights at its start.

    Returns the last weights, the naive average, and for each epoch (mistakes, back-offs).
    """
    w = w.copy()
    squares = np.zeros(len(w), np.float32)
    every_w, history, largest = [], [], 0.0
    for _ in range(epochs):
        mistakes = back_offs = 0
        for t, (x, y) in enumerate(zip(X, Y, strict=True)):
            if t % batch == 0:
                at_start = w
            z = problem.argmax(x, at_start)
            wrong = [k for k in range(len(y)) if y[k] != z[k]]
            if wrong:
                mistakes += 1
                phi = problem.joint_feature(x, y)

                def delta(J, x=x, y=y, z=z, phi=phi):
                    return phi - problem.joint_feature(x, tuple(z[k] if k in J else y[k] for k in range(len(y))))

                sets = sets_of(substructures, wrong)
                deltas = [delta(J) for J in sets]
                margins = [float(at_start @ d) for d in deltas]
                largest = max(largest, *map(abs, margins))
                fields = {"gamma": gamma, "approach": approach, "beta": beta, "impose": impose}
                fields |= {"right": len(y) - len(wrong), "literal": literal}
                weights = update(margins, largest, exact, unit_of(step, C), **fields)
                if weights is None:
                    back_offs += 1
                    terms = [(1.0, delta(wrong), len(wrong))]
                    largest = max(largest, abs(at_start @ terms[0][1]))
                    assert at_start @ terms[0][1] <= zero_of(
                        largest, exact, unit_of(step, C)
                    )  # for the search is exact
                else:
                    terms = [(g, deltas[j], len(sets[j])) for j, g in weights.items()]
                w = w + change(step, C, terms, at_start, exact, len(wrong), squares)
            every_w.append(w)
        history.append((mistakes, back_offs))
        if not mistakes:
            break
    return w, sum(every_w) / len(every_w), history


def box_solution(gram, gains, C):
    """argmax gains·a - ½ a·gram·a over [0, C]: every a is 0, C or free, and the free ones solve a linear system."""
    best, least = None, math.inf
    for states in itertools.product("0Cf", repeat=len(gains)):
        a = np.array([C if state == "C" else 0.0 for state in states])
        free = [k for k, state in enumerate(states) if state == "f"]
        if free:
            rest = gains[free] - gram[free] @ a
            a[free] = np.linalg.lstsq(gram[np.ix_(free, free)], rest, rcond=None)[0]
        slope = gains - gram @ a
        faults = {"0": slope, "C": -slope, "f": np.max([-a, a - C, abs(slope)], axis=0)}
        fault = max(faults[state][k] for k, state in enumerate(states))
        if fault < least:
            best, least = a, fault
    return best


def train_k_best(problem, X, Y, w, *, epochs, k, C):
    """k-best MIRA; returns the last weights, the naive average, and per pass (mistakes, updates)."""
    w = w.copy()
    every_w, history = [], []
    for _ in range(epochs):
        mistakes = updates = 0
        for x, y in zip(X, Y, strict=True):
            best = problem.k_best(x, w, k)
            mistakes += best[0] != y
            wrong = [z for z in best if z != y]
            if wrong:
                deltas = np.array([problem.joint_feature(x, y) - problem.joint_feature(x, z) for z in wrong])
                losses = np.array([sum(a != b for a, b in zip(y, z, strict=True)) for z in wrong])
                alpha = box_solution(deltas @ deltas.T, losses - deltas @ w, C)
                updates += alpha.max() > 1e-9
                w = w + np.array([to_units(a, unit_of("mira", C)) for a in alpha]) @ deltas
            every_w.append(w)
        history.append((mistakes, updates))
        if not mistakes:
            break
    return w, sum(every_w) / len(every_w), history
