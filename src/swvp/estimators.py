"""The estimators, in scikit-learn's manner: a tagger, a parser, and a learner for structures defined in Python."""

from __future__ import annotations

import inspect
import numbers
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, counted
from swvp.learning.perceptron import Epoch, generator, run_epochs
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.voting import Hypotheses, Recorder, changes_of, vote
from swvp.parsing.parser import Parser
from swvp.structures.generic import Label, Problem, PythonModel, PythonProblem, predict, varies
from swvp.structures.operations import averaged_weights, weights
from swvp.tagging.tagger import Tagger
from swvp.tracing.trace import PythonTracing
from swvp.training.options import not_fitted, power_of

__all__ = ["DependencyParser", "Estimator", "SequenceTagger", "StructuredPerceptron"]


class Estimator:
    """What scikit-learn expects of an estimator, without its `BaseEstimator`.

    Importing that takes twice as long as everything else, and 100 MB; swvp works without scikit-learn.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor by name, with `deep` also those of estimators among them."""
        params: dict[str, Any] = {}
        for name in defaults_of(type(self)):
            params[name] = value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set arguments of the constructor, those of an estimator among them as ``estimator__argument``."""
        known = defaults_of(type(self))
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in known:
                raise InputError(f"Invalid parameter {name!r} for {self}. Valid parameters are: {list(known)!r}.")
            if rest:
                getattr(self, name).set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name, default)!r}"
            for name, default in defaults_of(type(self)).items()
            if repr(getattr(self, name, default)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    def __getattr__(self, name: str) -> Any:
        """The other attributes of scikit-learn's estimators; unless it is imported, only those that users call."""
        wanted = "sklearn.base" in sys.modules or FOR_USERS.fullmatch(name)
        if wanted and not name.startswith("__") and (name.startswith("_") or not name.endswith("_")):
            cls: Any = type(self)
            like = inherited(cls)
            attribute: Any = inspect.getattr_static(like, name, MISSING)
            if attribute is not MISSING:
                return attribute.__get__(self, like) if hasattr(attribute, "__get__") else attribute
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


MISSING = object()
FOR_USERS = re.compile(r"set_\w+_request|get_metadata_routing")


def defaults_of(cls: type) -> dict[str, Any]:
    """The arguments of a constructor in alphabetical order, with their default values."""
    parameters = inspect.signature(cls).parameters
    return {name: parameters[name].default for name in sorted(parameters)}


@cache
def inherited(cls: type) -> Any:
    """The class as it would be if it inherited from scikit-learn's; without scikit-learn, as it is."""
    try:
        from sklearn.base import BaseEstimator
    except ImportError:
        return cls
    return type(cls.__name__, (cls, BaseEstimator), {})


