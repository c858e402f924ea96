"""The morphological tagger: UPOS, XPOS and FEATS of words, together, as one label among few candidates of each word."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.encoder import Columns, TemplateEncoder
from swvp.features.templates import PRESETS, parse_templates
from swvp.io.compact import rounded
from swvp.io.model_files import Memory, require, strings
from swvp.io.table import Column
from swvp.io.tree_checks import EMPTY, column_of
from swvp.io.treebank import Treebank
from swvp.learning.perceptron import generator, run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.chain.candidates import (
    BLOCK,
    GAP,
    CandidateChain,
    grouping_places,
    new_candidate_model,
    number_of_weights,
    predict_candidates,
)
from swvp.structures.operations import averaged_weights
from swvp.text.analyses import Analyses, Analysis, learn_analyses
from swvp.text.governors import GOVERNOR_COLUMNS, GOVERNOR_TEMPLATES, governor_columns, has_cases
from swvp.text.stages import Watch, ignore
from swvp.types import Floats, Int32s, Ints

__all__ = ["MorphologicalTagger", "Morphology"]

RULE, LEARNING_RATE, MARGIN, POWER = "softmax", 0.1, 6.0, 3.0
"""The rule and its options, chosen on dev sets."""
EPOCHS = 8

PLACES = 2**22
LEAST_WEIGHT = 0.05
"""Smaller weights are not stored: on dev sets that loses nothing, and files are a fifth smaller."""
NAMES = ("word", *GOVERNOR_COLUMNS)


class Morphology(NamedTuple):
    """The tags of words: UPOS, XPOS and FEATS, each a column."""

    upos: Column
    xpos: Column
    feats: Column


class MorphologicalTagger:
    """Predicts UPOS, XPOS and FEATS of words.

    Make one with `MorphologicalTagger.train`.

    Parameters
    ----------
    analyses : Analyses
        Which analyses a form may have.
    encoder : TemplateEncoder
        The features of words.
    weights : ndarray of float64
        The weights of `swvp.structures.chain.candidates`.
    places : int
        The hash size, a power of 2.
    """

    def __init__(self, analyses: Analyses, encoder: TemplateEncoder, weights: Floats, places: int):
        self.analyses, self.encoder, self.weights, self.places = analyses, encoder, weights, places
        self._labels = label_keys(analyses.known)
        self._parts = [column_of(analysis[part] for analysis in analyses.known) for part in range(3)]

    @classmethod
    def train(
        cls,
        treebank: Treebank,
        *,
        dev: Treebank | None = None,
        random_state: Any = 0,
        epochs: int = EPOCHS,
        rule: str = RULE,
        places: int = PLACES,
        watch: Watch = ignore,
    ) -> Self:
        """Train on a treebank.

        Parameters
        ----------
        treebank : Treebank
            With at least one of UPOS, XPOS and FEATS.
        dev : Treebank, optional
            Not used: the number of epochs is fixed.
        random_state : seed
        epochs : int
        rule : str
            The update rule; its options are the defaults of `swvp.rules`, those of RULE were chosen on dev sets.
        places : int
            The hash size: the number of weights of words, a power of 2.
        watch : callable, optional
            Called after each epoch with its number and the number of epochs.

        Returns
        -------
        MorphologicalTagger
        """
        if all(column.strings == [EMPTY] for column in (treebank.upos, treebank.xpos, treebank.feats)):
            raise InputError(f"{treebank.name}: no tags to learn from: UPOS, XPOS and FEATS are _")
        forms, gold = strings_of(treebank.words), analyses_of(treebank)
        analyses = learn_analyses(forms, gold)
        encoder = TemplateEncoder(parse_templates(templates_for(gold), NAMES), None)
        number = {analysis: k for k, analysis in enumerate(analyses.known)}
        ids = np.array([number[analysis] for analysis in gold], np.int32)
        tagger = cls(analyses, encoder, np.zeros(0), places)
        columns = tagger._columns(treebank.words, treebank.offsets, likely_in_training(analyses, forms, treebank.words))
        attributes, starts = encoder.fit(columns, 1, ["|".join(analysis) for analysis in analyses.known], ids)
        problem = tagger._problem(attributes, starts, treebank.offsets, *training_candidates(analyses, forms, gold))
        model = new_candidate_model(problem)
        update_rule = as_rule(rule, C=LEARNING_RATE) if rule == RULE else as_rule(rule)
        sentences = len(treebank.offsets) - 1
        done = 0
        for epoch in run_epochs(
            problem,
            model,
            update_rule,
            examples=sentences,
            epochs=epochs,
            random_state=generator(random_state),
            power=POWER,
        ):
            done += epoch.examples
            watch(epoch.epoch, epochs)
        tagger.weights = averaged_weights(model, float(max(done, 1)) ** POWER)
        tagger.weights[np.abs(tagger.weights) < LEAST_WEIGHT] = 0.0
        tagger.weights = rounded(tagger.weights)
        return tagger

    def predict(self, words: Column, offsets: Ints) -> Morphology:
        """Return the tags of words.

        Parameters
        ----------
        words : Column
        offsets : ndarray of int64
            Where each sentence begins, and where the last one ends.

        Returns
        -------
        Morphology
        """
        of_form = [np.array(self.analyses.candidates(form), np.int32) for form in words.strings]
        attributes, starts = self.encoder.encode(self._columns(words, offsets, [int(each[0]) for each in of_form]))
        candidates, candidate_starts = gathered(of_form, words.ids)
        problem = self._problem(attributes, starts, offsets, candidates, candidate_starts, np.zeros(0, np.int32))
        model = new_candidate_model(problem, self.weights)
        chosen = np.zeros(len(words.ids), np.int64)
        predict_candidates(problem, model, GAP, chosen)
        labels = candidates[candidate_starts[:-1] + chosen]
        return Morphology(*(self._tags(labels, part) for part in range(3)))

    def _tags(self, labels: Int32s, part: int) -> Column:
        """Return one part of the analyses of words: only the strings that occur, because later stages look at each."""
        strings, ids = self._parts[part]
        used, numbers = np.unique(ids[labels], return_inverse=True)
        return Column([strings[k] for k in used.tolist()], numbers.reshape(-1).astype(np.int32))

    def _columns(self, words: Column, offsets: Ints, likely: list[int]) -> Columns:
        """Return the words as the columns that templates use; `likely` is the most likely analysis of each string."""
        if all(slot.column == "word" for slot in self.encoder.slots):
            return Columns(("word",), [words.strings], words.ids[np.newaxis], offsets)
        return governor_columns(words, offsets, [self.analyses.known[number][0] for number in likely])

    def _problem(
        self, attributes: Any, starts: Ints, offsets: Ints, candidates: Int32s, candidate_starts: Ints, gold: Int32s
    ) -> CandidateChain:
        keys, key_starts, groups = self._labels
        sizes, begins = grouping_places(groups, self.places)
        return CandidateChain(
            attributes=attributes,
            starts=starts,
            offsets=offsets,
            candidates=candidates,
            candidate_starts=candidate_starts,
            gold=gold,
            keys=keys,
            key_starts=key_starts,
            groups=groups,
            group_sizes=sizes,
            group_places=begins,
            places=self.places,
            margin=MARGIN,
        )

    # ---------------------------------------------------------------- files

    def contents(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the description and the arrays, for a model file."""
        meta = {
            **self.analyses.contents(),
            "templates": [template.text for template in self.encoder.templates],
            "vocabularies": [list(vocabulary) for vocabulary in self.encoder.vocabularies],
            "word_labels": {
                column: [list(lexicon), list(lexicon.values())] for column, lexicon in self.encoder.lexicons.items()
            },
            "places": self.places,
        }
        places = np.flatnonzero(self.weights)
        arrays: dict[str, NDArray[Any]] = {
            "keys": self.encoder.keys,
            "weight places": places.astype(np.uint32),
            "weights": self.weights[places].astype(np.float32),
        }
        return meta, arrays

    @staticmethod
    def array_names(meta: dict[str, Any]) -> set[str]:
        """Return the names of the arrays of a morphological tagger."""
        return {"keys", "weight places", "weights"}

    @classmethod
    def from_contents(cls, meta: dict[str, Any], arrays: Mapping[str, NDArray[Any]], memory: Memory) -> Self:
        """Return the tagger of a model file; raise InputError if its parts do not fit together."""
        analyses = Analyses.from_contents(meta)
        templates = TemplateEncoder(parse_templates(strings(meta["templates"]), NAMES), None)
        lexicons = {
            column: dict(zip(strings(words), strings(values), strict=True))
            for column, (words, values) in meta["word_labels"].items()
        }
        templates.restore([strings(vocabulary) for vocabulary in meta["vocabularies"]], arrays["keys"], lexicons, {})
        number = meta["places"]
        require(type(number) is int and BLOCK <= number <= 2**30 and number & (number - 1) == 0, "hash size")
        tagger = cls(analyses, templates, np.zeros(0), number)
        size = number_of_weights(tagger._labels[2], number)
        places, values = arrays["weight places"], arrays["weights"]
        require(places.dtype.kind == "u" and values.dtype.kind == "f", "weights")
        require(places.ndim == 1 and places.shape == values.shape, "weights")
        require(bool(np.isfinite(values).all()), "weights")
        require(not len(places) or int(places.max()) < size, "weights")
        tagger.weights = memory.filled((size,), places.astype(np.int64), values.astype(np.float64))
        return tagger


