"""Compare the generalisation bound of the paper's appendix (Theorem 3) with the actual error of the voted perceptron.

Sequences of three symbols get labels from a random linear model, and one label in a hundred is changed. For each number
n of training examples, eight voted perceptrons learn for one epoch, each from its own n examples, and are tested on 250
new ones. An error is a sequence with any wrong label. `theory.error_bound` estimates the bound from the same samples,
with one additional example each.

There are two kinds of features. With features of single positions SWVP never backs off, so the bound of its
sub-structures holds. With features of a chain it does back off, and then its bound is that of CSP.
"""

import functools

import numpy as np

from swvp import StructuredPerceptron, theory
from swvp.structures import PlainChain

SYMBOLS, LABELS, LENGTH, NOISE = 3, 2, 3, 0.01
SAMPLES, TEST = 8, 250
SIZES = (10, 40, 160)


class Chain(PlainChain):
    """The paper's features, computed once for each of the few labels of an input."""

    @functools.cache  # noqa: B019
    def listed(self, x):
        outputs = self.outputs(x)
        return outputs, np.stack([self.joint_feature(x, y) for y in outputs])

    def argmax(self, x, w):
        outputs, features = self.listed(x)
        return outputs[int((features @ w).argmax())]


class Positions(Chain):
    """Only pairs of a symbol and its label."""

    def joint_feature(self, x, y):
        counts = np.zeros((self.symbols, self.labels))
        np.add.at(counts, (list(x), list(y)), 1)
        return counts.ravel()


def sequences(problem, count, rng):
    """Return inputs, and their labels by a random model with some noise."""
    w = np.random.default_rng(0).normal(size=len(problem.joint_feature((0,), (0,))))
    X = [tuple(x) for x in rng.integers(SYMBOLS, size=(count, LENGTH)).tolist()]
    labels = np.array([problem.argmax(x, w) for x in X])
    labels = np.where(rng.random(labels.shape) < NOISE, 1 - labels, labels)
    return X, [tuple(y) for y in labels.tolist()]


def compare(problem, rule, n):
    """Return means over the samples (mistakes in the epoch, back-offs, error on new sequences) and the bound."""
    rng = np.random.default_rng([1, n])
    X, Y = sequences(problem, SAMPLES * (n + 1), rng)
    X_test, Y_test = sequences(problem, SAMPLES * TEST, rng)
    mistakes = back_offs = wrong = 0
    for k in range(SAMPLES):
        train, test = slice(k * (n + 1), k * (n + 1) + n), slice(k * TEST, (k + 1) * TEST)
        learner = StructuredPerceptron(problem, rule=rule, vote=True, epochs=1, shuffle=False).fit(X[train], Y[train])
        mistakes += learner.history_[0].mistakes
        back_offs += learner.history_[0].back_offs
        wrong += sum(a != b for a, b in zip(learner.predict(X_test[test]), Y_test[test], strict=True))
    bound = theory.error_bound(problem, X, Y, rule=rule, n=n, back_off=back_offs > 0, random_state=0)
    return mistakes / SAMPLES, back_offs / SAMPLES, wrong / SAMPLES / TEST, bound


def main():
    print(f"{'features':<11}{'rule':<11}{'n':>4}{'mistakes':>10}{'back-offs':>11}{'error':>8}{'bound':>8}{'mixed':>8}")
    for problem in (Positions(SYMBOLS, LABELS), Chain(SYMBOLS, LABELS)):
        for n in SIZES:
            for rule in ("csp", "a-uniform"):
                mistakes, back_offs, error, estimate = compare(problem, rule, n)
                line = f"{type(problem).__name__:<11}{rule:<11}{n:>4}{mistakes:>10.1f}{back_offs:>11.1f}"
                print(f"{line}{error:>8.3f}{estimate.bound:>8.3f}{estimate.mixed:>8.3f}")


if __name__ == "__main__":
    main()
