"""Owns `DependencyParser`: a graph-based dependency parser in scikit-learn's manner."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from swvp.parsing.parser import Parser

__all__ = ["DependencyParser"]


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
        `swvp.structures.tree.templates` and `swvp.structures.tree.part_templates`.
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
    margin : float
        By how much gold arcs must win in training; 0 is the perceptron of the paper.
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
