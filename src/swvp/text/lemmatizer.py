"""The lemmatizer: a user's dictionary, then the memory of training, then candidates ranked by a linear model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_power_of_two
from swvp.io.model_files import Memory, require, strings
from swvp.io.table import Column
from swvp.io.treebank import Treebank
from swvp.learning.perceptron import generator, run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.operations import averaged_weights
from swvp.structures.ranking import Ranking, new_ranking_model, place, rank_all
from swvp.text.edit_trees import as_json, from_json
from swvp.text.lemma_data import NONE, DevWords, Word, distinct, first_xpos, memory_of, select
from swvp.text.lemma_features import NARROW, WIDE, contexts_of, described, hashed, keys_of_tree, lemma_keys
from swvp.text.lemma_memory import Analysis, LemmaMemory
from swvp.text.lexicon import Lexicon, look_up
from swvp.text.stages import Watch, ignore
from swvp.training.options import power_of
from swvp.types import Floats, Singles

__all__ = ["Explanation", "Lemmatizer"]

PLACES = 2**18
MOST_PLACES = 2**24
EPOCHS = 8
MARGIN = 2.0
"""By how much the right lemma must win in training."""
RULE = "softmax"
MOST_CACHED = 2**17
"""How many analysed words are kept for the next prediction."""


class Explanation(NamedTuple):
    """Why a word has its lemma.

    Parameters
    ----------
    lemma : str
    source : str
        "lexicon" (the user's dictionary), "memory" (the form had this lemma with the same UPOS and FEATS in training),
        "model" (the best of the candidates) or "form" (no candidate: the form itself).
    candidates : list of (str, float)
        The candidates of the model and their scores, best first.
    features : list of (str, float)
        The features that speak most for the lemma against the second candidate, or against it (negative).
    """

    lemma: str
    source: str
    candidates: list[tuple[str, float]]
    features: list[tuple[str, float]]


class Lemmatizer:
    """Lemmas of words with their tags; made by `Lemmatizer.train`.

    Parameters
    ----------
    memory : LemmaMemory
        The analyses of the training set.
    weights : ndarray of float32
        The weights of the model that ranks candidates.
    lexicon : dict, optional
        A user's dictionary, which goes before everything else: see `swvp.text.lexicon.read_lexicon`.

    Examples
    --------
    >>> from swvp.io.treebank import treebank_of
    >>> words = [("walked", "walk"), ("talked", "talk"), ("asked", "ask")]
    >>> lemmatizer = Lemmatizer.train(treebank_of([[(form, lemma, "VERB", "_", "_") for form, lemma in words]]))
    >>> lemmatizer.lemma("Looked", "VERB")
    'look'
    """

    def __init__(self, memory: LemmaMemory, weights: Singles, *, lexicon: Lexicon | None = None):
        self.memory, self.weights = memory, weights
        self._w: Floats = weights.astype(np.float64)
        self._tree_keys = [hashed(keys_of_tree(tree)) for tree in memory.trees]
        self.lexicon = {} if lexicon is None else lexicon

    @property
    def lexicon(self) -> Lexicon:
        """The user's dictionary: the lemma of each (form, UPOS), UPOS "" for any."""
        return self._lexicon

    @lexicon.setter
    def lexicon(self, lexicon: Lexicon) -> None:
        self._lexicon = dict(lexicon)
        self._cache: dict[Word, str] = {}

    @classmethod
    def train(
        cls,
        treebank: Treebank,
        *,
        dev: Treebank | None = None,
        random_state: Any = 0,
        epochs: int = EPOCHS,
        places: int = PLACES,
        watch: Watch = ignore,
    ) -> Self:
        """Train on a treebank with lemmas.

        The model is trained on each form with its tags as if this form had not been seen with them: it is for words
        that the memory does not have.

        Parameters
        ----------
        treebank : Treebank
        dev : Treebank, optional
            If given, the weights are those of the epoch with the most right lemmas on it.
        random_state : seed
        epochs : int
        places : int
            The hash size: the number of weights, a power of 2.
        watch : callable, optional
            Called after each epoch with its number and the number of epochs.

        Returns
        -------
        Lemmatizer
        """
        if not is_power_of_two(places, 2, MOST_PLACES):
            raise InputError(f"places must be a power of 2 from 2 to {MOST_PLACES}, not {places!r}")
        memory = memory_of(treebank)
        lemmatizer = cls(memory, np.zeros(places, np.float32))
        xpos = first_xpos(treebank)
        words = [(form, upos, xpos[form, upos, feats], feats) for form, upos, feats in memory.best]
        problem, candidates = lemmatizer._ranking(words, training=True)
        gold = np.array(
            [
                found.index(memory.lemmas[number]) if memory.lemmas[number] in found else -1
                for found, number in zip(candidates, memory.best.values(), strict=True)
            ],
            np.int64,
        )
        learnt = np.flatnonzero(gold >= 0)
        problem = problem._replace(gold=gold, margin=MARGIN)
        rule = as_rule(RULE)
        power = power_of(None, rule)
        model = new_ranking_model(places, int(np.diff(problem.offsets).max(initial=1)))
        rng = generator(random_state)
        held_out = None if dev is None else DevWords(memory, lemmatizer._ranking, dev)
        best, best_score = lemmatizer.weights, -1.0
        clock = 0
        selected = select(problem, learnt)
        for epoch in run_epochs(
            selected, model, rule, examples=len(learnt), epochs=epochs, random_state=rng, power=power
        ):
            clock += len(learnt)
            if held_out is not None:
                weights = averaged_weights(model, float(clock) ** power).astype(np.float32)
                score = held_out.score(weights.astype(np.float64))
                if score > best_score:
                    best, best_score = weights, score
            watch(epoch.epoch, epochs)
        if held_out is None:
            best = averaged_weights(model, float(max(clock, 1)) ** power).astype(np.float32)
        return cls(memory, best)

    def predict(self, words: Column, upos: Column, xpos: Column, feats: Column, offsets: Any = None) -> Column:
        """Return the lemmas of words.

        Parameters
        ----------
        words, upos, xpos, feats : Column
            The words and their tags.
        offsets : ndarray of int, optional
            Where sentences begin. Lemmas do not depend on it.

        Returns
        -------
        Column
        """
        first, ids = distinct(words, upos, xpos, feats)
        columns = [(column.strings, column.ids[first].tolist()) for column in (words, upos, xpos, feats)]
        parts = [[texts[number] for number in numbers] for texts, numbers in columns]
        lemmas = self._lemmas(list(zip(*parts, strict=True)))
        number: dict[str, int] = {}
        of_word = np.array([number.setdefault(lemma, len(number)) for lemma in lemmas], np.int32)
        return Column(list(number), of_word[ids] if len(of_word) else np.zeros(0, np.int32))

    def lemma(self, form: str, upos: str = NONE, feats: str = NONE, xpos: str = NONE) -> str:
        """Return the lemma of one word.

        Parameters
        ----------
        form, upos, feats, xpos : str

        Returns
        -------
        str
        """
        return self._lemmas([(form, upos, xpos, feats)])[0]

    def explain(
        self, form: str, upos: str = NONE, feats: str = NONE, xpos: str = NONE, *, top: int = 10
    ) -> Explanation:
        """Return the lemma of a word and why it has it.

        Parameters
        ----------
        form, upos, feats, xpos : str
        top : int
            The number of features.

        Returns
        -------
        Explanation
        """
        word = form, upos, xpos, feats
        if (lemma := look_up(self.lexicon, form, upos)) is not None:
            return Explanation(lemma, "lexicon", [], [])
        if (lemma := self.memory.recall(form, upos, feats)) is not None:
            return Explanation(lemma, "memory", [], [])
        problem, candidates = self._ranking([word])
        if not candidates[0]:
            return Explanation(form, "form", [], [])
        scores = np.empty(len(candidates[0]))
        rank_all(problem, self._w, scores)
        order = np.argsort(-scores, kind="stable").tolist()
        ranked = [(candidates[0][r], float(scores[r])) for r in order]
        parts = [self._parts(word, lemma) for lemma, _ in ranked[:2]]
        totals = dict(parts[0])
        for name, weight in parts[1].items() if len(parts) > 1 else ():
            totals[name] = totals.get(name, 0.0) - weight
        features = sorted(totals.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:top]
        return Explanation(ranked[0][0], "model", ranked, features)

    def _parts(self, word: Word, lemma: str) -> dict[str, float]:
        """Return the features of a candidate, as people read them, with their weights."""
        form, upos, _, feats = word
        contexts = contexts_of(*word)
        tree = self.memory.trees[self.memory.candidates(form, upos)[lemma]]
        evidence = self.memory.evidence(form, upos, feats, lemma, without=False)
        keys = keys_of_tree(tree) + lemma_keys(form, lemma, evidence)
        parts: dict[str, float] = {}
        for number, key in enumerate(keys):
            paired = contexts if number < WIDE else contexts[:NARROW]
            for context in paired:
                context_number, key_number = hashed([context, key])
                at = place(context_number, key_number, len(self._w))
                text = described(context, key, tree)  # two contexts may read the same
                parts[text] = parts.get(text, 0.0) + float(self._w[at])
        return parts

    def _lemmas(self, words: Sequence[Word]) -> list[str]:
        """Return the lemma of each of these words; the words are distinct."""
        lemmas: list[str | None] = [self._known(word) for word in words]
        unknown = [number for number, lemma in enumerate(lemmas) if lemma is None]
        if unknown:
            if len(self._cache) + len(unknown) > MOST_CACHED:
                self._cache.clear()
            chosen = self._ranked([words[number] for number in unknown])
            for number, lemma in zip(unknown, chosen, strict=True):
                lemmas[number] = lemma
                if len(self._cache) < MOST_CACHED:
                    self._cache[words[number]] = lemma
        return lemmas  # type: ignore[return-value]

    def _known(self, word: Word) -> str | None:
        """Return the lemma that needs no model: of the dictionary, of the memory, or ranked before."""
        form, upos, _, feats = word
        if self._lexicon and (lemma := look_up(self._lexicon, form, upos)) is not None:
            return lemma
        lemma = self.memory.recall(form, upos, feats)
        return self._cache.get(word) if lemma is None else lemma

    def _ranked(self, words: Sequence[Word]) -> list[str]:
        """Return the best candidate of each word; a word without any is its own lemma."""
        problem, candidates = self._ranking(words)
        scores = np.empty(int(problem.offsets[-1]))
        rank_all(problem, self._w, scores)
        lemmas = []
        for word, found, start in zip(words, candidates, problem.offsets.tolist(), strict=False):
            lemmas.append(found[int(scores[start : start + len(found)].argmax())] if found else word[0])
        return lemmas

    def _ranking(self, words: Iterable[Word], *, training: bool = False) -> tuple[Ranking, list[list[str]]]:
        """Return words and their candidates as arrays, and the candidates; in training without their own analyses."""
        contexts: list[int] = []
        context_starts, keys, key_starts, offsets = [0], [], [0], [0]
        candidates = []
        memory = self.memory
        for form, upos, xpos, feats in words:
            contexts += hashed(contexts_of(form, upos, xpos, feats))
            context_starts.append(len(contexts))
            found = memory.candidates(form, upos)
            for lemma, tree in found.items():
                evidence = memory.evidence(form, upos, feats, lemma, without=training)
                keys += self._tree_keys[tree]
                keys += hashed(lemma_keys(form, lemma, evidence))
                key_starts.append(len(keys))
            offsets.append(offsets[-1] + len(found))
            candidates.append(list(found))
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

    # ------------------------------------------------------------ model files

    def contents(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds: a description and arrays.

        Returns
        -------
        meta : dict
        arrays : dict
        """
        numbers: list[dict[str, int]] = [{}, {}, {}]
        rows = []
        for analysis in self.memory.analyses:
            row = [number.setdefault(text, len(number)) for number, text in zip(numbers, analysis[:3], strict=True)]
            rows.append([*row, analysis.tree, analysis.tokens])
        meta = {
            "forms": list(numbers[0]),
            "upos": list(numbers[1]),
            "feats": list(numbers[2]),
            "trees": [as_json(tree) for tree in self.memory.trees],
            "lexicon": [[form, upos, lemma] for (form, upos), lemma in self.lexicon.items()],
        }
        return meta, {"analyses": np.array(rows, np.int32).reshape(-1, 5), "weights": self.weights}

    @staticmethod
    def array_names(meta: dict[str, Any]) -> set[str]:
        """Return the names of the arrays of a model file."""
        return {"analyses", "weights"}

    @classmethod
    def from_contents(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], memory: Memory) -> Self:
        """Return the lemmatizer of a model file; raise InputError if its parts do not fit together."""
        texts = [strings(meta[name]) for name in ("forms", "upos", "feats")]
        require(isinstance(meta["trees"], list), "edit trees")
        trees = [from_json(value) for value in meta["trees"]]
        rows, weights = arrays["analyses"], arrays["weights"]
        require(rows.dtype.kind in "iu" and rows.ndim == 2 and rows.shape[1] == 5, "analyses of forms")
        sizes = [*map(len, texts), len(trees), 2**31]
        require(not len(rows) or bool(((rows >= 0).all(0) & (rows.max(0) < sizes)).all()), "analyses of forms")
        require(weights.dtype == np.float32 and weights.ndim == 1, "weights of lemmas")
        require(is_power_of_two(len(weights), 2, MOST_PLACES) and bool(np.isfinite(weights).all()), "weights of lemmas")
        analyses = [
            Analysis(texts[0][form], texts[1][upos], texts[2][feats], tree, count)
            for form, upos, feats, tree, count in rows.tolist()
        ]
        require(isinstance(meta["lexicon"], list), "dictionary of lemmas")
        entries = [strings(entry) for entry in meta["lexicon"]]
        require(all(len(entry) == 3 for entry in entries), "dictionary of lemmas")
        return cls(
            LemmaMemory(trees, analyses),
            np.array(weights),
            lexicon={(form, upos): lemma for form, upos, lemma in entries},
        )
