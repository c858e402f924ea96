"""The updates of a tagger's training, one by one: `SequenceTagger.trace`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.structures.chain.attributes import AttributeChain, AttributeModel
from swvp.tagging.corpus import Corpus, Encoder, Sentences, corpus_of
from swvp.tracing.trace import Trace, check_traceable
from swvp.types import Floats, Ints

__all__ = ["ChainSubject", "TaggerTracing"]

EDGE = "(edge)"


class ChainSubject:
    """The words, the labels and the named features of a tagger in training."""

    structure = "labels"

    def __init__(self, problem: AttributeChain, model: AttributeModel, corpus: Corpus, tagger: Any):
        self.problem, self.model = problem, model
        self.words, self.classes = corpus.words(), list(tagger.classes_)
        self.encoder: Encoder = tagger.encoder_

    def tokens(self, i: int) -> Sequence[str]:
        return self.words[self.problem.offsets[i] : self.problem.offsets[i + 1]]

    def readable(self, label: Any) -> Sequence[Any]:
        return [self.classes[y] for y in label]

    def score(self, i: int, label: Any) -> float:
        """Return the sum of the weights of attributes and of transitions."""
        problem, w_move = self.problem, self.model.w_move
        total = 0.0
        for position, y in enumerate(label, int(problem.offsets[i])):
            here = slice(problem.starts[position], problem.starts[position + 1])
            weights = self.model.w[problem.attributes[here], y]
            total += float(weights.sum() if len(problem.values) == 0 else weights @ problem.values[here])
        boundary = len(w_move) - 1
        path = [boundary, *np.asarray(label, int).tolist(), boundary]
        return total + float(w_move[path[:-1], path[1:]].sum())

    def values(self, features: Ints) -> Floats:
        size = self.model.w.size
        result = np.empty(len(features))
        of_attributes = features < size
        result[of_attributes] = self.model.w.reshape(-1)[features[of_attributes]]
        result[~of_attributes] = self.model.w_move.reshape(-1)[features[~of_attributes] - size]
        return result

    def names(self, i: int, features: Sequence[int], wrong: Sequence[int]) -> list[str]:
        """Return the names: an attribute with its label, or two labels that follow each other."""
        labels, size = self.model.w.shape[1], self.model.w.size
        attributes = [feature // labels for feature in features if feature < size]
        known = dict(zip(attributes, self.encoder.names(attributes), strict=True))
        classes = [*map(str, self.classes), EDGE]
        return [
            f"{known[feature // labels]} → {classes[feature % labels]}"
            if feature < size
            else f"{classes[(feature - size) // (labels + 1)]} then {classes[(feature - size) % (labels + 1)]}"
            for feature in features
        ]


class TaggerTracing:
    """The method of a tagger that shows its training, update by update."""

    columns: Sequence[str] | None
    rule: Any
    epochs: int

    def trace(
        self,
        X: Sentences,
        y: Sequence[Sequence[Any]],
        *,
        epochs: int | None = None,
        features: int = 10,
        shuffle: bool = True,
    ) -> Trace:
        """Return an iterator over the updates that `fit` would make; the tagger itself stays as it is.

        With many labels, the trace looks at all of them, whatever `candidates`.

        Parameters
        ----------
        X, y : lists
            Sentences and their labels, as for `fit`.
        epochs : int, optional
            The largest number of epochs. By default that of the tagger.
        features : int, default 10
            How many of the weights that changed most an update names.
        shuffle : bool, default True
            Whether to put the sentences in a new random order in every epoch, as `fit` does.

        Returns
        -------
        Trace
        """
        return self.trace_corpus(corpus_of(X, y, self.columns), epochs=epochs, features=features, shuffle=shuffle)

    def trace_corpus(
        self, corpus: Corpus, *, epochs: int | None = None, features: int = 10, shuffle: bool = True
    ) -> Trace:
        """Return a trace of a training on a corpus, which `files.read_corpus` may have read."""
        if self.rule == "crf":
            raise InputError("rule 'crf' cannot be traced: it is no perceptron; use another rule, such as 'a-wm'")
        tagger: Any = copy(self)  # what `start` sets belongs to the trace
        tagger.candidates = 0
        check_traceable(tagger.check(), AttributeChain)
        if not tagger._decoder_options().plain:
            raise InputError("a search with a beam or of second order cannot be traced: use order 1 and exact search")
        training = tagger.start(corpus)
        return Trace(
            training.problem,
            training.model,
            training.rule,
            ChainSubject(training.problem, training.model, corpus, tagger),
            examples=training.examples,
            epochs=self.epochs if epochs is None else epochs,
            orders=training.orders if shuffle else None,
            power=training.average_power,
            features=features,
        )
