"""Multiword tokens: which tokens stand for several words, and for which ones, as in Italian della: di la.

A form that training has often, always with the same words, has these. For every other token the candidates are: one
word; the words that the form was seen with; and what the edit trees of multiword tokens make of it that begin or end
alike. A linear model ranks them. It sees the beginning and the end of the form, its neighbours, and which of the words
are known. So it divides forms that are not in training, and decides where a form is ambiguous.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp.io.model_files import Memory, require, strings
from swvp.io.table import Table
from swvp.learning.perceptron import generator, run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.operations import averaged_weights
from swvp.structures.ranking import Ranking, new_ranking_model, rank_all
from swvp.text.edit_trees import EditTree, apply, as_json, from_json, tree_of
from swvp.text.lemma_features import hashed
from swvp.text.multiword_places import (
    Place,
    Words,
    affixes,
    contexts_of,
    feats_in,
    is_feats,
    place_of,
    places_in,
    with_case_of,
)
from swvp.training.options import power_of
from swvp.types import Singles

__all__ = ["Expander"]

SEPARATOR = "\t"
"""Between the words of a token, in edit trees."""
PER_AFFIX, MOST, LEAST_SHARE = 4, 12, 0.03
"""How many edit trees are tried for one beginning or end of a form, how many candidates a form has at most, and the
least share of multiword tokens among the forms with this beginning or end."""
FREQUENT = 5
"""Forms that occur so often, always with the same words, are not ranked."""
PLACES = 2**16
EPOCHS, MARGIN, RULE = 6, 2.0, "softmax"
WIDE, NARROW = 2, 3
"""How many keys of a candidate are paired with all contexts; how many contexts, with all keys."""

MOST_CACHED = 2**17
"""For how many forms the candidates are kept."""


class Seen(NamedTuple):
    """How often a form of training had certain words, and the number of the tree that makes them, -1 for one word."""

    tokens: int
    tree: int


class Options(NamedTuple):
    """What a form may stand for, and the numbers of the keys of each candidate, if there are several."""

    words: list[Words]
    keys: list[list[int]]


class Expander:
    """Expands multiword tokens.

    Parameters
    ----------
    seen : mapping of str to mapping of tuple of str to Seen
        The words that each form of training had.
    trees : list of EditTree
        How multiword tokens of training become their words.
    weights : ndarray of float32
        The weights of the model that ranks candidates.
    feats : mapping of str to str, optional
        The FEATS of those forms whose ranges had any, such as Typo=Yes.
    """

    def __init__(
        self,
        seen: Mapping[str, Mapping[Words, Seen]],
        trees: Sequence[EditTree],
        weights: Singles,
        feats: Mapping[str, str] | None = None,
    ):
        self.seen = {form: dict(counts) for form, counts in seen.items()}
        self.trees, self.weights = list(trees), weights
        self.feats = dict(feats or {})
        self._w = weights.astype(np.float64)
        self._cache: dict[str, Options] = {}
        self._index_trees()
        self._forms_with: Counter[str] = Counter()
        for expansions in self.seen.values():
            self._forms_with.update({word for words in expansions for word in words})

    def _index_trees(self) -> None:
        """Find the most frequent trees of each beginning and end of multiword tokens."""
        counts: dict[str, Counter[int]] = defaultdict(Counter)
        for form, expansions in self.seen.items():
            for seen in expansions.values():
                if seen.tree >= 0:
                    for affix in affixes(form):
                        counts[affix][seen.tree] += 1
        forms = Counter(affix for form in self.seen for affix in affixes(form) if affix in counts)
        self._of_affix: dict[str, list[int]] = {}
        for affix, trees in counts.items():
            if trees.total() >= LEAST_SHARE * forms[affix]:
                self._of_affix[affix] = sorted(trees, key=lambda tree: (-trees[tree], tree))[:PER_AFFIX]

    def __len__(self) -> int:
        return len(self.trees)

    def expand_all(self, forms: Sequence[str], sentence_offsets: Iterable[int]) -> list[Words | None]:
        """Return the words of each multiword token among the tokens of sentences, None for tokens of one word.

        Parameters
        ----------
        forms : list of str
        sentence_offsets : iterable of int
            The number of the first token of each sentence, and the number of tokens.
        """
        result: list[Words | None] = [None] * len(forms)
        if not self.trees:
            return result
        certain = {form: self._certain(form) for form in dict.fromkeys(forms)}
        open_places = []
        bounds = set(sentence_offsets)
        for number, form in enumerate(forms):
            words = certain[form]
            if words is None:
                open_places.append(number)
            elif len(words) > 1:
                result[number] = words
        if open_places:
            places = [place_of(forms, number, bounds) for number in open_places]
            for number, words in zip(open_places, self._ranked(places), strict=True):
                result[number] = words if len(words) > 1 else None
        return result

    def expand(self, form: str) -> Words | None:
        """Return the words of a multiword token that stands alone; None if the form is one word."""
        return self.expand_all([form], [0, 1])[0]

    def _certain(self, form: str) -> Words | None:
        """Return the words of a form that needs no model, None if it does."""
        counts = self.seen.get(form)
        if counts is not None and len(counts) == 1:
            words, seen = next(iter(counts.items()))
            if seen.tokens >= FREQUENT:
                return words
        return None if len(self._options(form).words) > 1 else (form,)

    def _options(self, form: str) -> Options:
        """Return the candidates of a form outside of training, from the cache if they are there."""
        options = self._cache.get(form)
        if options is None:
            if len(self._cache) >= MOST_CACHED:
                self._cache.clear()
            options = self._cache[form] = self._new_options(form, training=False)
        return options

    def _new_options(self, form: str, *, training: bool) -> Options:
        found = self._candidates(form)
        named = [self._keys(form, words, tree, training) for words, tree in found.items()] if len(found) > 1 else []
        return Options(list(found), [hashed(keys) for keys in named])

    def _candidates(self, form: str) -> dict[Words, int]:
        """Return what a form may stand for, each with the number of its tree, -1 for one word."""
        found: dict[Words, int] = {(form,): -1}
        for known in (form, form.lower()):
            for words, seen in self.seen.get(known, {}).items():
                if seen.tree >= 0:
                    found.setdefault(words if known == form else with_case_of(form, words), seen.tree)
        for affix in affixes(form):
            for tree in self._of_affix.get(affix, ()):
                if len(found) >= MOST:
                    return found
                joined = apply(self.trees[tree], form)
                words = tuple(joined.split(SEPARATOR)) if joined else ()
                if len(words) > 1 and all(words):
                    found.setdefault(words, tree)
        return found

    # ---------------------------------------------------------------- ranking

    def _ranked(self, places: Sequence[Place]) -> list[Words]:
        problem, candidates = self._ranking(places, training=False)
        scores = np.empty(int(problem.offsets[-1]))
        rank_all(problem, self._w, scores)
        return [
            found[int(scores[start : start + len(found)].argmax())]
            for found, start in zip(candidates, problem.offsets.tolist(), strict=False)
        ]

    def _ranking(self, places: Iterable[Place], *, training: bool) -> tuple[Ranking, list[list[Words]]]:
        """Return tokens and their candidates as arrays, and the candidates; in training as if a form were unknown."""
        contexts: list[int] = []
        context_starts, keys, key_starts, offsets = [0], list[int](), [0], [0]
        candidates = []
        of_form: dict[str, Options] = {}
        for place in places:
            if place.form not in of_form:
                made = self._new_options(place.form, training=True) if training else self._options(place.form)
                of_form[place.form] = made
            words, numbers = of_form[place.form]
            contexts += hashed(contexts_of(place))
            context_starts.append(len(contexts))
            for each in numbers:
                keys += each
                key_starts.append(len(keys))
            offsets.append(offsets[-1] + len(words))
            candidates.append(words)
        problem = Ranking(
            contexts=np.array(contexts, np.int32),
            context_starts=np.array(context_starts, np.int64),
            keys=np.array(keys, np.int32),
            key_starts=np.array(key_starts, np.int64),
            offsets=np.array(offsets, np.int64),
            gold=np.zeros(0, np.int64),
            wide=WIDE,
            narrow=NARROW,
            margin=0.0,
        )
        return problem, candidates

    def _keys(self, form: str, words: Words, tree: int, training: bool) -> list[str]:
        """Return what is known about a candidate: WIDE names that are paired with all contexts, then others."""
        kind = str(self.trees[tree]) if tree >= 0 else "one word"
        own = self.seen.get(form, {})
        inside = {word for expansion in own for word in expansion} if training else set()
        known = "".join(str(min(self._forms_with[word] - (word in inside), 2)) for word in words)
        count, total = own[words].tokens if words in own else 0, sum(seen.tokens for seen in own.values())
        # in training, forms that occur once are taken as unknown, as most unknown forms will be
        rare = training and total == 1
        share = "unknown" if rare or not total else f"{round(4 * count / total)}/4 of {min(total, 3)}"
        return [
            f"t={kind}",
            f"n={len(words)}",
            f"known={known}",
            f"seen={share}",
            f"first={words[0].lower() if len(words) > 1 else ''}",
            f"last={words[-1].lower() if len(words) > 1 else ''}",
        ]

    # ---------------------------------------------------------------- training

    @classmethod
    def train(cls, table: Table, *, random_state: Any = 0) -> Self:
        """Learn from a file in CoNLL-U.

        Parameters
        ----------
        table : Table
            From `swvp.io.read_table`.
        random_state : seed

        Returns
        -------
        Expander
        """
        examples = list(places_in(table))
        trees: dict[EditTree, int] = {}
        seen: dict[str, dict[Words, Seen]] = {}
        for (form, words), count in Counter((place.form, words) for place, words in examples).items():
            several = len(words) > 1
            tree = trees.setdefault(tree_of(form, SEPARATOR.join(words)), len(trees)) if several else -1
            seen.setdefault(form, {})[words] = Seen(count, tree)
        if not trees:
            return cls({}, [], np.zeros(2, np.float32))
        expander = cls(seen, list(trees), np.zeros(PLACES, np.float32))
        ambiguous = {form for form in seen if len(expander._candidates(form)) > 1}
        learnt = [(place, words) for place, words in examples if place.form in ambiguous]
        problem, candidates = expander._ranking([place for place, _ in learnt], training=True)
        gold = [found.index(words) for found, (_, words) in zip(candidates, learnt, strict=True)]
        weights = learn(problem._replace(gold=np.array(gold, np.int64), margin=MARGIN), random_state)
        return cls(seen, list(trees), weights, feats_in(table))

    # ---------------------------------------------------------------- files

    def contents(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the description and the arrays, for a model file."""
        rows = [(form, words, seen) for form, expansions in self.seen.items() for words, seen in expansions.items()]
        meta = {
            "forms": [form for form, _, _ in rows],
            "words": ["" if seen.tree < 0 else SEPARATOR.join(words) for _, words, seen in rows],
            "trees": [as_json(tree) for tree in self.trees],
            "feats": [list(pair) for pair in self.feats.items()],
        }
        counts = np.array([seen for _, _, seen in rows], np.int32).reshape(-1, 2)
        return meta, {"counts": counts, "weights": self.weights}

    @staticmethod
    def array_names(meta: dict[str, Any]) -> set[str]:
        """Return the names of the arrays of an expander."""
        return {"counts", "weights"}

    @classmethod
    def from_contents(cls, given: dict[str, Any], arrays: Mapping[str, NDArray[Any]], memory: Memory) -> Self:
        """Return the expander of a model file; raise InputError if its parts do not fit together."""
        forms, joined = strings(given["forms"]), strings(given["words"])
        counts, weights = arrays["counts"], arrays["weights"]
        require(isinstance(given["trees"], list), "edit trees")
        require(
            len(forms) == len(joined) and counts.shape == (len(forms), 2) and counts.dtype.kind == "i", "expansions"
        )
        require(weights.dtype == np.float32 and weights.ndim == 1 and bool(np.isfinite(weights).all()), "weights")
        require(1 < len(weights) <= 2**24 and len(weights) & (len(weights) - 1) == 0, "weights of expansions")
        trees = [from_json(tree) for tree in given["trees"]]
        seen: dict[str, dict[Words, Seen]] = {}
        for form, words, (count, tree) in zip(forms, joined, counts.tolist(), strict=True):
            split = tuple(words.split(SEPARATOR)) if words else (form,)
            require(bool(form) and all(split) and count > 0 and -1 <= tree < len(trees), "expansions")
            require((len(split) > 1) == (tree >= 0), "expansions")
            seen.setdefault(form, {})[split] = Seen(count, tree)
        pairs = [strings(pair) for pair in given.get("feats", [])]
        require(all(len(pair) == 2 and is_feats(pair[1]) for pair in pairs), "FEATS of multiword tokens")
        return cls(seen, trees, weights, dict(pairs))


def learn(problem: Ranking, random_state: Any) -> Singles:
    """Return the averaged weights of a training on all examples of a ranking."""
    rule = as_rule(RULE)
    power = power_of(None, rule)
    examples = len(problem.gold)
    model = new_ranking_model(PLACES, int(np.diff(problem.offsets).max(initial=1)))
    clock = 0
    for epoch in run_epochs(
        problem, model, rule, examples=examples, epochs=EPOCHS, random_state=generator(random_state), power=power
    ):
        clock += epoch.examples
    return averaged_weights(model, float(max(clock, 1)) ** power).astype(np.float32)
