"""The labeller: it gives the arcs of trees their labels (DEPREL), those of one head's children together.

The labels of the children of a head, from left to right, form a linear chain (`swvp.structures.chain.attributes`): the
label of one child restricts those of its siblings.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_power_of_two
from swvp.features.parser_templates import parse_label_templates
from swvp.features.presets import LABEL_TEMPLATES as LABELS
from swvp.io.model_files import ROWS as ROW_ARRAYS
from swvp.io.model_files import Memory, by_rows, from_rows, require, strings
from swvp.io.table import Column
from swvp.io.treebank import Treebank
from swvp.learning.rule import UpdateRule
from swvp.structures.chain.attributes import NO_COSTS, AttributeChain, new_model, predict_all, take_over
from swvp.structures.chain.likelihood import distributions
from swvp.structures.chain.marginals import new_chain_buffers, transitions
from swvp.structures.operations import refresh
from swvp.structures.tree.labels import Words, attributes_of, children_of, encode_words, label_tables
from swvp.training.options import in_shares, power_of
from swvp.training.training import SUMS, Training, Weights, weight_names
from swvp.types import Floats, Heads, Ids, Ints

__all__ = ["DevLabels", "Labeller", "start_batch"]

MARGIN = 8.0
"""By how much gold labels must win with the step `ada`, for each wrong label; chosen on dev sets."""
ROWS = 2**16
MOST_ROWS = 2**22
BLOCK = 2000
"""The number of sentences that are labelled at once, which bounds the memory for their attributes."""


class Labeller:
    """Labels of arcs: `start` makes a training, `finish` uses its weights.

    Parameters
    ----------
    features : sequence of str, optional
        Templates; see `swvp.features.parser_templates`.
    rows : int
        The hash size: the number of rows of weights that the features share, a power of 2.
    """

    ARRAYS = frozenset({"label_transitions", *(f"label_{name}" for name in ROW_ARRAYS)})
    """The names of its arrays in a model file."""

    classes: list[str]
    weights: Weights

    def __init__(self, features: Sequence[str] | None = None, rows: int = ROWS):
        if not is_power_of_two(rows, 2, MOST_ROWS):
            raise InputError(f"rows must be a power of 2 from 2 to {MOST_ROWS}, not {rows!r}")
        if isinstance(features, str) or not all(isinstance(text, str) for text in features or ()):
            raise InputError(f"features must be a list of templates, not {features!r}")
        self.rows = rows
        self.templates = parse_label_templates(LABELS if features is None else features, "labels")
        self.tables = label_tables(self.templates)

    def start(
        self,
        treebank: Treebank,
        dev: Treebank | None = None,
        *,
        rule: UpdateRule,
        average: bool,
        orders: np.random.Generator,
    ) -> Training:
        """Return a training on the trees of a treebank; its dev score is the label accuracy on gold trees."""
        self.classes = classes_of(treebank)
        return self._training(treebank, dev, rule=rule, average=average, orders=orders)

    def _training(self, treebank: Treebank, dev: Treebank | None = None, **settings: Any) -> Training:
        """Return a training for the labels in `classes`."""
        trees = self.trees(treebank, treebank.trees)
        chain = trees.chain(0, treebank.number_of_sentences)
        gold = class_numbers(labels_of(treebank), self.classes)[trees.order].astype(np.uint32)
        problem = chain._replace(y=gold)
        longest = int(np.diff(problem.offsets).max())
        return Training(
            problem,
            new_model(self.rows, len(self.classes), longest),
            kind="labels",
            examples=len(problem.offsets) - 1,
            dev=None if dev is None else DevLabels(self, dev),
            for_rule=partial(for_rule, len(self.classes)),
            **settings,
        )

    def finish(self, training: Training) -> None:
        """Use the weights of a training."""
        self.weights = training.result()

    def use_weights(self, weights: Weights) -> Self:
        """Use these weights."""
        self.weights = weights
        return self

    def predict(self, treebank: Treebank, heads: NDArray[Any], *, n_jobs: int = 1) -> Column:
        """Return the best labels of the arcs from these heads."""
        ids = self.trees(treebank, heads).predict(self.weights, n_jobs)
        return Column(list(self.classes), ids.astype(np.int32))

    def probabilities(
        self, treebank: Treebank, heads: Heads, labels: Column, *, temperature: float = 1.0, n_jobs: int = 1
    ) -> Floats:
        """Return the probability of each of these labels, given the heads; 0 for labels not seen in training."""
        chosen = class_numbers(labels, self.classes)
        return self.trees(treebank, heads).probabilities(self.weights, temperature, chosen, n_jobs)

    def meta(self) -> dict[str, Any]:
        """Return its description for a model file."""
        return {
            "labels": self.classes,
            "label_templates": [template.text for template in self.templates],
            "label_rows": self.rows,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return its weights for a model file."""
        return {"label_transitions": self.weights["w_move"]} | {
            f"label_{name}": array for name, array in by_rows(self.weights["w"]).items()
        }

    @classmethod
    def rebuild(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], memory: Memory) -> Labeller:
        """Return the labeller of a model file."""
        labeller = cls(strings(meta["label_templates"]), meta["label_rows"])
        labeller.classes = strings(meta["labels"])
        labels = len(labeller.classes)
        require(len(set(labeller.classes)) == labels > 0, "labels")
        require(arrays["label_transitions"].shape == (labels + 1, labels + 1), "transitions")
        row_arrays = {name: arrays[f"label_{name}"] for name in ROW_ARRAYS}
        return labeller.use_weights(
            {
                "w": from_rows(row_arrays, labeller.rows, labels, memory),
                "w_move": np.array(arrays["label_transitions"], np.float64),
            }
        )

    def trees(self, treebank: Treebank, heads: Heads) -> Trees:
        """Return trees with these heads, encoded for their labels."""
        offsets = treebank.offsets
        if heads.shape != (treebank.tokens,):
            raise InputError(f"{treebank.tokens} words and heads of shape {heads.shape}: give the same number of both")
        sizes = np.repeat(np.diff(offsets), np.diff(offsets))
        if not ((heads >= 0) & (heads <= sizes)).all():
            raise InputError("a head is the number of a word of its sentence, or 0")
        order, begins = children_of(heads, offsets)
        words = encode_words(treebank.columns(), offsets, self.templates)
        return Trees(self, words, np.asarray(heads, np.int32), offsets, order, begins)


