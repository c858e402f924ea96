"""Owns the labeller: it gives the arcs of trees their labels (DEPREL), those of one head's children together.

The labels of the children of a head, from left to right, are a linear chain (`swvp.structures.chain.attributes`): what
one word is to its head says what its siblings can be.

Owns learning labels batch by batch: a labeller that goes on from the weights and labels of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.label_templates import LABELS, parse_label_templates
from swvp.io.memory import Memory
from swvp.io.model_files import ROWS as ROW_ARRAYS
from swvp.io.model_files import by_rows, from_rows, must, strings
from swvp.io.table import Column
from swvp.learning.rule import UpdateRule
from swvp.parsing.checks import Heads
from swvp.parsing.treebank import Treebank
from swvp.structures.chain.attributes import AttributeChain, new_model, predict_all, take_over
from swvp.structures.chain.likelihood import distributions
from swvp.structures.chain.marginals import new_chain_buffers, transitions
from swvp.structures.chain.sequences import Ids
from swvp.structures.operations import refresh
from swvp.structures.tree.labels import Words, attributes_of, children_of, encode_words, label_tables
from swvp.training.options import in_shares
from swvp.training.training import Training, Weights, sum_of, weight_names
from swvp.types import Floats, Ints

__all__ = ["LABEL_ARRAYS", "LabelDevelopment", "Labeller", "more_labels"]

LABEL_ARRAYS = {"label_transitions", *(f"label_{name}" for name in ROW_ARRAYS)}
"""The names of its arrays in a model file."""

ROWS = 2**16
MOST_ROWS = 2**22
BLOCK = 2000
"""So many sentences are labelled at once: what is known of them then stays small."""


class Labeller:
    """Labels of arcs: `start` makes a training, `finish` takes its weights.

    `features` are templates (see `swvp.features.label_templates`), `rows` how many rows of weights they share,
    a power of 2.
    """

    classes: list[str]
    weights: Weights

    def __init__(self, features: Sequence[str] | None = None, rows: int = ROWS):
        if type(rows) is not int or not 2 <= rows <= MOST_ROWS or rows & (rows - 1):
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
        """A training on the trees of a treebank; its development score is the label accuracy given the trees."""
        labels = labels_of(treebank)
        self.classes = sorted({labels.strings[k] for k in np.unique(labels.ids)})
        trees = self.trees(treebank, treebank.trees)
        chain = trees.chain(0, treebank.number_of_sentences)
        problem = chain._replace(y=numbered(labels, self.classes)[trees.order].astype(np.uint32))
        room = int(np.diff(problem.offsets).max())
        return Training(
            problem,
            new_model(self.rows, len(self.classes), room),
            rule,
            kind="labels",
            examples=len(problem.offsets) - 1,
            average=average,
            orders=orders,
            dev=None if dev is None else LabelDevelopment(self, dev),
        )

    def finish(self, training: Training) -> None:
        """Take the weights of a training."""
        self.weights = training.result()

    def predict(self, treebank: Treebank, heads: NDArray[Any], *, n_jobs: int = 1) -> Column:
        """The labels of the arcs from these heads."""
        ids = self.trees(treebank, heads).predict(self.weights, n_jobs)
        return Column(list(self.classes), ids.astype(np.int32))

    def probabilities(
        self, treebank: Treebank, heads: Heads, labels: Column, *, temperature: float = 1.0, n_jobs: int = 1
    ) -> Floats:
        """How probable each of these labels is, given the heads; 0 for those that are not known."""
        chosen = numbered(labels, self.classes)
        return self.trees(treebank, heads).probabilities(self.weights, temperature, chosen, n_jobs)

    def meta(self) -> dict[str, Any]:
        """What a model file says of it beside the arrays."""
        return {
            "labels": self.classes,
            "label_templates": [template.text for template in self.templates],
            "label_rows": self.rows,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its weights, for a model file."""
        return {"label_transitions": self.weights["w_move"]} | {
            f"label_{name}": array for name, array in by_rows(self.weights["w"]).items()
        }

    @classmethod
    def rebuild(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], memory: Memory) -> Labeller:
        """The labeller of a model file."""
        found = cls(strings(meta["label_templates"]), meta["label_rows"])
        found.classes = strings(meta["labels"])
        labels = len(found.classes)
        must(len(set(found.classes)) == labels > 0, "labels")
        must(arrays["label_transitions"].shape == (labels + 1, labels + 1), "transitions")
        of_rows = {name.removeprefix("label_"): array for name, array in arrays.items() if name.startswith("label_")}
        found.weights = {
            "w": from_rows(of_rows, found.rows, labels, memory),
            "w_move": np.array(arrays["label_transitions"], np.float64),
        }
        return found

    def trees(self, treebank: Treebank, heads: Heads) -> Trees:
        """What is needed to label the arcs from these heads."""
        offsets = treebank.offsets
        if heads.shape != (treebank.tokens,):
            raise InputError(f"{treebank.tokens} words and heads of shape {heads.shape}: give as many")
        sizes = np.repeat(np.diff(offsets), np.diff(offsets))
        if not ((heads >= 0) & (heads <= sizes)).all():
            raise InputError("a head is the number of a word of its sentence, or 0")
        order, begins = children_of(heads, offsets)
        words = encode_words(treebank.columns(), offsets, self.templates)
        return Trees(self, words, np.asarray(heads, np.int32), offsets, order, begins)


