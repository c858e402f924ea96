"""Owns the paper's parsing study (section 6, Table 2): treebanks and settings in, results out.

For each treebank and each order of the parser: CSP, and each rule with every β, all measured after the last pass. β is
chosen on the development set; the paper samples it from the training set, for which --sample-dev is.

A tuned rule is the best of several trainings, CSP in the paper a single one. The control gives CSP as many: the best on
the development set of as many random orders as there are β values.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from swvp import __version__
from swvp.compiled import fingerprint
from swvp.errors import InputError
from swvp.experiments.journal import Journal
from swvp.experiments.parsing_runs import CONTROL, CSP, MEASURED, REST, Options, Run, notation, train_once
from swvp.experiments.running import check_jobs, finish
from swvp.experiments.treebanks import MOST_DEV, Data, Source, read_data

__all__ = ["CHOICES", "DEFAULT_RULES", "QUICK", "Settings", "run_study", "training_runs"]

OUTPUTS = ("results.json", "report.html")
DEFAULT_RULES = (
    CSP,
    "b-wm",
    "a-wm",
    "b-wmr",
    "a-wmr",
    "a-uniform:mira/1",
    "a-uniform:components:mira/1",
    "a-uniform:sqrt/30",
    "csp/30",
    "mira/1",
)
QUICK: dict[str, Any] = {"sentences": 300, "epochs": 3, "betas": (0.5, 2.0)}

CHOICES = (
    (
        "Treebanks and features",
        "those given, and this parser’s own: the paper has the CoNLL 2007 treebanks and TurboParser, so levels differ",
    ),
    (
        "The development set",
        f"the DEV file; without one, or with --sample-dev as in the paper, {MOST_DEV:,} training sentences drawn at "
        "random, at most a tenth of them",
    ),
    (
        "What is trained on a sampled development set",
        f"CSP, as in the paper, which has nothing to tune; all others learn from the rest and are not trained again. "
        f"{REST} is CSP on the rest",
    ),
    ("Which pass", "the last one, for every rule: no pass is chosen on the development set"),
    ("Averaging", "averaged weights, for every rule"),
    ("The order of the sentences", "random in each pass, the same for every rule but the control"),
    ("β", "--betas, 0.5, 1, 2 and 4 by default; the paper has 0.5 to 5 by 0.5 in its synthetic study"),
    ("β with equal development UAS", "the smallest"),
    ("“Within 0.1 %” in Top B-WM", "0.1 percentage points of development UAS"),
    (
        "CSP is trained once, a tuned rule once for each β",
        f"so in the paper; the control {CONTROL} is the best of as many random orders for CSP",
    ),
    ("The margin", "0 as in the paper, unless the rule has one of its own, as a-uniform:mira/1"),
    ("UAS", "all words, punctuation included, as the scorer of CoNLL 2007; also without"),
    ("Several roots", "predicted if more than one in twenty training trees have several, else exactly one"),
    ("Trees", "crossing arcs allowed, unless --projective"),
    ("Labels", "neither learnt nor used"),
)
"""What the paper leaves open, and the choice made here."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What decides every number of the study but the seconds."""

    treebanks: tuple[Source, ...]
    orders: tuple[int, ...] = (1, 2)
    rules: tuple[str, ...] = DEFAULT_RULES
    betas: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    epochs: int = 10
    sentences: int | None = None
    sample_dev: bool = False
    projective: bool = False
    hashed: int = 2**22
    seed: int = 0
    control: bool = True
    loaded: str = ""  # a digest of the user's code that the rules may need

    def __post_init__(self) -> None:
        if not self.treebanks:
            raise InputError("no treebank is given")
        for name, values in (("orders", self.orders), ("rules", self.rules), ("betas", self.betas)):
            if not values or len(set(values)) < len(values):
                raise InputError(f"{name} must be one or more, each once, not '{','.join(map(str, values))}'")
        if not set(self.orders) <= {1, 2}:
            raise InputError(f"orders must be 1, 2 or both, not '{','.join(map(str, self.orders))}'")
        for name in ("epochs", "sentences"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        if self.hashed < 1 or self.hashed & (self.hashed - 1):
            raise InputError(f"hashed must be a power of 2, not {self.hashed}")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"seed must be a whole number from 0 to 2^63 - 1, not {self.seed}")
        rules = [notation(rule) for rule in self.rules]
        for rule in rules:
            for beta in self.betas:
                if rule.rule(beta).k_best > 1 and 2 in self.orders:
                    raise InputError(f"rule '{rule.name}' is for first order: leave it out, or study --orders 1")
        names = [rule.text for rule in rules]
        if len(set(names)) < len(names):
            raise InputError(f"rules must be different, not '{','.join(self.rules)}'")
        object.__setattr__(self, "rules", (CSP, *(rule for rule in names if rule != CSP)))
        object.__setattr__(self, "betas", tuple(sorted(self.betas)))

    def as_dict(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        lists = {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}
        lists["treebanks"] = [source.as_dict() for source in self.treebanks]
        code = fingerprint("parsing", "training", "experiments")[:16]
        return {"study": "parsing", "version": __version__, "code": code, **lists}

    def samples(self, source: Source) -> bool:
        """Whether the development set is sampled from the training set."""
        return self.sample_dev or source.dev is None


def training_runs(settings: Settings) -> list[Run]:
    """Every training of the study."""
    runs = []
    for source in settings.treebanks:
        for order in settings.orders:
            for rule in settings.rules:
                betas = settings.betas if notation(rule).tuned else (None,)
                runs += [Run(source.name, order, rule, beta) for beta in betas]
            if settings.samples(source):
                runs.append(Run(source.name, order, REST))
            if settings.control:
                runs += [Run(source.name, order, CONTROL, draw=draw) for draw in range(len(settings.betas))]
    return runs


def run_study(
    settings: Settings,
    folder: Path,
    *,
    jobs: int = 1,
    fresh: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Run what `folder` does not hold yet (all of it if `fresh`), keep every finished run there, return all results.

    The results depend on the settings alone, not on `jobs` or on how often the study was stopped; only `timing` is of
    the moment.
    """
    check_jobs(jobs)
    sources = {source.name: source for source in settings.treebanks}
    lock = threading.Lock()
    options = Options(settings.epochs, settings.seed, settings.projective, settings.hashed)

    @cache
    def read(name: str) -> Data:
        sample, sentences = settings.sample_dev, settings.sentences
        return read_data(sources[name], sample_dev=sample, sentences=sentences, seed=settings.seed)

    def data(name: str) -> Data:
        with lock:
            return read(name)

    def train(run: Run, stopped: threading.Event) -> dict[str, Any] | None:
        return train_once(options, data(run.treebank), run, stopped)

    described = [{"name": name, **describe(data(name))} for name in sources]  # all are read before anything is trained
    fields = (*Run._fields, *MEASURED)
    journal = Journal(folder, settings.as_dict(), outputs=OUTPUTS, fields=fields, fresh=fresh)
    runs = finish(training_runs(settings), train, journal, jobs=jobs, progress=progress)
    return {"settings": settings.as_dict(), "treebanks": described, "runs": runs}


def describe(data: Data) -> dict[str, Any]:
    """The sizes of a treebank; of its test set the length of each sentence."""
    parts = {name: getattr(data, name) for name in ("whole", "train", "dev", "test")}
    return {
        "sampled": data.sampled,
        "sentences": {name: part.number_of_sentences for name, part in parts.items()},
        "words": {name: part.tokens for name, part in parts.items()},
        "non_projective": data.whole.non_projective(),
        "several_roots": data.whole.several_roots,
        "lengths": [int(length) for length in data.test.offsets[1:] - data.test.offsets[:-1]],
    }