class Trees(NamedTuple):
    """Trees whose arcs are labelled: their words as templates see them, and their children (see `children_of`)."""

    labeller: Labeller
    words: Words
    heads: Heads
    offsets: Ints
    order: Ints
    begins: Ints

    def chain(self, first: int, end: int) -> AttributeChain:
        """Return the chains of the sentences first:end without labels, their words in the order of `order`."""
        attributes, starts = attributes_of(
            self.words,
            self.labeller.tables,
            self.heads,
            self.offsets,
            self.order,
            self.begins,
            self.labeller.rows,
            first,
            end,
        )
        begins = self.begins[self.words.starts[first] : self.words.starts[end] + 1]
        return AttributeChain(attributes, np.zeros(0), starts, np.zeros(0, np.uint32), np.unique(begins - begins[0]))

    def predict(self, weights: Weights, n_jobs: int = 1) -> Ids:
        """Return the best label of each word under these weights, as a number."""
        out, labels = np.empty(len(self.order), np.uint32), weights["w"].shape[1]

        def fill(first: int, end: int) -> None:
            for a in range(first, end, BLOCK):
                b = min(a + BLOCK, end)
                chain = self.chain(a, b)
                longest = int(np.diff(chain.offsets).max())
                model = new_model(0, labels, longest)._replace(w=weights["w"], w_move=weights["w_move"])
                refresh(model)
                labels_in_order = np.empty(len(chain.starts) - 1, np.uint32)
                predict_all(chain, model, labels_in_order)
                out[self.order[self.offsets[a] : self.offsets[b]]] = labels_in_order

        in_shares(fill, len(self.offsets) - 1, n_jobs)
        return out

    def probabilities(self, weights: Weights, temperature: float, chosen: Ints, n_jobs: int = 1) -> Floats:
        """Return the probability of one label for each word, given by its number; 0 if it is not in training."""
        labels = weights["w"].shape[1]
        moves = transitions(weights["w_move"], temperature)
        out = np.zeros(len(self.order))

        def fill(first: int, end: int) -> None:
            for a in range(first, end, BLOCK):
                b = min(a + BLOCK, end)
                chain = self.chain(a, b)
                words = self.order[self.offsets[a] : self.offsets[b]]
                gold = np.minimum(chosen[words], labels - 1).astype(np.uint32)
                longest = int(np.diff(chain.offsets).max())
                marginals, sums = np.zeros((len(words), labels)), np.zeros((2, len(chain.offsets) - 1))
                scores, buffers = np.zeros((longest, labels)), new_chain_buffers(labels, longest)
                problem = chain._replace(y=gold)
                distributions(problem, weights["w"], moves, scores, buffers, marginals, sums[0], sums[1])
                out[words] = np.where(chosen[words] < labels, marginals[np.arange(len(words)), gold], 0.0)

        in_shares(fill, len(self.offsets) - 1, n_jobs)
        return out


