"""Learn to assign reviewers to papers: a structure that is neither a sequence nor a tree.

Each input is one session of a conference: eight papers, eight reviewers, and a feature vector for every pair of them.
The label is the chair's decision, one reviewer per paper: y_k is the reviewer of paper k. From past sessions the
perceptron learns how much each feature counted, so that it can assign the next session as the chair would.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from swvp import StructuredPerceptron
from swvp.rules import UpdateRule, as_rule

PAPERS, TOPICS = 8, 12
CHAIR = np.array([*np.random.default_rng(0).exponential(size=TOPICS), -2, 0.3])  # what we hope to learn


class Assignment:
    """The two methods of a structure: the features of a label, and the best label for some weights."""

    def joint_feature(self, x, y):
        """Return φ(x, y): the sum of the features of the pairs (paper k, reviewer y_k)."""
        return x[np.arange(len(x)), y].sum(axis=0)

    def argmax(self, x, w):
        """Solve the assignment problem: the Hungarian algorithm on the scores of all pairs."""
        return linear_sum_assignment(x @ w, maximize=True)[1]


def cycles(gold, predicted):
    """Yield sub-structures made for matchings: sets of papers that exchange reviewers among themselves.

    Mixing the labels on part of a cycle gives some reviewer two papers. That is allowed, because only its features
    matter. On whole cycles a mixed assignment is a matching, and a violation, because y* is the best matching.
    """
    owner = {reviewer: paper for paper, reviewer in enumerate(gold)}
    seen = set()
    for start in range(len(gold)):
        cycle, paper = [], start
        while paper not in seen:
            seen.add(paper)
            cycle.append(paper)
            paper = owner[predicted[paper]]
        if cycle:
            yield cycle


def sessions(count, rng):
    """Return sessions: papers and reviewers have topics; the chair weighs the features, with a mood for each pair."""
    X, Y = [], []
    for _ in range(count):
        papers, reviewers = rng.dirichlet(np.full(TOPICS, 0.3), size=(2, PAPERS))
        expertise = np.sqrt(papers[:, None] * reviewers[None])  # one feature per topic
        conflict = rng.random((PAPERS, PAPERS, 1)) < 0.1  # the reviewer is a friend of an author
        keen = rng.normal(size=(PAPERS, PAPERS, 1))  # the reviewer's own wish
        X.append(np.concatenate([expertise, conflict, keen], axis=2))
        moods = rng.normal(scale=0.1, size=(PAPERS, PAPERS))
        Y.append(linear_sum_assignment(X[-1] @ CHAIR + moods, maximize=True)[1])
    return X, Y


def main():
    rng = np.random.default_rng(1)
    X, Y = sessions(40, rng)
    X_test, Y_test = sessions(100, rng)
    rules = ["csp", "a-wm", "b-wm", "a-wm:pairs", "b-uniform:pairs", UpdateRule(gamma="wm", substructures=cycles)]
    print(f"{'rule':<20}{'papers assigned as the chair did':>34}{'updates':>10}{'back-offs':>12}")
    for rule in map(as_rule, rules):
        learner = StructuredPerceptron(Assignment(), rule=rule, epochs=10, random_state=0).fit(X, Y)
        updates = sum(epoch.updates for epoch in learner.history_)
        back_offs = sum(epoch.back_offs for epoch in learner.history_)  # of wm: one, at w = 0
        accuracy = learner.score(X_test, Y_test)
        print(f"{rule.name:<20}{accuracy:>34.1%}{updates:>10}{back_offs / updates:>12.1%}")
    best = np.mean([Assignment().argmax(x, CHAIR) == y for x, y in zip(X_test, Y_test, strict=True)])
    print(f"{'the chair, no moods':<20}{best:>34.1%}")


if __name__ == "__main__":
    main()
