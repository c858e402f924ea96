"""The updates of a parser's training over trees, one by one: `DependencyParser.trace`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.io.treebank import Treebank
from swvp.parsing.tree import Sentences, treebank_from
from swvp.parsing.tree_model import TreeModel, columns_of, sentence_columns
from swvp.structures.operations import direction, labels, with_buffers
from swvp.structures.tree.first_order.features import feature_names, score_sentence
from swvp.structures.tree.first_order.model import ArcModel, Arcs
from swvp.structures.tree.first_order.probabilities import arc_weights
from swvp.tracing.trace import Trace, check_traceable
from swvp.types import Floats, Ints

__all__ = ["ArcSubject", "ParserTracing"]


class ArcSubject:
    """The words, the heads and the named features of a first-order parser in training."""

    structure = "heads"

    def __init__(self, problem: Arcs, model: ArcModel, treebank: Treebank, tree_model: TreeModel):
        self.problem, self.model = problem, model
        self.reader = with_buffers(problem, model)  # scoring must not touch the buffers of the training
        self.treebank, self.columns, self.templates = treebank, columns_of(treebank), tree_model.templates

    def tokens(self, i: int) -> Sequence[str]:
        words = self.treebank.words
        return [words.strings[k] for k in words.ids[self.treebank.sentence(i)].tolist()]

    def readable(self, label: Any) -> Sequence[Any]:
        return [int(head) for head in label]

    def score(self, i: int, label: Any) -> float:
        """Return the sum of the weights of the features of all arcs; those of pruned arcs are computed one by one."""
        problem, reader = self.problem, self.reader
        score_sentence(problem.nodes, problem.tables, i, reader.w, reader.owners, reader.buffers)
        scores = [float(reader.buffers.scores[head, word]) for word, head in enumerate(label, 1)]
        weights = np.zeros(len(reader.buffers.features))
        for word, head in enumerate(label, 1):
            if scores[word - 1] == -np.inf:
                count = arc_weights(problem, reader, i, int(head), word, weights)
                scores[word - 1] = float(weights[:count].sum())
        return sum(scores)

    def values(self, features: Ints) -> Floats:
        return self.model.w[features]

    def names(self, i: int, features: Sequence[int], wrong: Sequence[int]) -> list[str]:
        """Return the names: of features of the gold and predicted arcs of wrong words, by their slots."""
        sentence = sentence_columns(self.treebank, i, self.columns)
        gold, predicted = labels(self.problem, self.model, i)
        known: dict[int, str] = {}
        one, both = np.zeros(1, np.int64), np.array([0, 1])
        for k in wrong:
            arcs = [feature_names(sentence, self.templates, int(heads[k]), k + 1) for heads in (predicted, gold)]
            size, slots, _ = direction(self.problem, self.model, i, both, np.array([k]), one, 1, np.ones(1))
            for slot, name in zip(slots[:size].tolist(), [*arcs[0], *arcs[1]], strict=True):
                known.setdefault(slot, name)
        return [known.get(feature, f"weight {feature}") for feature in features]


class ParserTracing:
    """The method of a parser that shows its training, update by update."""

    epochs: int

    def trace(
        self, X: Sentences, y: Any = None, *, epochs: int | None = None, features: int = 10, shuffle: bool = True
    ) -> Trace:
        """Return an iterator over the updates that `fit` would make in its first stage, the trees.

        The parser itself stays as it is. Labels of arcs are not traced.

        Parameters
        ----------
        X, y
            Trees, as for `fit`.
        epochs : int, optional
            The largest number of epochs. By default that of the parser.
        features : int, default 10
            How many of the weights that changed most an update names.
        shuffle : bool, default True
            Whether to put the sentences in a new random order in every epoch, as `fit` does.

        Returns
        -------
        Trace
        """
        parser: Any = copy(self)  # what `start` sets belongs to the trace
        rule = parser.check()
        if parser.order != 1:
            raise InputError("a parser of second order cannot be traced: use order 1")
        if parser.batch_size > 1:
            raise InputError("minibatches cannot be traced: use batch_size 1")
        check_traceable(rule, Arcs)
        treebank = treebank_from(X, y, heads=True)
        training = parser.start(treebank)
        return Trace(
            training.problem,
            training.model,
            training.rule,
            ArcSubject(training.problem, training.model, treebank, parser.model_),
            examples=training.examples,
            epochs=self.epochs if epochs is None else epochs,
            orders=training.orders if shuffle else None,
            power=training.average_power,
            features=features,
        )
