"""Owns `SequenceTagger`: a tagger, chunker or named-entity recogniser in scikit-learn's manner."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from swvp.tagging.tagger import Tagger

__all__ = ["SequenceTagger"]


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
        A preset ("pos", "chunk", "ner") or templates; see `swvp.structures.chain.templates`. If there are none, a
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
