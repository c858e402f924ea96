"""Owns the generic learner: SWVP for structures that users define in plain Python, in scikit-learn's manner.

Owns `SequenceTagger`: a tagger, chunker or named-entity recogniser in scikit-learn's manner.

Owns `DependencyParser`: a graph-based dependency parser in scikit-learn's manner.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from swvp.errors import InputError
from swvp.learning.perceptron import Epoch, generator, run_epochs
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.voting import Hypotheses, Recorder, changes_of, vote
from swvp.parsing.parser import Parser
from swvp.structures.generic import Label, Problem, PythonModel, PythonProblem, predict, varies
from swvp.structures.operations import averaged_weights, weights
from swvp.tagging.tagger import Tagger

__all__ = ["DependencyParser", "SequenceTagger", "StructuredPerceptron"]


class StructuredPerceptron(BaseEstimator):  # type: ignore[misc]
    """The Structured Weighted Violations Perceptron for any structure.

    Parameters
    ----------
    problem : object with `argmax(x, w)` and `joint_feature(x, y)`
        See `swvp.structures.generic.Problem`.
    rule : str or UpdateRule
        A short name such as "csp" or "a-wm:segments", or an `UpdateRule`.
    beta : float, optional
        Replaces the β of the rule.
    epochs : int
        At most so many passes; training stops earlier after a pass without a mistake.
    average : bool
        Predict with the averaged weights instead of the last ones. Both are kept.
    vote : bool
        Predict by the vote of all weight vectors of training, each with as many votes as examples it survived (the
        voted perceptron). It takes an `argmax` for each of them. Equal votes: the label of the earliest vector wins.
    shuffle : bool
        A new order of the examples in every pass.
    random_state : int, RandomState or None
        Decides the orders.

    Attributes
    ----------
    coef_ : the weights used to predict
    last_coef_, averaged_coef_ : the weights after the last update, and their mean over all examples seen
    hypotheses_ : with `vote`, the weight vectors and how long each survived (`swvp.learning.voting.Hypotheses`)
    history_ : list of `Epoch`, what happened in each pass
    converged_ : whether the last pass made no mistake

    Examples
    --------
    >>> class Bits:  # y_k should be the k-th bit of x
    ...     def joint_feature(self, x, y):
    ...         return [sum(a == b for a, b in zip(x, y)), sum(y)]
    ...     def argmax(self, x, w):
    ...         return [int(w[0] * a + w[1] > w[0] * (1 - a)) for a in x]
    >>> X = [[0, 1, 1], [1, 0, 0], [1, 1, 0]]
    >>> learner = StructuredPerceptron(Bits(), rule="a-wm", random_state=0).fit(X, X)
    >>> learner.predict([[0, 0, 1]])
    [[0, 0, 1]]
    """

    def __init__(
        self,
        problem: Problem,
        *,
        rule: str | UpdateRule = "a-wm",
        beta: float | None = None,
        epochs: int = 10,
        average: bool = True,
        vote: bool = False,
        shuffle: bool = True,
        random_state: Any = None,
    ):
        self.problem = problem
        self.rule = rule
        self.beta = beta
        self.epochs = epochs
        self.average = average
        self.vote = vote
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Sequence[Any], y: Sequence[Label], *, initial: NDArray[np.float64] | None = None) -> Self:
        """Learn from the inputs X and their labels y, starting from the weights `initial` (default: 0)."""
        for method in ("argmax", "joint_feature"):
            if isinstance(self.problem, type):
                raise InputError(
                    f"problem is the class {self.problem.__name__}: give an object, {self.problem.__name__}()"
                )
            if not callable(getattr(self.problem, method, None)):
                raise InputError(f"problem {type(self.problem).__name__} has no method '{method}'")
        if len(X) != len(y):
            raise InputError(f"X has {len(X)} examples and y has {len(y)}: give as many")
        if len(X) == 0:
            raise InputError("no training examples")
        if not (isinstance(self.epochs, numbers.Integral) and self.epochs >= 1):
            raise InputError(f"epochs must be a whole number of at least 1, not {self.epochs}")
        rule = as_rule(self.rule) if self.beta is None else as_rule(self.rule, beta=self.beta)
        problem = PythonProblem(self.problem, X, y)
        size = len(problem.phi(0, y[0]))
        model = PythonModel(np.zeros(size) if initial is None else initial)
        if not np.isfinite(model.w).all():
            raise InputError("initial holds NaN or infinite weights")
        if model.w.shape != (size,):
            raise InputError(f"initial has the shape {model.w.shape}, joint_feature returns {size} values")
        orders = generator(self.random_state) if self.shuffle else None
        recorder = Recorder(model.w.copy(), changes_of(model)) if self.vote else None
        after = None if recorder is None else recorder.after
        self.history_: list[Epoch] = list(
            run_epochs(problem, model, rule, examples=len(X), epochs=self.epochs, random_state=orders, after=after)
        )
        self.hypotheses_: Hypotheses | None = None if recorder is None else recorder.hypotheses()
        self.last_coef_ = weights(model)
        self.averaged_coef_ = averaged_weights(model, len(X) * len(self.history_))
        self.converged_ = self.history_[-1].mistakes == 0
        self.coef_: NDArray[np.float64] = self.averaged_coef_ if self.average else self.last_coef_
        return self

    def predict(self, X: Sequence[Any]) -> list[Label]:
        """The label of each input."""
        if not hasattr(self, "coef_"):
            raise NotFittedError("this StructuredPerceptron is not fitted: call fit(X, y) first")
        if self.vote:
            if self.hypotheses_ is None:
                raise InputError("this StructuredPerceptron was fitted without vote: fit it again")
            return vote(self.problem, X, self.hypotheses_)
        return [predict(self.problem, x, self.coef_, None, f"input {i}") for i, x in enumerate(X)]

    def score(self, X: Sequence[Any], y: Sequence[Label]) -> float:
        """The share of positions predicted right."""
        if len(X) != len(y):
            raise InputError(f"X has {len(X)} examples and y has {len(y)}: give as many")
        right = []
        for i, (gold, guess) in enumerate(zip(y, self.predict(X), strict=True)):
            if len(gold) != len(guess) and not varies(self.problem):
                raise InputError(f"argmax returned a label of {len(guess)} positions for input {i}, not {len(gold)}")
            right += [a == b for a, b in zip(gold, guess, strict=False)] + [False] * abs(len(gold) - len(guess))
        return float(np.mean(right)) if right else 1.0


class SequenceTagger(Tagger, BaseEstimator):  # type: ignore[misc]
    """A linear-chain tagger trained by the Structured Weighted Violations Perceptron.

    A sentence is a list of tokens: strings, tuples of columns (word, tag, …), or ready features (lists of strings,
    or dicts, as python-crfsuite and sklearn-crfsuite take them).

    Parameters
    ----------
    rule : str or UpdateRule
        A short name such as "csp" or "a-wm:segments:sqrt", or an `UpdateRule`; or "crf": no perceptron, but a
        conditional random field with the same features, trained by likelihood (`epochs` iterations of L-BFGS).
    substructures, gamma, approach, beta, step, C : optional
        Replace that part of the rule. β is 0.5 if the rule is given by its name.
    epochs : int
        At most so many passes; training stops earlier after a pass without a mistake.
    average : bool
        Predict with the averaged weights (better, as a rule) instead of the last ones.
    vote : bool
        Predict by the vote of all weight vectors of training, each with as many votes as sentences it survived (the
        voted perceptron): a search for each of them, so slow. Equal votes: the labels of the earliest vector win. With
        `dev`, those up to the best pass vote. Probabilities, k-best labels and explanations are of the weights that
        `average` says. A tagger that votes cannot be saved.
    features : str, list of str, or None
        A preset ("pos", "chunk", "ner") or templates; see `swvp.features.templates`. If there are none, a
        preset is chosen from the labels and columns (`swvp.tagging.defaults`); ready features are taken as they are.
    columns : sequence of str, optional
        Names of the columns of a tuple. By default word, pos, column2, ….
    constraint : str, function, pairs or None
        "bio", "iob1", "iob2", "bioes", or which label may follow which: no prediction breaks it,
        unless no labels at all are allowed for a sentence. "auto", the default: the scheme that labels of names and
        other phrases keep to; for tags and chunks none.
    order : int
        1: features of one label and of two neighbours. 2: also of three.
    decoder : str
        "viterbi", exact search, or "beam", with `width` hypotheses; for many labels in second order.
    fix : str
        With a beam: which prefix of a sentence is updated, "early", "max-violation", "latest", or "none" (all of it).
    minimum_count : int
        Attributes that occur less often in training are left out.
    hashed : int, optional
        Hash attributes into so many numbers instead of numbering each: a bound on memory, some share their weights.
    l2 : float
        For rule "crf" only: the weight of ‖w‖²/2 beside the negative log-likelihood.
    patience : int, optional
        With development data, stop after so many passes without a better score; without them it is ignored.
    random_state : int, RandomState or None
        Decides the order of the sentences in each pass.
    n_jobs : int
        Threads for predicting.

    Attributes
    ----------
    classes_ : the labels, sorted
    chosen_ : the features and the constraint that were chosen, and why
    history_ : list of `Epoch`, what happened in each pass
    hypotheses_ : with `vote`, the weight vectors and how long each survived (`swvp.learning.voting.Hypotheses`)
    dev_scores_ : the score of each pass on the development data
    best_epoch_ : the number of the pass whose weights are used

    Examples
    --------
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["Rex", "barks"], ["cats", "sleep"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["NOUN", "VERB"]]
    >>> tagger = SequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])[0]
    ['DET', 'NOUN', 'VERB']
    """


class DependencyParser(Parser, BaseEstimator):  # type: ignore[misc]
    """A graph-based dependency parser trained by the Structured Weighted Violations Perceptron.

    Its input is a treebank: the text of a CoNLL-U or CoNLL-X file, its path, or a `Treebank`; or sentences, lists of
    tokens, with their trees as y. A token is a word, (word, upos), (word, lemma, upos, xpos, feats) or a dict of these.

    Parameters
    ----------
    rule : str or UpdateRule, optional
        A short name such as "csp" or "a-wm:components:sqrt", or an `UpdateRule`. If there is none it is
        "a-uniform:mira", in second order "a-uniform:components:mira".
    substructures, gamma, approach, beta, step, C : optional
        Replace that part of the rule. β is 0.5 if the rule is given by its name.
    epochs : int
        At most so many passes; training stops earlier after a pass without a mistake.
    average : bool
        Predict with the averaged weights (better, as a rule) instead of the last ones.
    order : 1 or 2
        Features of arcs, or also of siblings next to each other and of grandparents: slower and more accurate.
    features : str or list of str, optional
        A preset ("first-order", "turbo", "light"; "second-order", "turbo-standard") or templates; see
        `swvp.features.arc_templates` and `swvp.features.part_templates`.
    projective : bool
        Only trees without crossing arcs; else all trees.
    one_root : bool, optional
        Exactly one word of a sentence has head 0. If None, as the training trees have it: several words may have head
        0 if more than one in twenty trees have several roots.
    prune : bool
        Look only at arcs of tags and lengths seen in training; others are taken where there is no tree without. In
        second order, a log-linear model trained beforehand leaves each word a few heads of these.
    prune_heads, prune_threshold : int, float or None
        In second order: a word keeps at most so many heads, each at least so many times as probable as its best one; if
        None, 0.003, or 0.0003 for projective trees.
    margin : float, optional
        By how much gold arcs must win in training, 1 by default, for every rule; 0 is the perceptron of the paper, so
        the paper's CSP is ``rule="csp", margin=0``.
    hashed : int or None
        How many weights, a power of 2: features that share one share its weight. None: each has its own.
    labels : bool
        Learn the labels of arcs as well, in a second stage.
    patience : int, optional
        With development data, stop after so many passes without a better score; without them it is ignored.
    random_state : int, RandomState or None
        Decides the order of the sentences in each pass.
    n_jobs : int
        Threads for predicting.

    Attributes
    ----------
    history_, label_history_ : lists of `Epoch`, what happened in each pass of the two stages
    dev_scores_, label_dev_scores_ : the score of each pass on the development data
    best_epoch_ : the number of the pass whose weights are used
    one_root_ : whether trees have exactly one root
    temperature_ : what scores are divided by before they become probabilities; see `fit_temperature`

    Examples
    --------
    >>> X = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")], [("Rex", "PROPN"), ("sleeps", "VERB")]]
    >>> y = [[(2, "det"), (3, "nsubj"), (0, "root")], [(2, "nsubj"), (0, "root")]]
    >>> parser = DependencyParser(random_state=0).fit(X, y)
    >>> print(parser.predict([[("a", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]])[0])
        ╭─ 1 a       DET   det
      ╭─┴─ 2 cat     NOUN  nsubj
    ──┴─── 3 sleeps  VERB  root
    """