def strings_of(column: Column) -> list[str]:
    """Return the strings of a column, token by token."""
    return np.array(column.strings, object)[column.ids].tolist()  # type: ignore[no-any-return]


def analyses_of(treebank: Treebank) -> list[Analysis]:
    """Return the analysis of each word of a treebank."""
    return list(zip(*map(strings_of, (treebank.upos, treebank.xpos, treebank.feats)), strict=True))


def templates_for(gold: list[Analysis]) -> list[str]:
    """Return the features of words for a treebank with these analyses."""
    return [*PRESETS["pos"], *GOVERNOR_TEMPLATES] if has_cases(gold) else PRESETS["pos"]


def likely_in_training(analyses: Analyses, forms: list[str], words: Column) -> list[int]:
    """Return the most likely analysis of each string; forms that occur once are taken as unknown."""
    counts = Counter(forms)
    return [analyses.candidates(form, seen_once=counts[form] == 1)[0] for form in words.strings]


def label_keys(known: list[Analysis]) -> tuple[Int32s, Ints, Int32s]:
    """Return the keys of each label and where they begin, and its group in each grouping, the last one for BOUNDARY.

    Keys of the same part of speech have neighbouring numbers, so that their weights are near each other in memory.
    """
    names = [list(names_of(*analysis)) for analysis in known]
    number = {name: k for k, name in enumerate(sorted(set(itertools.chain.from_iterable(names))))}
    keys = [number[name] for of_label in names for name in of_label]
    starts = np.concatenate([[0], np.cumsum([len(of_label) for of_label in names])])
    groups = np.array([grouped([grouping(*analysis) for analysis in known]) for grouping in GROUPINGS], np.int32)
    return np.array(keys, np.int32), starts.astype(np.int64), groups


