"""A first-order tagger written as its definition, and the same problem for the kernels."""

import itertools

import numpy as np

from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain, new_model

ATTRIBUTES, LABELS, LONGEST = 8, 3, 4


class PlainTagger:
    """x is a list of positions, each a list of (attribute, value); `barrier` forbids transitions."""

    def __init__(self, barrier=None):
        self.barrier = barrier
        self.known = {}

    def joint_feature(self, x, y):
        emit, move = np.zeros((ATTRIBUTES, LABELS)), np.zeros((LABELS + 1, LABELS + 1))
        for position, label in zip(x, y, strict=True):
            for attribute, value in position:
                emit[attribute, label] += value
        for previous, label in itertools.pairwise([LABELS, *y, LABELS]):
            move[previous, label] += 1
        return np.concatenate([emit.ravel(), move.ravel()])

    def allowed(self, y):
        return self.barrier is None or all(
            self.barrier[previous, label] == 0 for previous, label in itertools.pairwise([LABELS, *y, LABELS])
        )

    def argmax(self, x, w):
        if id(x) not in self.known:
            outputs = [y[::-1] for y in itertools.product(range(LABELS), repeat=len(x)) if self.allowed(y[::-1])]
            self.known[id(x)] = outputs, np.stack([self.joint_feature(x, y) for y in outputs])
        outputs, features = self.known[id(x)]
        return outputs[int((features @ w).argmax())]


def random_examples(rng, *, valued, barrier=None, examples=6):
    """Sentences whose positions all have an attribute of their own, so that no two labels have the same φ."""
    X, Y, plain = [], [], PlainTagger(barrier)
    while len(X) < examples:
        own = rng.permutation(ATTRIBUTES)[: rng.integers(1, LONGEST + 1)]
        x = [[(int(a), float(rng.normal()) if valued else 1.0)] for a in own]
        for position in x:
            if rng.random() < 0.5:
                position.append((int(rng.integers(ATTRIBUTES)), float(rng.normal()) if valued else 1.0))
        y = tuple(rng.integers(LABELS, size=len(x)).tolist())
        if plain.allowed(y):
            X.append(x)
            Y.append(y)
    return X, Y


def as_problem(X, Y, *, valued):
    positions = [position for x in X for position in x]
    flat = [pair for position in positions for pair in position]
    return AttributeChain(
        attributes=np.array([a for a, _ in flat], np.uint32),
        values=np.array([v for _, v in flat] if valued else [], float),
        starts=np.cumsum([0, *map(len, positions)]),
        y=np.array([label for y in Y for label in y], np.uint32),
        offsets=np.cumsum([0, *map(len, X)]),
    )


def started(rng, barrier=None):
    """A model with random weights, and the same weights as one vector."""
    model = new_model(ATTRIBUTES, LABELS, LONGEST, barrier)
    model.w[:] = rng.normal(size=model.w.shape)
    model.w_move[:] = rng.normal(size=model.w_move.shape)
    model.moves[:] += model.w_move
    return model, operations.weights(model)


BARRIERS = {"free": None, "barred": np.where(np.eye(LABELS + 1, k=1) > 0, -np.inf, 0.0)}
