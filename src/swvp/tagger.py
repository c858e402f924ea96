"""Owns `SequenceTagger`: a tagger, chunker or named-entity recogniser in scikit-learn's manner."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from swvp.errors import InputError, unknown_name
from swvp.learning.perceptron import Epoch, generator, passes
from swvp.learning.rule import UpdateRule, as_rule
from swvp.structures.chain.attributes import AttributeChain, AttributeModel, new_model, predict_all
from swvp.structures.chain.encode import Columns, TemplateEncoder
from swvp.structures.chain.templates import PRESETS, parse_templates
from swvp.structures.operations import averaged_weights, weights
from swvp.tagging.constraints import Constraint, barrier, check_allowed
from swvp.tagging.model import load_tagger, save_tagger
from swvp.tagging.probabilities import Confidence, best_temperature, confidences, k_best_labels, marginals
from swvp.tagging.sentences import FeatureEncoder, as_columns, kind_of, lengths

__all__ = ["SequenceTagger"]

Sentences = Sequence[Sequence[Any]]


class SequenceTagger(BaseEstimator):  # type: ignore[misc]
    """A linear-chain tagger trained by the Structured Weighted Violations Perceptron.

    A sentence is a list of tokens: strings, tuples of columns (word, tag, …), or ready features (lists of strings,
    or dicts, as python-crfsuite and sklearn-crfsuite take them).

    Parameters
    ----------
    rule : str or UpdateRule
        A short name such as "csp" or "a-wm:segments:sqrt", or an `UpdateRule`.
    substructures, gamma, approach, beta, step : optional
        Replace that part of the rule.
    epochs : int
        At most so many passes; training stops earlier after a pass without a mistake.
    average : bool
        Predict with the averaged weights (better, as a rule) instead of the last ones.
    features : str, list of str, or None
        A preset ("pos", "chunk", "ner") or templates; see `swvp.structures.chain.templates`. By default "pos" for
        strings, "chunk" for tuples; ready features are taken as they are.
    columns : sequence of str, optional
        Names of the columns of a tuple. By default word, pos, column2, ….
    constraint : str, function or pairs, optional
        "bio", "iob2", "bioes", or which label may follow which: no prediction ever breaks it.
    minimum_count : int
        Attributes that occur less often in training are left out.
    random_state : int, RandomState or None
        Decides the order of the sentences in each pass.
    n_jobs : int
        Threads for predicting.

    Attributes
    ----------
    classes_ : the labels, sorted
    history_ : list of `Epoch`, what happened in each pass

    Examples
    --------
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["Rex", "barks"], ["cats", "sleep"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"], ["NOUN", "VERB"]]
    >>> tagger = SequenceTagger(random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])[0]
    ['DET', 'NOUN', 'VERB']
    """

    def __init__(
        self,
        *,
        rule: str | UpdateRule = "a-wm:segments:sqrt",
        substructures: Any = None,
        gamma: Any = None,
        approach: str | None = None,
        beta: float | None = 0.5,
        step: str | None = None,
        epochs: int = 10,
        average: bool = True,
        features: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        constraint: Constraint | None = None,
        minimum_count: int = 1,
        random_state: Any = None,
        n_jobs: int = 1,
    ):
        self.rule = rule
        self.substructures = substructures
        self.gamma = gamma
        self.approach = approach
        self.beta = beta
        self.step = step
        self.epochs = epochs
        self.average = average
        self.features = features
        self.columns = columns
        self.constraint = constraint
        self.minimum_count = minimum_count
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Sentences, y: Sequence[Sequence[Any]]) -> Self:
        """Learn from sentences and the labels of their tokens."""
        rule = self._rule()
        check_pairs(X, y)
        for name in ("epochs", "minimum_count", "n_jobs"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or int(value) < 1:
                raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
        if not any(len(sentence) for sentence in X):
            raise InputError("no tokens to learn from")
        self.classes_ = sorted({label for labels in y for label in labels})
        number = {label: k for k, label in enumerate(self.classes_)}
        gold = [[number[label] for label in labels] for labels in y]
        self.barrier_ = barrier(self.constraint, self.classes_)
        check_allowed(self.barrier_, self.classes_, gold)

        problem = self._fit_encoder(X)._replace(y=np.array([k for labels in gold for k in labels], np.uint32))
        longest = max(map(len, X))
        model = new_model(self.n_attributes_, len(self.classes_), longest, self.barrier_)
        orders = generator(self.random_state)
        self.history_: list[Epoch] = list(
            passes(problem, model, rule, examples=len(X), epochs=self.epochs, random_state=orders)
        )
        w = averaged_weights(model, len(X) * len(self.history_)) if self.average else weights(model)
        self.coef_ = w[: model.w.size].reshape(model.w.shape)
        self.transitions_ = w[model.w.size :].reshape(model.w_move.shape)
        return self

    def predict(self, X: Sentences) -> NDArray[np.object_]:
        """The labels of each sentence: an array of lists."""
        self._check_fitted()
        problem = self._encode(X)
        out = np.empty(len(problem.starts) - 1, np.uint32)
        parts = np.array_split(np.arange(len(X)), max(1, min(self.n_jobs, len(X))))
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(lambda part: self._predict_part(problem, part, out), parts))
        names = np.array([*self.classes_, None], object)[out].tolist()
        result = np.empty(len(X), object)
        for i, (a, b) in enumerate(zip(problem.offsets, problem.offsets[1:], strict=False)):
            result[i] = names[a:b]
        return result

    def score(self, X: Sentences, y: Sequence[Sequence[Any]]) -> float:
        """The share of tokens labelled right."""
        check_pairs(X, y)
        pairs = zip(y, self.predict(X), strict=True)
        right = [a == b for gold, guess in pairs for a, b in zip(gold, guess, strict=True)]
        return float(np.mean(right)) if right else 1.0

    def predict_k_best(self, X: Sentences, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of each sentence, best first, as (labels, score); fewer if fewer are allowed.

        The first is what `predict` gives. Scores are sums of weights: only their differences mean something.
        """
        self._check_fitted()
        return k_best_labels(self, self._encode(X), k)

    def predict_marginals(self, X: Sentences) -> list[list[dict[Any, float]]]:
        """For each token the probability of each label, as sklearn-crfsuite gives it; read `confidence` first."""
        self._check_fitted()
        return marginals(self, self._encode(X))

    def confidence(self, X: Sentences) -> list[Confidence]:
        """For each sentence: `labels`, what `predict` gives; `tokens`, their marginals; `sequence`, that of them all.

        These are not probabilities that the perceptron has learnt. They are exp(score / temperature_), divided by the
        sum over all allowed label sequences. Without `fit_temperature` the temperature is 1 and the scale of the
        scores arbitrary, so the numbers only order the tokens of a sentence, more or less; most are far too near to
        1. After `fit_temperature` on held-out data they are right on average for data of that kind, which does not
        make each of them right.
        """
        self._check_fitted()
        return confidences(self, self._encode(X))

    def fit_temperature(self, X: Sentences, y: Sequence[Sequence[Any]], *, of: str = "tokens") -> Self:
        """Set `temperature_` to what makes the gold labels of held-out data most probable; changes no prediction.

        The data must not be those of `fit`: on these the tagger is right more often than elsewhere. `of` says whose
        log-likelihood is made largest, that of "tokens" (their marginals) or of whole "sequences".
        """
        self._check_fitted()
        check_pairs(X, y)
        self.temperature_ = best_temperature(self, self._encode(X), y, of)
        return self

    @property
    def temperature_(self) -> float:
        """What scores are divided by before they become probabilities: 1 unless fitted for the weights it has now."""
        temperature, weights = self.__dict__.get("_temperature", (1.0, None))
        return float(temperature) if weights is getattr(self, "coef_", None) else 1.0

    @temperature_.setter
    def temperature_(self, value: float) -> None:
        self._temperature = (value, self.coef_)

    def save(self, path: str | Path) -> None:
        """Write the fitted tagger to one file, whole or not at all. It holds no code, so no function of a user's."""
        self._check_fitted()
        save_tagger(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a tagger that `save` wrote; safe with files from anyone."""
        return load_tagger(Path(path), cls)  # type: ignore[no-any-return]

    def _rule(self) -> UpdateRule:
        names = ("substructures", "gamma", "approach", "beta", "step")
        return as_rule(self.rule, **{name: getattr(self, name) for name in names if getattr(self, name) is not None})

    def _fit_encoder(self, X: Sentences) -> AttributeChain:
        """Number the attributes of X, and give X by them."""
        self.kind_ = kind_of(X)
        self.encoder_: TemplateEncoder | FeatureEncoder
        if self.kind_ == "features":
            if self.features is not None:
                raise InputError("X holds ready features: leave out the parameter features, or give tokens")
            self.encoder_ = FeatureEncoder()
            self.encoder_.fit(X, self.minimum_count)
            self.n_attributes_ = len(self.encoder_.numbers)
            return self._encode(X)
        width = 1 if self.kind_ == "words" else next(len(token) for sentence in X for token in sentence)
        default = ["word", "pos", *(f"column{k}" for k in range(2, width))][:width]
        self.columns_ = list(default if self.columns is None else self.columns)
        if len(self.columns_) != width:
            raise InputError(f"columns names {len(self.columns_)} columns, the tokens have {width}")
        given = self.features or ("pos" if width == 1 else "chunk")
        if isinstance(given, str):
            if given not in PRESETS:
                raise unknown_name("features", given, PRESETS)
            given = PRESETS[given]
        self.encoder_ = TemplateEncoder(parse_templates(given, self.columns_))
        columns = as_columns(X, self.columns_)
        self.encoder_.fit(columns, self.minimum_count)
        self.n_attributes_ = len(self.encoder_.keys)
        return self._encode(X, columns)

    def _encode(self, X: Sentences, columns: Columns | None = None) -> AttributeChain:
        if any(len(sentence) for sentence in X) and kind_of(X) != self.kind_:
            raise InputError(f"the tagger was trained on {self.kind_}, these are {kind_of(X)}")
        none = np.zeros(0, np.uint32)
        if isinstance(self.encoder_, FeatureEncoder):
            attributes, values, starts = self.encoder_.encode(X)
            return AttributeChain(attributes, values, starts, none, lengths(X))
        columns = as_columns(X, self.columns_) if columns is None else columns
        attributes, starts = self.encoder_.encode(columns)
        return AttributeChain(attributes, np.zeros(0), starts, none, columns.offsets)

    def _predict_part(self, problem: AttributeChain, part: NDArray[np.int64], out: NDArray[np.uint32]) -> None:
        if not len(part):
            return
        offsets = problem.offsets[part[0] : part[-1] + 2]
        room = int(np.diff(offsets).max())
        model: AttributeModel = new_model(0, len(self.classes_), room)
        model = model._replace(w=self.coef_, w_move=self.transitions_, moves=self.transitions_ + self.barrier_)
        predict_all(problem._replace(offsets=offsets), model, out)

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise NotFittedError("this SequenceTagger is not fitted: call fit(X, y) first")


def check_pairs(X: Sentences, y: Sequence[Sequence[Any]]) -> None:
    """X and y must have the same lengths, sentence by sentence."""
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sentences and y has {len(y)}: give as many")
    for i, (sentence, labels) in enumerate(zip(X, y, strict=True)):
        if len(sentence) != len(labels):
            raise InputError(f"sentence {i} has {len(sentence)} tokens and {len(labels)} labels")
