"""The settings of the tagging study."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from swvp.errors import InputError, unknown_name
from swvp.studies.common.rules import Notation, Option
from swvp.studies.common.rules import notation as parse
from swvp.studies.common.running import CSP, check_settings, csp_first, settings_header, settings_in
from swvp.studies.tagging.datasets import Dataset
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import BETAS

__all__ = ["DEFAULT_RULES", "QUICK", "TaggingSettings", "notation", "tagger_options"]

DEFAULT_RULES = (
    CSP,
    "a-wm",
    "b-wm",
    "a-wmr",
    "b-wmr",
    "a-wm:segments:sqrt",
    "b-softmin:all",
    "b-maxent:all",
    "mira",
    "mira:10",
    "b-maxent:all:mira",
    "csp:ada",
    "b-maxent:all:ada",
    "softmax",
)
QUICK: dict[str, Any] = {"sentences": 500, "epochs": 3, "betas": (0.5, 2.0), "seeds": 2}
CHOSEN = ("rule", "beta", "epochs", "random_state", "n_jobs", "features", "columns")
"""Options of a tagger that the study sets itself."""


@dataclass(frozen=True, kw_only=True)
class TaggingSettings:
    """The settings of the tagging study. They determine all its numbers except times.

    Parameters
    ----------
    datasets : tuple of Dataset
        From `find_datasets`.
    rules : tuple of str
        Update rules as RULE[@β][/MARGIN][+OPTION=VALUE…]. CSP is always run, as the first.
    betas : tuple of float
        The values of β that a rule tries.
    epochs : int
        The largest number of epochs; the best on the dev set is used.
    seeds : int
        Trainings of each rule and β, each in other random orders of the sentences.
    sentences : int, optional
        Train on a random sample of the training sentences. Default: all.
    sample_dev : bool
        Sample the dev set from the training set even if there is a dev file.
    dev_sentences : int, optional
        Size of a sampled dev set. Default: a tenth of the training set, at most 1000.
    options : dict
        Other options of `SequenceTagger`, for all trainings.
    seed : int
        The first seed. It also determines the samples.
    loaded : str
        Digest of the user's Python file that defines some of the rules; empty without one.

    Raises
    ------
    InputError
        If a setting is not valid.
    """

    datasets: tuple[Dataset, ...]
    rules: tuple[str, ...] = DEFAULT_RULES
    betas: tuple[float, ...] = BETAS
    epochs: int = 10
    seeds: int = 3
    sentences: int | None = None
    sample_dev: bool = False
    dev_sentences: int | None = None
    options: dict[str, Option] = field(default_factory=dict)
    seed: int = 0
    loaded: str = ""

    def __post_init__(self) -> None:
        if not self.datasets:
            raise InputError("no dataset is given")
        check_settings(self, "rules", "betas", counts=("epochs", "seeds", "sentences", "dev_sentences"))
        object.__setattr__(self, "betas", tuple(sorted(self.betas)))
        object.__setattr__(self, "options", dict(sorted(self.options.items())))
        notations = [notation(rule) for rule in self.rules]
        object.__setattr__(self, "rules", csp_first([rule.text for rule in notations], self.rules))
        for rule in notations:
            for beta in self.betas_of(rule):
                Tagger(**tagger_options(self, rule, beta)).check()

    def betas_of(self, rule: Notation) -> tuple[float | None, ...]:
        """Return the values of β to try for a rule; a single None if there is nothing to choose."""
        return self.betas if rule.tuned else (None,)

    def samples(self, dataset: Dataset) -> bool:
        """Return whether the dev set is sampled from the training set."""
        return self.sample_dev or dataset.source.dev is None

    def absolute(self) -> TaggingSettings:
        """Return the settings with whole paths of files, for workers in other folders."""
        datasets = (replace(dataset, source=dataset.source.absolute()) for dataset in self.datasets)
        return replace(self, datasets=tuple(datasets))

    def to_json(self) -> dict[str, Any]:
        """Return the settings and the version of the program, ready for JSON."""
        header = settings_header("tagging", self, "tagging", "training", "evaluation", "studies")
        return header | {"datasets": [dataset.to_json() for dataset in self.datasets]}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> TaggingSettings:
        """Return the settings that `to_json` wrote; the files of the datasets have no folders."""
        datasets = tuple(map(Dataset.from_json, fields["datasets"]))
        return cls(**settings_in(fields, cls) | {"datasets": datasets})


def is_other(name: str) -> bool:
    """Return whether taggers can be trained in a way with this name that is not an update rule.

    >>> is_other("crf"), is_other("csp"), is_other("cps")
    (True, False, False)
    """
    try:
        parse(name)
    except InputError:
        try:
            Tagger(rule=name).check()
        except InputError:
            return False
        return True
    return False


def notation(text: str) -> Notation:
    """Parse a rule RULE[@β][/MARGIN][+OPTION=VALUE…] of a tagger."""
    return parse(text, is_other=is_other)


def tagger_options(settings: TaggingSettings, rule: Notation, beta: float | None) -> dict[str, Any]:
    """Return the arguments of the tagger of a training, without its seed and its features."""
    known = inspect.signature(Tagger).parameters
    options = settings.options | dict(rule.options)
    if rule.margin is not None:
        options["margin"] = rule.margin
    for name in options:
        if name not in known or name in CHOSEN:
            free = [other for other in known if other not in CHOSEN]
            raise unknown_name(
                f"option of rule '{rule.text}':" if name not in settings.options else "option", name, free
            )
    given = rule.beta if rule.beta is not None else beta
    return {"rule": rule.name, "epochs": settings.epochs, **options} | ({} if given is None else {"beta": given})
