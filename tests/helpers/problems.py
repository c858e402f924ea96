"""Small random problems for the tests."""

import numpy as np

from swvp.structures.chain.indicator import IndicatorChain
from swvp.structures.chain.reference import PlainChain


class RememberingChain(PlainChain):
    """PlainChain that computes each φ once."""

    def __init__(self, symbols, labels):
        super().__init__(symbols, labels)
        self.known = {}

    def joint_feature(self, x, y):
        key = tuple(x), tuple(y)
        if key not in self.known:
            self.known[key] = super().joint_feature(x, y)
        return self.known[key]

    def argmax(self, x, w):
        key = tuple(x)
        if key not in self.known:
            outputs = self.outputs(x)
            self.known[key] = outputs, np.stack([self.joint_feature(x, y) for y in outputs])
        outputs, features = self.known[key]
        return outputs[int((features @ w).argmax())]


def random_sequences(rng, *, examples, symbols, labels, longest):
    """Sequences in which no symbol comes twice, so that no two labels have the same φ (a tie for every w)."""
    X = [tuple(rng.permutation(symbols)[: rng.integers(1, longest + 1)].tolist()) for _ in range(examples)]
    Y = [tuple(rng.integers(labels, size=len(x)).tolist()) for x in X]
    return X, Y


def as_chain(X, Y):
    """The same examples for the compiled chain."""
    return IndicatorChain(
        np.concatenate([*X, []]).astype(np.uint32),
        np.concatenate([*Y, []]).astype(np.uint32),
        np.cumsum([0, *(len(x) for x in X)]),
    )


def separable_sequences(rng, *, examples, symbols, labels, length):
    """Sequences labelled by a random linear model: separable by its weights."""
    chain = RememberingChain(symbols, labels)
    w = rng.normal(size=len(chain.joint_feature((0,), (0,))))
    X = [tuple(rng.integers(symbols, size=length).tolist()) for _ in range(examples)]
    return chain, X, [chain.argmax(x, w) for x in X], w
