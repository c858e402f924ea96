"""The parser: options, its two training stages (trees, then labels), and prediction.

`swvp.DependencyParser` is this class as an estimator of scikit-learn, which the command line does without.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, shown
from swvp.io.table import Column
from swvp.io.treebank import Treebank
from swvp.learning.perceptron import Epoch, generator
from swvp.parsing.analysis import ParserAnalysis
from swvp.parsing.ensemble import seeds_of, voted_heads, voted_labels
from swvp.parsing.labeller import Labeller, start_batch
from swvp.parsing.options import ParserOptions, TreeCounts, has_one_root, is_projective, label_rule
from swvp.parsing.persistence import FittedParts, load_parser, save_parser
from swvp.parsing.tracing import ParserTracing
from swvp.parsing.tree import Sentences, check_is_list_of_sentences, dev_set_from, treebank_from, trees_of
from swvp.parsing.tree_model import NO_HEADS, FeatureWeights, Ranks, TreeModel
from swvp.structures.operations import refresh
from swvp.structures.tree.encoding import Nodes, ranks_of
from swvp.training.observer import EpochCallback
from swvp.training.options import not_fitted
from swvp.training.session import Session, check_resumable
from swvp.training.training import Training, Watch, Weights
from swvp.types import Heads, Keys

__all__ = ["Parser"]

EXACT_SIZE = 2**24
"""The number of weights in exact mode, of which at most half are used."""


class Parser(ParserOptions, ParserAnalysis, ParserTracing):
    """A graph-based dependency parser without scikit-learn; `swvp.DependencyParser` documents its parameters."""

    model_: TreeModel
    labeller_: Labeller | None
    owners_: Keys
    one_root_: bool
    projective_: bool
    history_: list[Epoch]
    dev_scores_: list[float]
    best_epoch_: int
    label_history_: list[Epoch]
    label_dev_scores_: list[float]
    others_: list[Parser]
    """The parsers of an ensemble after the first one, which is this parser."""
    _training: Training | None  # the last one of `partial_fit`, from which the next one continues
    _label_training: Training | None

    # ------------------------------------------------------------ training

    def fit(
        self,
        X: Sentences,
        y: Any = None,
        *,
        dev: Any = None,
        watch: Watch | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from trees, then from the labels of their arcs.

        Parameters
        ----------
        X : Treebank, str, Path or list of sentences
            A treebank: the text or the path of a CoNLL-U file, or a `Treebank`. Or sentences, lists of tokens, with
            their trees as `y`.
        y : list, optional
            The tree of each sentence: a list of heads (0 for the root), a list of pairs (head, label), or a
            `DependencyTree`.
        dev : optional
            A dev set: a treebank, or a pair (X, y). Then the weights of the epoch with the best dev score are used.
        watch : callable, optional
            Called with a `Progress` after each epoch over the trees.
        checkpoint : str or Path, optional
            A file in which the state of the training is saved every 10 seconds, and when it is interrupted (Ctrl-C, or
            KeyboardInterrupt from `watch`). `fit` with the same data and options, `random_state` among them, resumes
            from it, to the same weights as without the interruption. With labels there are two files: for p.checkpoint
            they are p.trees.checkpoint and p.labels.checkpoint. They are removed when training is complete.

        Returns
        -------
        self
        """
        if watch is not None and not callable(watch):
            raise InputError(f"watch must be a function, not {watch!r}")
        treebank = treebank_from(X, y, heads=True)
        dev_set = dev_set_from(dev)
        data = [treebank] if dev_set is None else [treebank, dev_set]
        labelled = self.labels and treebank.labelled
        others = self.new_others()
        parsers: list[Parser] = [self, *others]
        stage = "trees" if labelled or others else ""
        with Session(checkpoint, observers=[] if watch is None else [EpochCallback(watch, stage)]) as session:
            for number, parser in enumerate(parsers, 1):
                training = parser.start(treebank, dev_set)
                check_resumable(training, checkpoint)
                session.train(parser, training, data, stage=stage_of(stage, number))
                parser.finish(training)
                if labelled:
                    label_training = parser.start_labels(treebank, dev_set)
                    session.train(parser, label_training, data, stage=stage_of("labels", number))
                    parser.finish_labels(label_training)
                if number > 1:
                    self.others_.append(parser)
            session.remove_checkpoints()
        return self

    def partial_fit(self, X: Sentences, y: Any = None) -> Self:
        """Learn from one more batch of trees, in one epoch over the trees and one over their labels.

        Training continues from the last `partial_fit`, with weights averaged over all batches; after `fit` or `load` it
        continues from the weights used to predict. New words, tags and labels are added; a tag that the first batch
        lacks is never pruned. A batch without labels leaves the labels as they are.

        Parameters
        ----------
        X, y
            Trees, as for `fit`.

        Returns
        -------
        self
        """
        if self.ensemble != 1:
            raise InputError(f"partial_fit trains one parser, not an ensemble of {shown(self.ensemble)}: call fit")
        treebank = treebank_from(X, y, heads=True)
        is_fitted = hasattr(self, "coef_")
        history = list(self.history_) if is_fitted else []
        label_before = self._label_training if is_fitted else None
        training = self.start(treebank, warm_start=True)
        training.run(1)
        self._use_weights(training.weights(), training)
        self.history_ = [*history, next_epoch(training, history)]
        self.dev_scores_, self.best_epoch_ = [], len(self.history_)
        self._training, self._label_training = training, label_before
        if self.labels and treebank.labelled:
            orders = generator(self.random_state)
            labeller, label_training = start_batch(
                self.labeller_, label_before, treebank, rule=label_rule(), orders=orders
            )
            label_training.run(1)
            self.labeller_, self._label_training = labeller.use_weights(label_training.weights()), label_training
            self.label_history_ = [*self.label_history_, next_epoch(label_training, self.label_history_)]
            self.label_dev_scores_ = []
        return self

    def new_others(self) -> list[Parser]:
        """Return the parsers of the ensemble after the first one, with their seeds, to be trained.

        Returns
        -------
        list of Parser
        """
        self.check()
        options = {name: value for name, value in self.options().items() if name != "ensemble"}
        return [Parser(**(options | {"random_state": seed})) for seed in seeds_of(self.random_state, self.ensemble)]

    def start(self, treebank: Treebank, dev: Treebank | None = None, *, warm_start: bool = False) -> Training:
        """Start the first stage, trees.

        Parameters
        ----------
        treebank : Treebank
            The training trees.
        dev : Treebank, optional
            The dev set.
        warm_start : bool
            Continue from the weights of a fitted parser.

        Returns
        -------
        Training
            Call its `run`, then `finish` of the parser.
        """
        rule, heads = self.check(), treebank.trees
        size, exact = int(self.hashed or EXACT_SIZE), self.hashed is None
        weights = before = None
        if warm_start and hasattr(self, "coef_"):
            if (len(self.coef_), len(self.owners_) > 0) != (size, exact):
                raise InputError("hashed is not what the parser was fitted with: set it back, or fit again")
            weights, before = self._weights, self._training
        else:
            self._reset(treebank)
        self.__dict__.pop("coef_", None)  # they do not belong to the model that is trained now
        nodes = self.model_.encode(treebank)
        self.model_.learn_pruning(
            nodes, heads, prune=bool(self.prune), warm_start=weights is not None, random_state=self.random_state
        )
        problem = self._problem(nodes, heads, margin=self._margin(rule))
        new_weights = self.model_.new_weights(problem, size, exact=exact, parts=rule.parts)
        if weights is not None:
            copy_weights(new_weights, weights, before)
        training = Training(
            problem,
            new_weights,
            rule,
            kind="parser",
            examples=treebank.number_of_sentences,
            average=self.average,
            for_rule=self._for_rule,
            orders=generator(self.random_state),
            dev=None if dev is None else DevTrees(self, dev),
            resumable=not exact,  # a checkpoint does not hold the owners of weights
            batch_size=int(self.batch_size),
            n_jobs=int(self.n_jobs),
        )
        if before is not None:
            training.continue_from(before)
        return training

    def finish(self, training: Training) -> Self:
        """Use the weights and the history of the first stage.

        Parameters
        ----------
        training : Training

        Returns
        -------
        self
        """
        self._use_weights(training.result(), training)
        self._take_history(training)
        self._training = self._label_training = None
        return self

    def start_labels(self, treebank: Treebank, dev: Treebank | None = None) -> Training:
        """Start the second stage, the labels of gold trees.

        Parameters
        ----------
        treebank : Treebank
            The training trees with labels.
        dev : Treebank, optional
            The dev set.

        Returns
        -------
        Training
            Call its `run`, then `finish_labels` of the parser.
        """
        self.labeller_ = Labeller()
        dev = dev if dev is not None and dev.labelled else None
        return self.labeller_.start(treebank, dev, rule=label_rule(), average=True, orders=generator(self.random_state))

    def finish_labels(self, training: Training) -> Self:
        """Use the weights and the history of the second stage.

        Parameters
        ----------
        training : Training

        Returns
        -------
        self
        """
        assert self.labeller_ is not None
        self.labeller_.finish(training)
        self.label_history_, self.label_dev_scores_ = training.history, training.scores
        return self

    # ------------------------------------------------------------ prediction

    def predict(self, X: Sentences) -> NDArray[np.object_]:
        """Predict the tree of each sentence.

        Parameters
        ----------
        X : Treebank, str, Path or list of sentences
            A treebank, its text or its path, with or without trees; or sentences, lists of tokens.

        Returns
        -------
        ndarray of DependencyTree
            One for each sentence, with the gold tree beside it if `X` has trees.
        """
        self._check_fitted()
        check_is_list_of_sentences(X, tagged=len(self.ranks_["pos"]) > 1)
        treebank = treebank_from(X, heads=None)
        return trees_of(treebank, *self.predict_trees(treebank))

    def predict_trees(self, treebank: Treebank) -> tuple[Heads, Column | None]:
        """Predict the heads of all words of a treebank, and the labels of their arcs.

        Parameters
        ----------
        treebank : Treebank

        Returns
        -------
        heads : ndarray of int32
        labels : Column or None
            None if labels were not learnt.
        """
        self._check_fitted()
        heads = self._heads(treebank)
        return heads, self._labels(treebank, heads)

    def score(self, X: Sentences, y: Any = None) -> float:
        """Return the share of words whose predicted head is right (UAS), punctuation included.

        Parameters
        ----------
        X, y
            Gold trees, as for `fit`.

        Returns
        -------
        float
        """
        treebank = treebank_from(X, y, heads=True)
        self._check_fitted()
        return float(np.mean(self._heads(treebank) == treebank.trees))

    # ------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Write the fitted parser to one file, completely or not at all.

        The file contains no code, so a γ that is a Python function is not saved.

        Parameters
        ----------
        path : str or Path
        """
        self._check_fitted()
        save_parser(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a parser that `save` wrote; safe with files from untrusted sources.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        a fitted parser
        """
        return load_parser(Path(path), cls, Parser)  # type: ignore[no-any-return]

    def _restore(self, parts: FittedParts) -> Self:
        """Become the parser of a model file."""
        self.model_, self.labeller_ = parts.model, parts.labeller
        self.one_root_, self.projective_ = parts.one_root, parts.projective
        self.coef_, self.owners_ = parts.weights
        self.label_history_, self.label_dev_scores_ = parts.label_history, parts.label_dev_scores
        self._training = self._label_training = None
        self.temperature_ = parts.temperature
        self.others_ = list(parts.others)
        return self

    # ------------------------------------------------------------ the fitted model

    @property
    def _weights(self) -> FeatureWeights:
        return FeatureWeights(self.coef_, self.owners_)

    def _reset(self, treebank: Treebank) -> None:
        """Forget what was learnt and make a new model for the training trees."""
        self.prepare(treebank, ranks_of(treebank.columns()))

    def prepare(self, trees: TreeCounts, ranks: Ranks) -> None:
        """Forget what was learnt and make a new model for training trees that are known by their counts.

        Parameters
        ----------
        trees : TreeCounts
            A treebank, or the sums of the counts of several.
        ranks : dict
            The ranks of their tags and morphological features.
        """
        self.one_root_ = has_one_root(trees) if self.one_root is None else bool(self.one_root)
        given = self.projective
        self.projective_ = is_projective(trees, self.order) if given is None else bool(given)
        self.model_ = self._new_model(ranks)
        self.labeller_ = None
        self.label_history_, self.label_dev_scores_ = [], []
        self._training = self._label_training = None
        self.others_ = []

    def _use_weights(self, weights: Weights, training: Training) -> None:
        self.coef_, self.owners_ = weights["w"], training.model.owners

    def _problem(self, nodes: Nodes, heads: Heads = NO_HEADS, *, margin: float = 0.0) -> Any:
        return self.model_.problem(nodes, heads, self._kind(), margin=margin, n_jobs=int(self.n_jobs))

    def _encoded(self, treebank: Treebank) -> Any:
        """Return the problem of predicting the trees of a treebank."""
        return self._problem(self.model_.encode(treebank))

    def _predict_heads(self, problem: Any, weights: FeatureWeights) -> Heads:
        return self.model_.predict(problem, weights, self.n_jobs)

    def _heads(self, treebank: Treebank) -> Heads:
        """Return the predicted heads of all words of a treebank, in an ensemble the voted ones."""
        votes = self._votes(treebank)
        return votes[0] if len(votes) == 1 else voted_heads(votes, treebank.offsets, self._kind())

    def _votes(self, treebank: Treebank) -> list[Heads]:
        """Return the heads that each parser of the ensemble predicts."""
        return [parser._predict_heads(parser._encoded(treebank), parser._weights) for parser in self._parsers()]

    def _labels(self, treebank: Treebank, heads: Heads) -> Column | None:
        """Return the best labels of the arcs from these heads, or None if labels were not learnt."""
        labellers = [parser.labeller_ for parser in self._parsers() if parser.labeller_ is not None]
        if not labellers:
            return None
        return voted_labels([labeller.predict(treebank, heads, n_jobs=self.n_jobs) for labeller in labellers])

    def _parsers(self) -> list[Parser]:
        """Return all parsers of the ensemble, the first one first; its number of threads is that of all."""
        for parser in self.others_:
            parser.n_jobs = self.n_jobs
        return [self, *self.others_]

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise not_fitted("DependencyParser")


def stage_of(stage: str, number: int) -> str:
    """Return the name of a stage of a parser of an ensemble, by its number from 1."""
    return stage if number == 1 else f"{stage}-{number}"


class DevTrees:
    """A dev set of trees: the share of words with the right head (UAS)."""

    metric = "UAS"

    def __init__(self, parser: Parser, treebank: Treebank):
        self.parser, self.gold, self.problem = parser, treebank.trees, parser._encoded(treebank)

    def score(self, weights: Weights, model: Any) -> float:
        heads = self.parser._predict_heads(self.problem, FeatureWeights(weights["w"], model.owners))
        return float(np.mean(heads == self.gold))


def copy_weights(model: Any, weights: FeatureWeights, before: Training | None) -> None:
    """Copy weights into the model of a new training; with their averaging sums if they are those of a training."""
    model.w[:] = weights.w if before is None else before.model.w
    if before is not None:
        model.delayed[:] = before.model.delayed
    model.owners[:] = weights.owners
    refresh(model)


def next_epoch(training: Training, history: Sequence[Epoch]) -> Epoch:
    """Return the only epoch of a training, numbered as the next one of a history."""
    return dataclasses.replace(training.history[0], epoch=len(history) + 1)