def for_rule(labels: int, problem: AttributeChain, rule: UpdateRule) -> tuple[AttributeChain, float]:
    """Return the problem with the margin of a rule, and the rule's power of averaging."""
    costs = MARGIN * (1.0 - np.eye(labels)) if rule.adapts else NO_COSTS
    return problem._replace(costs=costs), power_of(None, rule)


class DevLabels:
    """A dev set of labels: the share of words whose label is right, given the gold trees."""

    metric = "label accuracy"

    def __init__(self, labeller: Labeller, treebank: Treebank):
        self.gold = class_numbers(labels_of(treebank), labeller.classes)
        self.trees = labeller.trees(treebank, treebank.trees)

    def score(self, weights: Weights, model: Any) -> float:
        return float(np.mean(self.trees.predict(weights) == self.gold))


def labels_of(treebank: Treebank) -> Column:
    """Return the labels of a treebank; raise InputError if it has none."""
    if treebank.labels is None:
        raise InputError(f"{treebank.name}: a treebank without labels; give one with labels")
    return treebank.labels


def classes_of(treebank: Treebank) -> list[str]:
    """Return the labels that occur in a treebank, sorted."""
    labels = labels_of(treebank)
    return sorted({labels.strings[k] for k in np.unique(labels.ids)})


def class_numbers(labels: Column, classes: Sequence[str]) -> Ints:
    """Return labels as indices into `classes`; a label that is not there is len(classes)."""
    number = {label: k for k, label in enumerate(classes)}
    return np.array([number.get(label, len(number)) for label in labels.strings], np.int64)[labels.ids]


def start_batch(
    known: Labeller | None,
    before: Training | None,
    treebank: Treebank,
    *,
    rule: UpdateRule,
    orders: np.random.Generator,
) -> tuple[Labeller, Training]:
    """Return a labeller and its training on one more batch; new labels come after those of `known`.

    It continues from the training of the batch before, with its averaging sums, or from the weights of `known`, which
    is not changed.
    """
    if known is None:
        labeller = Labeller()
        return labeller, labeller.start(treebank, rule=rule, average=True, orders=orders)
    labeller = Labeller([template.text for template in known.templates], known.rows)
    labeller.classes = [*known.classes, *(label for label in classes_of(treebank) if label not in known.classes)]
    training = labeller._training(treebank, rule=rule, average=True, orders=orders)
    weights = known.weights
    if before is not None:
        names = weight_names(before.model)
        weights = {part: getattr(before.model, part) for name in names for part in (name, SUMS[name])}
        training.continue_from(before)
    take_over(training.model, weights, len(known.classes))
    return labeller, training