class Trees(NamedTuple):
    """Given trees: what templates see of their words, and their children (see `children_of`)."""

    labeller: Labeller
    words: Words
    heads: Heads
    offsets: Ints
    order: Ints
    begins: Ints

    def chain(self, first: int, end: int) -> AttributeChain:
        """The chains of the sentences first:end, in the order of their words in `order`, without labels."""
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
        """The best labels under some weights, as numbers, by words."""
        out, labels = np.empty(len(self.order), np.uint32), weights["w"].shape[1]

        def fill(first: int, end: int) -> None:
            for a in range(first, end, BLOCK):
                b = min(a + BLOCK, end)
                chain = self.chain(a, b)
                room = int(np.diff(chain.offsets).max())
                model = new_model(0, labels, room)._replace(w=weights["w"], w_move=weights["w_move"])
                refresh(model)
                found = np.empty(len(chain.starts) - 1, np.uint32)
                predict_all(chain, model, found)
                out[self.order[self.offsets[a] : self.offsets[b]]] = found

        in_shares(fill, len(self.offsets) - 1, n_jobs)
        return out

    def probabilities(self, weights: Weights, temperature: float, chosen: Ints, n_jobs: int = 1) -> Floats:
        """The probability of one label for each word, by its number; 0 for numbers that are no label's."""
        labels = weights["w"].shape[1]
        moves = transitions(weights["w_move"], temperature)
        out = np.zeros(len(self.order))

        def fill(first: int, end: int) -> None:
            for a in range(first, end, BLOCK):
                b = min(a + BLOCK, end)
                chain = self.chain(a, b)
                words = self.order[self.offsets[a] : self.offsets[b]]
                gold = np.minimum(chosen[words], labels - 1).astype(np.uint32)
                room = int(np.diff(chain.offsets).max())
                found, sums = np.zeros((len(words), labels)), np.zeros((2, len(chain.offsets) - 1))
                node = np.zeros((room, labels))
                problem = chain._replace(y=gold)
                distributions(
                    problem, weights["w"], moves, node, new_chain_buffers(labels, room), found, sums[0], sums[1]
                )
                out[words] = np.where(chosen[words] < labels, found[np.arange(len(words)), gold], 0.0)

        in_shares(fill, len(self.offsets) - 1, n_jobs)
        return out


class LabelDevelopment:
    """Held-out trees: the share of words whose label is right, given the trees."""

    metric = "label accuracy"

    def __init__(self, labeller: Labeller, treebank: Treebank):
        self.gold = numbered(labels_of(treebank), labeller.classes)
        self.trees = labeller.trees(treebank, treebank.trees)

    def score(self, weights: Weights, model: Any) -> float:
        return float(np.mean(self.trees.predict(weights) == self.gold))


def labels_of(treebank: Treebank) -> Column:
    """The labels, which must be there."""
    if treebank.labels is None:
        raise InputError(f"{treebank.name}: a treebank without labels; give one with labels")
    return treebank.labels


def numbered(labels: Column, classes: Sequence[str]) -> Ints:
    """Labels as numbers into `classes`; those that are not there are len(classes)."""
    number = {label: k for k, label in enumerate(classes)}
    return np.array([number.get(label, len(number)) for label in labels.strings], np.int64)[labels.ids]


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
