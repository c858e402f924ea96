"""Owns learning labels batch by batch: a labeller that goes on from the weights and labels of another."""

from __future__ import annotations

import numpy as np

from swvp.learning.rule import UpdateRule
from swvp.parsing.labeller import Labeller
from swvp.parsing.treebank import Treebank
from swvp.structures.chain.attributes import new_model
from swvp.structures.chain.growth import take_over
from swvp.training.training import Training, sum_of, weight_names

__all__ = ["more_labels"]


def more_labels(
    known: Labeller | None,
    before: Training | None,
    treebank: Treebank,
    *,
    rule: UpdateRule,
    orders: np.random.Generator,
) -> tuple[Labeller, Training]:
    """A labeller and its training on one more batch; labels that are new come after those known.

    It goes on from the training of the batch before, with its sums for averaging, or from the weights of `known`, which
    stays as it is.
    """
    if known is None:
        labeller = Labeller()
        return labeller, labeller.start(treebank, rule=rule, average=True, orders=orders)
    labeller = Labeller([template.text for template in known.templates], known.rows)
    training = labeller.start(treebank, rule=rule, average=True, orders=orders)
    classes = [*known.classes, *(label for label in labeller.classes if label not in known.classes)]
    numbers = np.array([classes.index(label) for label in labeller.classes], np.uint32)
    old = known.weights
    if before is not None:
        names = weight_names(before.model)
        old = {part: getattr(before.model, part) for name in names for part in (name, sum_of(name))}
        training.clock, training.largest, training.orders = before.clock, before.largest, before.orders
    problem = training.problem._replace(y=numbers[training.problem.y])
    model = new_model(labeller.rows, len(classes), int(np.diff(problem.offsets).max()))
    take_over(model, old, len(known.classes))
    training.problem, training.model, labeller.classes = problem, model, classes
    return labeller, training
