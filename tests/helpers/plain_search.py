"""Chains of first and second order written as their definitions, and a slow twin of beam search with its fixes."""

import itertools

import numpy as np

from helpers import twin
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.search import new_search_model

ATTRIBUTES, LABELS, LONGEST = 9, 3, 5

# 0 never before 1, 1 never before 2, 2 never last: hypotheses that end in 1 or 2 may have no way to the end
BARRIER = np.where(np.eye(LABELS + 1, k=1) > 0, -np.inf, 0.0)
# only 0 1 0 1 0 …, and 1 must be last: which labels can reach the end depends on how many are left
ALTERNATING = np.full((LABELS + 1, LABELS + 1), -np.inf)
for pair in ((3, 0), (3, 1), (0, 1), (1, 0), (1, 3)):
    ALTERNATING[pair] = 0.0
BARRIERS = {"free": None, "barred": BARRIER, "alternating": ALTERNATING}


class PlainSearch:
    """x is a list of positions, each a list of (attribute, value)."""

    def __init__(self, order, barrier=None):
        self.order = order
        self.barrier = barrier
        self.known = {}

    def prefix_feature(self, x, y, *, end=False):
        """φ of the first len(y) positions, with the transitions into the end or not."""
        emit = np.zeros((ATTRIBUTES, LABELS))
        move = np.zeros((LABELS + 1,) * 2)
        triple = np.zeros((LABELS + 1,) * 3 if self.order == 2 else 0)
        for position, label in zip(x[: len(y)], y, strict=True):
            for attribute, value in position:
                emit[attribute, label] += value
        padded = [LABELS, LABELS, *y, *([LABELS] if end else [])]
        for older, previous, label in zip(padded, padded[1:], padded[2:], strict=False):
            move[previous, label] += 1
            if self.order == 2:
                triple[older, previous, label] += 1
        return np.concatenate([emit.ravel(), move.ravel(), triple.ravel()])

    def joint_feature(self, x, y):
        return self.prefix_feature(x, y, end=True)

    def allowed(self, y):
        pairs = itertools.pairwise([LABELS, *y, LABELS])
        return self.barrier is None or all(self.barrier[pair] == 0 for pair in pairs)

    def outputs(self, n):
        """Every allowed label, in the order in which ties are broken: the last position changes slowest."""
        every = (y[::-1] for y in itertools.product(range(LABELS), repeat=n))
        return [y for y in every if self.allowed(y)]

    def argmax(self, x, w):
        if id(x) not in self.known:
            outputs = self.outputs(len(x))
            self.known[id(x)] = outputs, np.stack([self.joint_feature(x, y) for y in outputs])
        outputs, features = self.known[id(x)]
        return outputs[int((features @ w).argmax())]

    def beam(self, x, w, width):
        """The beam after each position, best first: lists of (score, prefix); last of all the whole labels."""
        prefixes = {y[:t] for y in self.outputs(len(x)) for t in range(len(x) + 1)}
        beam, stages = [(0.0, ())], []
        for t in range(1, len(x) + 1):
            longer = [(*y, label) for _, y in beam for label in range(LABELS) if (*y, label) in prefixes]
            scored = [(float(w @ self.prefix_feature(x, y)), y) for y in longer]
            scored.sort(key=lambda pair: (-pair[0], pair[1][::-1]))
            states = {}
            for score, y in scored:
                states.setdefault(y[-self.order :] if t >= self.order else y, (score, y))
            beam = list(states.values())[:width]
            stages.append(beam)
        whole = [(float(w @ self.joint_feature(x, y)), y) for _, y in beam]
        return [*stages, sorted(whole, key=lambda pair: (-pair[0], pair[1][::-1]))]

    def cut(self, x, gold, w, width, fix):
        """z^t, and whether that is the whole label with its end."""
        stages = self.beam(x, w, width)
        n, whole = len(x), stages[-1][0][1]
        if fix == "none" or whole == gold:
            return whole, True
        fallen = [t for t in range(1, n + 1) if gold[:t] not in [y for _, y in stages[t - 1]]]
        if fix == "early":
            t = fallen[0] if fallen else n + 1
        else:
            margins = {}
            for t in range(1, n + 2):
                score, z = stages[t - 1][0]
                if z != gold[:t]:
                    margins[t] = float(w @ self.prefix_feature(x, gold[:t], end=t > n)) - score
            if fix == "latest":
                t = max(t for t in margins if margins[t] <= 1e-9)
            else:
                t = min(margins, key=lambda t: (margins[t], -t))
        return stages[t - 1][0][1], t > n