def names_of(upos: str, xpos: str, feats: str) -> Iterator[str]:
    """Yield the names of the keys of a label: all of it, its UPOS, its XPOS, and each of its features with the UPOS."""
    yield f"all={upos}|{xpos}|{feats}"
    yield f"{upos}|"
    if xpos != EMPTY:
        yield f"xpos={xpos}"
    if feats != EMPTY:
        yield from (f"{upos}|{feature}" for feature in feats.split("|"))


AGREEING = ("Case", "Gender", "Number")


def values(feats: str, names: tuple[str, ...]) -> str:
    """Return those of the morphological features that have one of these names."""
    return "|".join(feature for feature in feats.split("|") if feature.partition("=")[0] in names)


GROUPINGS = (
    lambda upos, xpos, feats: (upos, xpos, feats),
    lambda upos, xpos, feats: upos,
    lambda upos, xpos, feats: values(feats, AGREEING),
    lambda upos, xpos, feats: (upos, values(feats, AGREEING)),
    lambda upos, xpos, feats: (upos, values(feats, ("Case",))),
    lambda upos, xpos, feats: (upos, values(feats, ("Gender",))),
    lambda upos, xpos, feats: (upos, values(feats, ("Number",))),
)
"""By what neighbours are grouped: the whole label, the part of speech, and what agrees, together and one by one."""


def grouped(kinds: list[Any]) -> list[int]:
    """Return the numbers of distinct kinds, and that of BOUNDARY."""
    number: dict[Any, int] = {}
    ids = [number.setdefault(kind, len(number)) for kind in kinds]
    return [*ids, len(number)]


def gathered(of_kind: list[Int32s], ids: Int32s) -> tuple[Int32s, Ints]:
    """Return the lists of kinds for tokens of these kinds, one after the other, and where each begins."""
    sizes = np.array([len(each) for each in of_kind], np.int64)
    begins = np.cumsum(sizes) - sizes
    starts = np.concatenate([[0], np.cumsum(sizes[ids])]).astype(np.int64)
    flat = np.concatenate([np.zeros(0, np.int32), *of_kind])
    return flat[np.arange(starts[-1]) + np.repeat(begins[ids] - starts[:-1], sizes[ids])], starts


def training_candidates(analyses: Analyses, forms: list[str], gold: list[Analysis]) -> tuple[Int32s, Ints, Int32s]:
    """Return the candidates of each token, where they begin, and which one is gold; gold is always among them."""
    counts = Counter(forms)
    number = {analysis: k for k, analysis in enumerate(analyses.known)}
    kinds: dict[tuple[str, Analysis], int] = {}
    ids = np.array([kinds.setdefault(pair, len(kinds)) for pair in zip(forms, gold, strict=True)], np.int32)
    lists, right = [], []
    for form, analysis in kinds:
        found = analyses.candidates(form, seen_once=counts[form] == 1)
        if number[analysis] not in found:
            found.append(number[analysis])
        lists.append(np.array(found, np.int32))
        right.append(found.index(number[analysis]))
    candidates, starts = gathered(lists, ids)
    return candidates, starts, np.array(right, np.int32)[ids]
