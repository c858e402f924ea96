"""Owns the parser: options in, sentences to trees. `swvp.DependencyParser` is the same for scikit-learn, which the
command line can do without."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.checks import shown
from swvp.errors import InputError
from swvp.features.context import Columns
from swvp.features.part_templates import PartTemplates
from swvp.io.table import Column
from swvp.learning.perceptron import Epoch, check_structure, generator
from swvp.learning.rule import UpdateRule, as_rule
from swvp.parsing.features import chosen_features, chosen_parts, columns_of
from swvp.parsing.input import Sentences, treebank_from
from swvp.parsing.labeller import Labeller, more_labels
from swvp.parsing.persistence import MOST_WEIGHTS, load_parser, save_parser
from swvp.parsing.pruner import EPOCHS, MOST, Pruner, check_pruning, kept
from swvp.parsing.questions import ParserAsking
from swvp.parsing.rules import DEFAULT_RULES
from swvp.parsing.second_order import all_slots, candidates_of, predict_second
from swvp.parsing.tree import trees_of
from swvp.parsing.treebank import Treebank
from swvp.structures.exact import GRID, on_grid
from swvp.structures.operations import refresh
from swvp.structures.tree.encoding import Keys, Nodes, Tables, encode, ranks_of, tables_of
from swvp.structures.tree.first_order.distributions import rescued
from swvp.structures.tree.first_order.model import ArcModel, Arcs, Heads, decode, new_model, predict_all
from swvp.structures.tree.second_order.features import PartTables, part_tables
from swvp.structures.tree.second_order.model import SecondOrder, new_part_model
from swvp.structures.tree.tag_pruning import Pruned, all_allowed, forbidden, longest_arcs, pruned, widened
from swvp.training.observer import EpochCallback
from swvp.training.options import TrainingOptions, in_shares, not_fitted
from swvp.training.session import Session, check_resumable
from swvp.training.training import Training, Watch, Weights
from swvp.types import Floats

__all__ = ["TREE_BETA", "Parser"]

TREE_BETA = 0.5
LABEL_RULE = "a-wm:segments:sqrt"
MARGIN = 1.0
"""The default margin."""

EXACT_SIZE = 2**24
"""Places of the exact mode; half of them can be taken."""


FEW_ROOTS = 0.05
"""Up to this share of trees with several roots, predictions have one: there it does no harm, see docs/parser.md."""


class Parser(TrainingOptions, ParserAsking):
    """What `swvp.DependencyParser` documents, without scikit-learn."""

    BETA = TREE_BETA

    templates_: list[Any]
    ranks_: dict[str, dict[str, int]]
    tables_: Tables | PartTables
    longest_: NDArray[np.int32]
    pruner_: Pruner | None
    owners_: Keys | None
    one_root_: bool
    history_: list[Epoch]
    dev_scores_: list[float]
    best_epoch_: int
    label_history_: list[Epoch]
    label_dev_scores_: list[float]
    _training: Training | None
    _naming: Training | None

    def __init__(
        self,
        *,
        rule: str | UpdateRule | None = None,
        substructures: Any = None,
        gamma: Any = None,
        approach: str | None = None,
        beta: float | None = None,
        step: str | None = None,
        C: float | None = None,
        epochs: int = 10,
        average: bool = True,
        order: int = 1,
        features: str | Sequence[str] | None = None,
        projective: bool = False,
        one_root: bool | None = None,
        prune: bool = True,
        prune_heads: int = MOST,
        prune_threshold: float | None = None,
        margin: float | None = None,
        hashed: int | None = 2**22,
        labels: bool = True,
        patience: int | None = None,
        random_state: Any = None,
        n_jobs: int = 1,
    ):
        self.rule = rule
        self.substructures = substructures
        self.gamma = gamma
        self.approach = approach
        self.beta = beta
        self.step = step
        self.C = C
        self.epochs = epochs
        self.average = average
        self.order = order
        self.features = features
        self.projective = projective
        self.one_root = one_root
        self.prune = prune
        self.prune_heads = prune_heads
        self.prune_threshold = prune_threshold
        self.margin = margin
        self.hashed = hashed
        self.labels = labels
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Sentences,
        y: Any = None,
        *,
        dev: Any = None,
        watch: Watch | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from trees.

        Parameters
        ----------
        X : treebank or list of sentences
            The text of a CoNLL-U file, its path, a `Treebank`, or sentences, whose trees are then `y`.
        y : list, optional
            For each sentence a list of heads (0 for the root), of pairs (head, label), or a `DependencyTree`.
        dev : treebank or (X, y), optional
            A dev set. The weights are then those of the epoch with the best dev score.
        watch : function, optional
            Called after each epoch over the trees (not over the labels) with a `Progress`: `epoch`, `score`, `best`.
        checkpoint : path, optional
            File in which the state of the training is saved every 10 seconds, and when it is interrupted (Ctrl-C,
            or KeyboardInterrupt from `watch`). `fit` with the same data and options, `random_state` among them,
            resumes from it, to the same weights as without the interruption. With labels there are two files, for
            p.checkpoint p.trees.checkpoint and p.labels.checkpoint. They are removed when training is over.

        Returns
        -------
        self
        """
        if watch is not None and not callable(watch):
            raise InputError(f"watch must be a function, not {watch!r}")
        treebank = treebank_from(X, y, heads=True)
        dev_trees = None if dev is None else treebank_from(*(dev if isinstance(dev, tuple) else (dev,)), heads=True)
        data = [treebank] if dev_trees is None else [treebank, dev_trees]
        labelled = self.labels and treebank.labelled
        stage = "trees" if labelled else ""
        with Session(checkpoint, observers=[] if watch is None else [EpochCallback(watch, stage)]) as session:
            training = self.start(treebank, dev_trees)
            check_resumable(training, checkpoint)
            session.train(self, training, data, stage=stage)
            self.finish(training)
            if labelled:
                label_training = self.start_labels(treebank, dev_trees)
                session.train(self, label_training, data, stage="labels")
                self.finish_labels(label_training)
            session.remove_checkpoints()
        return self

    def partial_fit(self, X: Sentences, y: Any = None) -> Self:
        """Learn from one more batch of trees, in one pass over them and one over their labels.

        New words, tags and labels are added to what is known; a tag that the first batch does not have is never pruned.
        The weights go on from the last `partial_fit`, averaged over all batches; after `fit` or `load` they go on from
        those used to predict. A batch without labels leaves the labels as they are.
        """
        known = hasattr(self, "coef_")
        treebank = treebank_from(X, y, heads=True)
        before, naming = (self.__dict__.get(name) if known else None for name in ("_training", "_naming"))
        history = list(self.history_) if known else []
        training = self.start(treebank, more=True)
        if before is not None:
            training.clock, training.largest, training.orders = before.clock, before.largest, before.orders
        training.run(1)
        self._take(training, training.weights())
        self.history_, self.dev_scores_, self.best_epoch_ = (
            [*history, numbered(training, history)],
            [],
            len(history) + 1,
        )
        self._training, self._naming = training, naming
        if self.labels and treebank.labelled:
            orders = generator(self.random_state)
            labeller, naming = more_labels(self.labeller_, naming, treebank, rule=label_rule(), orders=orders)
            naming.run(1)
            labeller.weights = naming.weights()
            self.labeller_, self._naming = labeller, naming
            self.label_history_ = [*self.label_history_, numbered(naming, self.label_history_)]
            self.label_dev_scores_ = []
        return self

    def start(self, treebank: Treebank, dev: Treebank | None = None, *, more: bool = False) -> Training:
        """A training of trees, to be run and watched; `finish` takes its weights. With `more` it goes on."""
        rule = self.check()
        heads = treebank.trees
        columns = columns_of(treebank)
        more = more and hasattr(self, "coef_")
        if not more:
            self.one_root_ = has_one_root(treebank) if self.one_root is None else bool(self.one_root)
        size, exact = int(self.hashed or EXACT_SIZE), self.hashed is None
        if more and (len(self.coef_), self.owners_ is not None) != (size, exact):
            raise InputError("hashed is not what the parser was fitted with: set it back, or fit again")
        old = (self.coef_, self.__dict__.get("_training"), self.owners_) if more else None
        if not more:
            self.ranks_ = ranks_of(columns)
            self.labeller_ = None
            self.label_history_, self.label_dev_scores_ = [], []
            self._training = self._naming = None
            self._take_templates()
        self.__dict__.pop("coef_", None)  # no weights of before with what is known now
        nodes = self._encode(treebank, columns)
        longest = all_allowed()
        if self.prune:
            longest = longest_arcs(nodes.kinds, nodes.starts, heads, len(self.ranks_["pos"]))
            longest = widened(self.longest_, longest) if more else longest
        self._prune_by(longest)
        if self.pruner_ is not None:
            epochs = 1 if more else EPOCHS
            self.pruner_.fit(nodes, heads, orders=generator(self.random_state), epochs=epochs, more=more)
        problem = self._problem(nodes, heads, self._margin(rule))
        model: Any
        if isinstance(problem, Arcs):
            model = new_model(problem, size, exact=exact)
        else:
            model = new_part_model(problem, size, exact=exact, word_parts=rule.parts)
        if old is not None:
            coef, before, owners = old
            model.w[:] = coef if before is None else before.model.w
            if before is not None:
                model.delayed[:] = before.model.delayed
            if model.owners is not None and owners is not None:
                model.owners[:] = owners
            refresh(model)
        training = Training(
            problem,
            model,
            rule,
            kind="parser",
            examples=treebank.number_of_sentences,
            average=self.average,
            orders=generator(self.random_state),
            dev=None if dev is None else TreeDevelopment(self, dev),
        )
        training.resumable = self.hashed is not None  # a checkpoint does not keep whose the places are
        return training

    def check(self) -> UpdateRule:
        """Refuse options that are wrong whatever the data are; the rule."""
        if self.order not in (1, 2) or isinstance(self.order, bool):
            raise InputError(f"order must be 1 (arcs) or 2 (arcs, siblings and grandparents), not {shown(self.order)}")
        rule = self._rule()
        check_structure(rule, Arcs if self.order == 1 else SecondOrder)
        if not (self.one_root is None or isinstance(self.one_root, (bool, np.bool_))):
            raise InputError(f"one_root must be True, False or None, not {shown(self.one_root)}")
        self._check_whole(["epochs", "n_jobs"], optional=["patience", "hashed"])
        if self.hashed is not None and self.hashed & (self.hashed - 1):
            raise InputError(f"hashed must be a power of 2, as 2**22, not {self.hashed}")
        if self.hashed is not None and self.hashed > MOST_WEIGHTS:
            raise InputError(f"hashed must be at most {MOST_WEIGHTS}, not {shown(self.hashed)}")
        check_pruning(self.prune_heads, self.prune_threshold)
        if self.margin is not None:
            self._check_real("margin")
        return rule

    def _margin(self, rule: UpdateRule) -> float:
        """The margin; a default that makes a rule of the paper another one is told."""
        if self.margin is None and (note := margin_note(self.rule, rule)) is not None:
            warnings.warn(note, stacklevel=2)
        given = MARGIN if self.margin is None else float(self.margin)
        return max(on_grid(given, GRID), GRID) if given > 0 else 0.0

    def finish(self, training: Training) -> Self:
        """Take the weights and the history of a training of trees."""
        self._take(training, training.result())
        self._take_passes(training)
        self._training = self._naming = None
        return self

    def start_labels(self, treebank: Treebank, dev: Treebank | None = None) -> Training:
        """A training of labels, given the trees; `finish_labels` takes its weights."""
        self.labeller_ = Labeller()
        dev = dev if dev is not None and dev.labelled else None
        return self.labeller_.start(treebank, dev, rule=label_rule(), average=True, orders=generator(self.random_state))

    def finish_labels(self, training: Training) -> Self:
        """Take the weights and the history of a training of labels."""
        assert self.labeller_ is not None
        self.labeller_.finish(training)
        self.label_history_, self.label_dev_scores_ = training.history, training.scores
        return self

    def predict(self, X: Sentences) -> NDArray[np.object_]:
        """The tree of each sentence: an array of `DependencyTree`, with the gold trees beside where X has them."""
        self._check_fitted()
        treebank = treebank_from(X, heads=None)
        return trees_of(treebank, *self.predict_trees(treebank))

    def predict_trees(self, treebank: Treebank) -> tuple[Heads, Column | None]:
        """The heads of all words, and the labels of their arcs if they were learnt."""
        self._check_fitted()
        heads = self._predict_heads(self._encoded(treebank), self.coef_, self.owners_)
        return heads, self._labels(treebank, heads)

    def score(self, X: Sentences, y: Any = None) -> float:
        """The share of words with the right head (UAS), punctuation included."""
        treebank = treebank_from(X, y, heads=True)
        self._check_fitted()
        return float(np.mean(self._predict_heads(self._encoded(treebank), self.coef_, self.owners_) == treebank.trees))

    def pruning(self, treebank: Treebank) -> Pruned:
        """What pruning does to a treebank with heads: the recall of its arcs, and how many heads a word can have."""
        problem = self._encoded(treebank)
        if isinstance(problem, SecondOrder):
            return kept(problem.candidates, problem.nodes.starts, treebank.trees)
        return pruned(self.longest_, problem.nodes.kinds, problem.nodes.starts, treebank.trees)

    def certified(self, X: Sentences) -> float:
        """The share of sentences whose tree is certainly the best one of the model; in first order it always is."""
        self._check_fitted()
        problem = self._encoded(treebank_from(X, heads=None))
        if not isinstance(problem, SecondOrder):
            return 1.0
        _, (sentences, certain) = predict_second(problem, self.coef_, self.owners_, self.n_jobs)
        return float(certain / max(sentences, 1))

    def save(self, path: str | Path) -> None:
        """Write the fitted parser to one file, whole or not at all. It holds no code, so no function of a user's."""
        self._check_fitted()
        save_parser(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a parser that `save` wrote; safe with files from anyone."""
        return load_parser(Path(path), cls)  # type: ignore[no-any-return]

    @property
    def has_one_root(self) -> bool:
        """Whether trees have exactly one root: as given or, once fitted, as the training trees have it."""
        return bool(getattr(self, "one_root_", True) if self.one_root is None else self.one_root)

    def _take(self, training: Training, weights: Weights) -> None:
        self.coef_, self.owners_ = weights["w"], training.model.owners

    def _default_rule(self) -> str:
        return DEFAULT_RULES[self.order]

    def _take_templates(self) -> None:
        """Make tables of the templates; of second order, with a new pruner."""
        if self.order == 1:
            self.pruner_ = None
            self.templates_, self.tables_ = tables_of(
                chosen_features("first-order" if self.features is None else self.features)
            )
        else:
            most, threshold = self.prune_heads, self.prune_threshold
            trees = bool(self.projective), self.has_one_root
            self.pruner_ = Pruner(*trees, most=most, threshold=threshold) if self.prune else None
            self._take_parts(chosen_parts("second-order" if self.features is None else self.features))

    def _take_parts(self, parts: PartTemplates) -> None:
        parts, self.tables_ = part_tables(parts, [] if self.pruner_ is None else self.pruner_.templates)
        self.templates_ = parts.all

    def _prune_by(self, longest: NDArray[np.int32]) -> None:
        """From now on arcs are looked at that are not longer than this."""
        self.longest_ = longest
        if isinstance(self.tables_, Tables):
            self.tables_ = self.tables_._replace(longest=longest)
        elif self.pruner_ is not None:
            self.pruner_.look_at(all_slots(self.templates_, self.pruner_), longest)

    def _encode(self, treebank: Treebank, columns: Columns) -> Nodes:
        slots = all_slots(self.templates_, self.pruner_)
        return encode(columns, treebank.offsets, self.templates_, self.ranks_, slots)

    def _problem(self, nodes: Nodes, heads: Heads, margin: float = 0.0) -> Arcs | SecondOrder:
        mode = bool(self.projective), self.has_one_root, margin
        if isinstance(self.tables_, Tables):
            return Arcs(nodes, self.tables_, heads, *mode)
        pruner = None if self.pruner_ is None else self.pruner_.of_trees(*mode[:2])
        found = candidates_of(pruner, nodes, heads if len(heads) else None, int(self.n_jobs))
        return SecondOrder(nodes, self.tables_, found, heads, *mode)

    def _encoded(self, treebank: Treebank) -> Arcs | SecondOrder:
        return self._problem(self._encode(treebank, columns_of(treebank)), np.zeros(0, np.int32))

    def _arcs(self, treebank: Treebank) -> Arcs:
        """What probabilities of arcs are about: arcs, in second order those of the pruner, a log-linear model."""
        problem = self._encoded(treebank)
        if not isinstance(problem, SecondOrder):
            return problem
        if self.pruner_ is None:
            raise InputError("a parser of second order that prunes nothing has no probabilities: fit with prune=True")
        return Arcs(problem.nodes, self.pruner_.tables, problem.heads, problem.projective, problem.one_root, 0.0)

    @property
    def _arc_weights(self) -> tuple[Floats, Keys | None]:
        return (self.coef_, self.owners_) if self.pruner_ is None else (self.pruner_.w, None)

    def _predict_heads(self, problem: Arcs | SecondOrder, w: Floats, owners: Keys | None) -> Heads:
        """The best trees; where every tree has a pruned arc, the best of those with the fewest."""
        if isinstance(problem, SecondOrder):
            return predict_second(problem, w, owners, self.n_jobs)[0]
        out = np.zeros(len(problem.nodes.flags) - len(problem.nodes.starts) + 1, np.int32)

        def predict(first: int, end: int) -> None:
            model = new_model(problem, len(w), w=w)._replace(owners=owners)
            predict_all(problem, model, first, end, out)

        starts = problem.nodes.starts
        in_shares(predict, len(starts) - 1, self.n_jobs)
        wrong = forbidden(problem.tables.longest, problem.nodes.kinds, starts, out)
        words = starts - np.arange(len(starts))
        for i in np.flatnonzero(np.logical_or.reduceat(wrong, words[:-1])).tolist() if wrong.any() else []:
            model = new_model(problem, len(w), w=w)._replace(owners=owners)
            part = out[words[i] : words[i + 1]]
            decode(rescued(problem, model, i)[0], len(part), problem.projective, problem.one_root, part)
        return out

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise not_fitted("DependencyParser")


class TreeDevelopment:
    """Held-out trees."""

    metric = "UAS"

    def __init__(self, parser: Parser, treebank: Treebank):
        self.parser, self.gold, self.problem = parser, treebank.trees, parser._encoded(treebank)

    def score(self, weights: Weights, model: ArcModel) -> float:
        """The share of words with the right head."""
        return float(np.mean(self.parser._predict_heads(self.problem, weights["w"], model.owners) == self.gold))


def margin_note(given: str | UpdateRule | None, rule: UpdateRule) -> str | None:
    """What a user who asks for a rule of the paper, but for no margin, should know."""
    if given is None or all(stage.step == "mira" for stage in rule.stages):
        return None
    return f"rule {rule.name} is trained with a margin of {MARGIN:g}; margin 0 is the algorithm of the paper"


def has_one_root(treebank: Treebank) -> bool:
    """Whether trees of a treebank have one root; a few with several are taken for mistakes."""
    return treebank.several_roots <= FEW_ROOTS * treebank.number_of_sentences


def label_rule() -> UpdateRule:
    """The rule of the second stage."""
    return as_rule(LABEL_RULE, beta=0.5)


def numbered(training: Training, history: Sequence[Epoch]) -> Epoch:
    """The only pass of a training, as the next one of a history."""
    return dataclasses.replace(training.history[0], epoch=len(history) + 1)