def train(problem, X, Y, w, *, width, fix, epochs, rule, exact=True):
    """SWVP with beam search; returns the last weights, the naive average and the margins of z^t of each update."""
    w, every_w, cuts, largest = w.copy(), [], [], 0.0
    for _ in range(epochs):
        mistakes = 0
        for x, y in zip(X, Y, strict=True):
            z, end = problem.cut(x, y, w, width, fix)
            gold = y[: len(z)]
            wrong = [k for k in range(len(z)) if z[k] != gold[k]]
            if wrong:
                mistakes += 1

                def delta(J, x=x, z=z, gold=gold, end=end):
                    mixed = tuple(z[k] if k in J else gold[k] for k in range(len(z)))
                    return problem.prefix_feature(x, gold, end=end) - problem.prefix_feature(x, mixed, end=end)

                sets = twin.sets_of(rule.substructures, wrong)
                deltas = [delta(J) for J in sets]
                margins = [float(w @ d) for d in deltas]
                largest = max(largest, *map(abs, margins))
                parts = {name: getattr(rule, name) for name in ("gamma", "approach", "beta", "impose")}
                unit = twin.unit_of(rule.step, rule.C)
                amounts = twin.update(margins, largest, exact, unit, **parts)
                terms = [(1.0, delta(wrong), len(wrong))]
                whole = float(w @ terms[0][1])
                if amounts is not None:
                    terms = [(g, deltas[j], len(sets[j])) for j, g in amounts.items()]
                else:
                    largest = max(largest, abs(whole))
                if amounts is not None or whole <= twin.zero_of(largest, exact, unit):
                    cuts.append((len(z), end, whole))
                    w = w + twin.change(rule.step, rule.C, terms, w, exact, len(wrong), None)
            every_w.append(w)
        if not mistakes:
            break
    return w, sum(every_w) / len(every_w), cuts


def random_examples(rng, problem, *, valued=False, examples=6):
    """Sentences whose positions all have an attribute of their own, so that no two labels have the same φ."""
    X, Y = [], []
    while len(X) < examples:
        own = rng.permutation(ATTRIBUTES)[: rng.integers(1, LONGEST + 1)]
        x = [[(int(a), float(rng.normal()) if valued else 1.0)] for a in own]
        for position in x:
            if rng.random() < 0.5:
                position.append((int(rng.integers(ATTRIBUTES)), float(rng.normal()) if valued else 1.0))
        outputs = problem.outputs(len(x))
        if outputs:
            X.append(x)
            Y.append(outputs[rng.integers(len(outputs))])
    return X, Y


def as_chain(X, Y, *, valued=False):
    positions = [position for x in X for position in x]
    flat = [pair for position in positions for pair in position]
    return AttributeChain(
        attributes=np.array([a for a, _ in flat], np.uint32),
        values=np.array([v for _, v in flat] if valued else [], float),
        starts=np.cumsum([0, *map(len, positions)]),
        y=np.array([label for y in Y for label in y], np.uint32),
        offsets=np.cumsum([0, *map(len, X)]),
    )


def put(model, w):
    """Write the weights w, one vector, into a model."""
    for part, values in zip(
        (model.w, model.w_move, model.w_triple),
        np.split(w, np.cumsum([model.w.size, model.w_move.size])),
        strict=True,
    ):
        part[...] = values.reshape(part.shape)
    steps = model.w_move + model.w_triple if model.w_triple.size else model.w_move[None]
    model.steps[...] = np.where(np.isneginf(model.steps), -np.inf, steps)


def started(rng, *, order, width, barrier=None, weights=None):
    """A model with random weights, and the same weights as one vector."""
    model = new_search_model(ATTRIBUTES, LABELS, LONGEST, barrier, order, width)
    w = rng.normal(size=operations.weights(model).size) if weights is None else weights
    put(model, w)
    return model, w