class StructuredPerceptron(PythonTracing, Estimator):
    """The Structured Weighted Violations Perceptron for structures defined in Python.

    Parameters
    ----------
    problem : object
        An object with the methods ``argmax(x, w)``, which returns the best output of an input under the weights w, and
        ``joint_feature(x, y)``, which returns the feature vector φ(x, y). An output (also called label) is a sequence.
    rule : str or UpdateRule, default "a-wm"
        The update rule: a short name such as "csp" or "a-wm:segments", or an `UpdateRule`.
    beta : float, optional
        β of the rule. By default that of the rule.
    epochs : int, default 10
        The largest number of epochs. Training stops earlier, after an epoch without a mistake.
    average : bool, default True
        Whether to predict with the averaged weights or with the last ones. Both are attributes.
    average_power : float, optional
        How much more later weights count in the average: the weights after example t count in proportion to
        t^(average_power - 1). By default 3 for rules with the step "ada", else 1, the mean of all.
    vote : bool, default False
        Whether to predict by the vote of all weight vectors of the training (the voted perceptron). A vector has as
        many votes as examples it survived. Each of them needs its own `argmax`. If votes are equal, the label of the
        earliest vector wins.
    shuffle : bool, default True
        Whether to put the examples in a new random order in every epoch.
    random_state : int, RandomState, Generator or None, default None
        Seed of these orders. With an int, results are reproducible.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights used to predict.
    last_coef_ : ndarray of shape (n_features,)
        The weights after the last update.
    averaged_coef_ : ndarray of shape (n_features,)
        The mean of the weights over all examples seen.
    hypotheses_ : Hypotheses or None
        With `vote`, the weight vectors of the training and the number of examples that each survived.
    history_ : list of Epoch
        The counts of each epoch: mistakes, updates, back-offs and more.
    converged_ : bool
        Whether the last epoch made no mistake.

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
        average_power: float | None = None,
        vote: bool = False,
        shuffle: bool = True,
        random_state: Any = None,
    ):
        self.problem = problem
        self.rule = rule
        self.beta = beta
        self.epochs = epochs
        self.average = average
        self.average_power = average_power
        self.vote = vote
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Sequence[Any], y: Sequence[Label], *, initial: NDArray[np.float64] | None = None) -> Self:
        """Learn from inputs and their labels.

        Parameters
        ----------
        X : sequence
            The inputs.
        y : sequence
            Their labels; each is a sequence.
        initial : ndarray of shape (n_features,), optional
            The weights to start from. By default 0.

        Returns
        -------
        self
        """
        problem, model, rule, power = self._start(X, y, initial)
        orders = generator(self.random_state) if self.shuffle else None
        recorder = Recorder(model.w.copy(), changes_of(model)) if self.vote else None
        after = None if recorder is None else recorder.after
        self.history_: list[Epoch] = list(
            run_epochs(
                problem,
                model,
                rule,
                examples=len(X),
                epochs=self.epochs,
                random_state=orders,
                power=power,
                after=after,
            )
        )
        self.hypotheses_: Hypotheses | None = None if recorder is None else recorder.hypotheses()
        self.last_coef_ = weights(model)
        self.averaged_coef_ = averaged_weights(model, float(len(X) * len(self.history_)) ** power)
        self.converged_ = self.history_[-1].mistakes == 0
        self.coef_: NDArray[np.float64] = self.averaged_coef_ if self.average else self.last_coef_
        return self

    def _start(
        self, X: Sequence[Any], y: Sequence[Label], initial: NDArray[np.float64] | None
    ) -> tuple[PythonProblem, PythonModel, UpdateRule, float]:
        """Check the arguments of `fit`; return the problem, the first weights, the rule and the power of averaging."""
        for method in ("argmax", "joint_feature"):
            if isinstance(self.problem, type):
                raise InputError(
                    f"problem is the class {self.problem.__name__}: give an object, {self.problem.__name__}()"
                )
            if not callable(getattr(self.problem, method, None)):
                raise InputError(f"problem {type(self.problem).__name__} has no method '{method}'")
        if len(X) != len(y):
            raise InputError(f"X has {len(X)} examples and y has {len(y)}: give the same number of both")
        if len(X) == 0:
            raise InputError("no training examples")
        if not (isinstance(self.epochs, numbers.Integral) and self.epochs >= 1):
            raise InputError(f"epochs must be a whole number of at least 1, not {self.epochs}")
        rule = as_rule(self.rule) if self.beta is None else as_rule(self.rule, beta=self.beta)
        power = power_of(self.average_power, rule)
        problem = PythonProblem(self.problem, X, y)
        size = len(problem.phi(0, y[0]))
        model = PythonModel(np.zeros(size) if initial is None else initial)
        if not np.isfinite(model.w).all():
            raise InputError("initial holds NaN or infinite weights")
        if model.w.shape != (size,):
            raise InputError(f"initial has the shape {model.w.shape}, joint_feature returns {size} values")
        return problem, model, rule, power

    def predict(self, X: Sequence[Any]) -> list[Label]:
        """Return the label of each input."""
        if not hasattr(self, "coef_"):
            raise not_fitted("StructuredPerceptron")
        if self.vote:
            if self.hypotheses_ is None:
                raise InputError("this StructuredPerceptron was fitted without vote: fit it again")
            return vote(self.problem, X, self.hypotheses_)
        return [predict(self.problem, x, self.coef_, None, f"input {i}") for i, x in enumerate(X)]

    def score(self, X: Sequence[Any], y: Sequence[Label]) -> float:
        """Return the share of positions that are predicted right."""
        if len(X) != len(y):
            raise InputError(f"X has {len(X)} examples and y has {len(y)}: give the same number of both")
        right = []
        for i, (gold, guess) in enumerate(zip(y, self.predict(X), strict=True)):
            if len(gold) != len(guess) and not varies(self.problem):
                raise InputError(
                    f"argmax returned an output with {counted(len(guess), 'position')} for X[{i}], not {len(gold)}"
                )
            right += [a == b for a, b in zip(gold, guess, strict=False)] + [False] * abs(len(gold) - len(guess))
        return float(np.mean(right)) if right else 1.0


class SequenceTagger(Tagger, Estimator):
    """A linear-chain tagger, trained by softmax-margin, the Structured Weighted Violations Perceptron or other rules.

    A sentence is a list of tokens. A token is a string, a tuple of columns (word, tag, …), or a list or dict of ready
    features, as in python-crfsuite and sklearn-crfsuite.

    Parameters
    ----------
    rule : str or UpdateRule, optional
        The update rule: a short name such as "csp" or "a-wm", or an `UpdateRule`. By default "softmax";
        with a beam, or if parts of a rule are given, "a-wm:segments:sqrt". "crf" is no perceptron: it trains a
        conditional random field with the same features, by likelihood. Its epochs are iterations of L-BFGS.
    substructures : str, optional
        Replaces the sub-structures JJ of the rule.
    gamma : str or function, optional
        Replaces the γ of the rule.
    approach : str, optional
        Replaces the approach of the rule: "aggressive" or "balanced".
    beta : float, optional
        β of γ. By default 0.5 for a rule that is given by name, else that of the `UpdateRule`.
    step : str, optional
        Replaces the step of the rule: "unit", "sqrt", "count", "mira" or "ada".
    C : float, optional
        The longest step of the step "mira", or the learning rate of the step "ada". By default 1, for the rule
        "softmax" 0.3.
    epochs : int, default 10
        The largest number of epochs. Training stops earlier, after an epoch without a mistake.
    average : bool, default True
        Whether to predict with the averaged weights or with the last ones. Averaged weights are usually better.
    average_power : float, optional
        How much more later weights count in the average: the weights after example t count in proportion to
        t^(average_power - 1). By default 3 for rules with the step "ada", else 1, the mean of all.
    margin : float, optional
        The score by which the gold labels must win in training, for each label that differs. By default 5 for the rule
        "softmax", 8 for other rules with the step "ada", else 0, as in the paper.
    cost : dict, optional
        Factors of the margin, to make some mistakes more expensive than others: for a gold label, as ``{"B-PER": 2}``,
        or for a pair (gold, predicted), as ``{("O", "B-PER"): 0.5}``. By default 1. It needs a margin, and model files
        do not store it.
    vote : bool, default False
        Whether to predict by the vote of all weight vectors of the training (the voted perceptron). A vector has as
        many votes as sentences it survived. It is slow: each vector needs its own search. If votes are equal, the
        labels of the earliest vector win. With a dev set, the vectors up to the best epoch vote. Probabilities, k-best
        labels and explanations do not vote: they use the weights that `average` selects. Such a tagger cannot be saved.
    features : str or list of str, optional
        A preset ("pos", "chunk", "ner") or templates; `swvp.features` describes them. By default a preset is chosen
        from the labels and columns. Must be None if tokens are ready features.
    columns : sequence of str, optional
        The names of the columns of a tuple. By default word, pos, column2, ….
    constraint : str, function, collection of pairs or None, default "auto"
        Which label may follow which. The name of a scheme ("iob1", "iob2" or "bio", "bioes"), a function
        ``allowed(previous, label)``, or the allowed pairs; None is the boundary of a sentence. No prediction breaks it,
        unless it allows no label sequence at all for a sentence. "auto" is the scheme of the training labels if they
        are names or phrases of other types, and no constraint for tags and chunks.
    order : int, default 1
        1: features of one label and of two adjacent labels. 2: also of three.
    decoder : str, default "viterbi"
        The search: "viterbi" is exact; "beam" is a beam search, which is faster in second order with many labels.
    width : int, default 8
        The number of hypotheses of a beam.
    fix : str, default "max-violation"
        With a beam, the prefix of a sentence to update on: "early", "max-violation", "latest", or "none" (all of it).
    minimum_count : int, default 1
        Attributes that occur less often in the training data are dropped.
    hashed : int, optional
        The hash size: attributes are hashed to this number of values, and those with the same value share their
        weights. It bounds the memory. By default attributes are not hashed.
    clusters : int or dict, optional
        Word clusters, for the template function ``cluster``. A number: learn so many clusters from the training data. A
        dict: the clusters that `swvp.features.learn_clusters` returned. If no template uses clusters, templates of the
        clusters of the word and its neighbours are added. A model file stores the clusters; after `load`, this option
        is None if it was a dict.
    candidates : int, optional
        How many labels of a token are looked at: those with the best scores by its attributes. Then an attribute has
        weights only for the labels that it occurs with in training, and `coef_` is a sparse matrix. 0: all labels, with
        a weight for each pair. By default 0 for up to 100 labels, else 8.
    l2 : float, default 1.0
        With rule "crf", the strength of L2 regularisation: the factor of ‖w‖²/2 in the objective.
    patience : int, optional
        With a dev set, training stops after this number of epochs without a better score. Ignored without a dev set.
    random_state : int, RandomState, Generator or None, default None
        Seed of the order of the sentences in each epoch. With an int, results are reproducible.
    n_jobs : int, default 1
        The number of threads for prediction and, with rule "crf", for training. It changes no result.

    Attributes
    ----------
    classes_ : list
        The labels, sorted.
    coef_ : ndarray or csr_array of shape (n_attributes, n_labels)
        The weights of attributes.
    candidates_ : int
        How many labels of a token are looked at; 0 if all are.
    transitions_ : ndarray of shape (n_labels + 1, n_labels + 1)
        The weights of adjacent labels; the last index is the boundary of a sentence.
    state_features_ : dict
        The weights of attributes that are not 0: {(attribute, label): weight}.
    transition_features_ : dict
        The weights of adjacent labels that are not 0: {(label, next label): weight}.
    chosen_ : Choice
        The features and the constraint that were chosen, and why.
    history_ : list of Epoch
        The counts of each epoch: mistakes, updates, back-offs and more.
    dev_scores_ : list of float
        The dev score of each epoch.
    best_epoch_ : int
        The number of the epoch whose weights are used, from 1.
    hypotheses_ : Hypotheses or None
        With `vote`, the weight vectors of the training and the number of sentences that each survived.
    temperature_ : float
        The divisor of scores in probabilities; see `fit_temperature`.

    Examples
    --------
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["Rex", "barks"], ["cats", "sleep"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["NOUN", "VERB"]]
    >>> tagger = SequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])[0]
    ['DET', 'NOUN', 'VERB']
    """


class DependencyParser(Parser, Estimator):
    """A graph-based dependency parser trained by the Structured Weighted Violations Perceptron.

    Its input is a treebank: the text of a CoNLL-U or CoNLL-X file, its path, or a `Treebank`. Or it is a list of
    sentences, with their trees as y. A token is a word, (word, upos), (word, lemma, upos, xpos, feats) or a dict of
    these.

    Parameters
    ----------
    rule : str or UpdateRule, optional
        The update rule: a short name such as "csp" or "a-wm:components:sqrt", or an `UpdateRule`. By default
        "a-uniform:mira", in second order "a-uniform:components:mira".
    substructures : str, optional
        Replaces the sub-structures JJ of the rule.
    gamma : str or function, optional
        Replaces the γ of the rule.
    approach : str, optional
        Replaces the approach of the rule: "aggressive" or "balanced".
    beta : float, optional
        β of γ. By default 0.5 for a rule that is given by name, else that of the `UpdateRule`.
    step : str, optional
        Replaces the step of the rule: "unit", "sqrt", "count", "mira" or "ada".
    C : float, optional
        The longest step of the step "mira", or the learning rate of the step "ada". By default 1.
    epochs : int, default 10
        The largest number of epochs of each stage. Training stops earlier, after an epoch without a mistake.
    average : bool, default True
        Whether to predict with the averaged weights or with the last ones. Averaged weights are usually better.
    average_power : float, optional
        How much more later weights count in the average: the weights after example t count in proportion to
        t^(average_power - 1). By default 3 for rules with the step "ada", else 1, the mean of all.
    order : int, default 1
        1: features of arcs. 2: also of adjacent siblings and of grandparents, which is slower and more accurate.
    features : str or list of str, optional
        A preset ("first-order", "turbo", "light"; in second order also "second-order", "turbo-standard") or templates;
        `swvp.features` describes them. By default "first-order" or "second-order".
    projective : bool, optional
        Whether to predict only trees without crossing arcs. By default True in first order if at most 15 % of the
        training trees have crossing arcs, else False.
    one_root : bool, optional
        Whether exactly one word of a sentence has head 0 in predicted trees. By default the training trees decide:
        several words may have head 0 if more than one in twenty trees have several roots.
    prune : bool, default True
        Whether to consider only arcs with tags and lengths seen in training; other arcs are used only if there is no
        tree without them. In second order, a log-linear model, trained beforehand, then keeps a few heads of each word.
    prune_heads : int, default 16
        In second order, the largest number of heads to consider for a word.
    prune_threshold : float, optional
        In second order, the least probability of a head, relative to that of the best head. By default
        0.003, for projective trees 0.0003.
    margin : float, optional
        The score by which gold arcs must win in training, with every rule. By default 1. The paper has no margin: its
        CSP is ``rule="csp", margin=0``.
    hashed : int or None, default 2**22
        The hash size: the number of weights, a power of 2. Features with the same hash share a weight. None: each
        feature has its own weight.
    labels : bool, default True
        Whether to learn the labels of arcs too, in a second stage.
    ensemble : int, default 1
        The number of parsers to train, with different seeds. They vote for heads and for labels. N parsers take N times
        as long and are a little more accurate. The attributes below are those of the first parser.
    batch_size : int, default 1
        The number of sentences that are parsed with the same weights in training, in `n_jobs` threads, before each of
        them makes its update. 1 is the paper's algorithm. It holds for trees, not for their labels.
    patience : int, optional
        With a dev set, training stops after this number of epochs without a better score. Ignored without a dev set.
    random_state : int, RandomState, Generator or None, default None
        Seed of the order of the sentences in each epoch. With an int, results are reproducible.
    n_jobs : int, default 1
        The number of threads for prediction and, with `batch_size`, for training. It changes no result.

    Attributes
    ----------
    coef_ : ndarray of shape (n_weights,)
        The weights of features.
    history_ : list of Epoch
        The counts of each epoch over the trees: mistakes, updates, back-offs and more.
    label_history_ : list of Epoch
        The same for the labels.
    dev_scores_ : list of float
        The dev score (UAS) of each epoch over the trees.
    label_dev_scores_ : list of float
        The dev score of each epoch over the labels: the share of right labels on gold trees.
    best_epoch_ : int
        The number of the epoch whose weights are used, from 1.
    projective_ : bool
        Whether predicted trees have no crossing arcs.
    one_root_ : bool
        Whether trees have exactly one root.
    temperature_ : float
        The divisor of scores in probabilities; see `fit_temperature`.

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
