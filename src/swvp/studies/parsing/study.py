"""Owns the paper's parsing study (section 6, Table 2): treebanks and settings in, results out.

For each treebank and each order of the parser: CSP, and each rule with every β, all measured after the last pass. β is
chosen on the development set. `PAPER` are the settings of the paper's own protocol, as far as it is known.

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

from swvp._version import __version__
from swvp.compiled import fingerprint
from swvp.errors import InputError, unknown_name
from swvp.features.arc_templates import PRESETS
from swvp.features.part_templates import PART_PRESETS
from swvp.parsing.pruner import MOST as MOST_HEADS
from swvp.parsing.pruner import check_pruning
from swvp.studies.common.journal import Journal
from swvp.studies.common.running import check_jobs, finish
from swvp.studies.parsing.runs import CONTROL, CSP, MEASURED, REST, Options, Run, notation, train_once
from swvp.studies.parsing.treebanks import MOST_DEV, Data, Source, read_data

__all__ = ["CHOICES", "DEFAULT_RULES", "PAPER", "QUICK", "Settings", "run_study", "training_runs"]

OUTPUTS = ("results.json", "report.html")
DEFAULT_RULES = (
    CSP,
    "b-wm:parts",
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
PAPER: dict[str, Any] = {
    "rules": (CSP, "b-wm:parts"),
    "betas": tuple(k / 2 for k in range(1, 11)),
    "sample_dev": True,
    "dev_sentences": MOST_DEV,
    "features": ("turbo", "turbo-standard"),
    "prune_heads": 10,
    "prune_threshold": 1e-4,
    "shuffle": False,
    "one_root": False,
    "control": False,
}
"""The protocol of Table 2: what the paper says, and TurboParser's defaults where it says nothing."""

CHOICES = (
    (
        "Treebanks and features",
        "those given, and this parser’s own unless --features names others: the paper has the CoNLL 2007 treebanks and "
        "TurboParser, so levels differ. --paper takes this parser’s versions of TurboParser’s templates",
    ),
    (
        "The development set",
        f"the DEV file; without one, or with --sample-dev, --dev-sentences of the training sentences, drawn at random: "
        f"by default a tenth of them, at most {MOST_DEV:,}. --paper: exactly {MOST_DEV:,}, as in the paper",
    ),
    (
        "What is trained on a sampled development set",
        f"CSP, as in the paper, which has nothing to tune; all others learn from the rest and are not trained again. "
        f"{REST} is CSP on the rest",
    ),
    ("Which pass", "the last one, for every rule: no pass is chosen on the development set"),
    ("Averaging", "averaged weights, for every rule"),
    (
        "The order of the sentences",
        "random in each pass, the same for every rule but the control; with --no-shuffle and --paper that of the file, "
        "as TurboParser has it",
    ),
    (
        "β",
        "--betas, 0.5, 1, 2 and 4 by default; --paper: 0.5 to 5 by 0.5, “as in the synthetic data experiments”",
    ),
    (
        "What a word’s mixed assignment is in second order",
        "b-wm:parts: Δφ is that of the word’s own parts, gold less predicted, since TurboParser’s gradient step, which "
        "the paper replaced, sees parts. b-wm re-derives all parts from the mixed heads",
    ),
    (
        "Pruning in second order",
        "this parser’s own; --paper: TurboParser’s 10 heads a word and 10^-4 of the best one’s probability, but by "
        "this parser’s log-linear model, which is trained otherwise",
    ),
    ("β with equal development UAS", "the smallest"),
    ("“Within 0.1 %” in Top B-WM", "0.1 percentage points of development UAS"),
    (
        "CSP is trained once, a tuned rule once for each β",
        f"so in the paper; the control {CONTROL} is the best of as many random orders for CSP",
    ),
    ("The margin", "0 as in the paper, unless the rule has one of its own, as a-uniform:mira/1"),
    ("UAS", "all words, punctuation included, as the scorer of CoNLL 2007; also without"),
    (
        "Several roots",
        "predicted if more than one in twenty training trees have several, else exactly one; --paper: allowed, as in "
        "TurboParser",
    ),
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
    dev_sentences: int | None = None  # sampled ones; None for a tenth, at most MOST_DEV
    features: tuple[str, ...] | None = None  # a preset for each of the orders
    prune_heads: int | None = None
    prune_threshold: float | None = None
    shuffle: bool = True
    one_root: bool | None = None  # None: as the training trees have it
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
        for name in ("epochs", "sentences", "dev_sentences"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        if self.features is not None:
            check_features(self.features, self.orders)
        heads = MOST_HEADS if self.prune_heads is None else self.prune_heads
        check_pruning(heads, self.prune_threshold)
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
        code = fingerprint("parsing", "training", "studies")[:16]
        return {"study": "parsing", "version": __version__, "code": code, **lists}

    def samples(self, source: Source) -> bool:
        """Whether the development set is sampled from the training set."""
        return self.sample_dev or source.dev is None


def check_features(features: tuple[str, ...], orders: tuple[int, ...]) -> None:
    if len(features) != len(orders):
        raise InputError(
            f"features must be one preset for each of the orders {','.join(map(str, orders))}, not {len(features)}: "
            "as --features turbo,turbo-standard"
        )
    for name, order in zip(features, orders, strict=True):
        known = PRESETS if order == 1 else PRESETS | PART_PRESETS
        if name not in known:
            raise unknown_name(f"features of order {order}", name, known)


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
    options = Options(
        epochs=settings.epochs,
        seed=settings.seed,
        projective=settings.projective,
        hashed=settings.hashed,
        features=() if settings.features is None else tuple(zip(settings.orders, settings.features, strict=True)),
        prune_heads=MOST_HEADS if settings.prune_heads is None else settings.prune_heads,
        prune_threshold=settings.prune_threshold,
        shuffle=settings.shuffle,
        one_root=settings.one_root,
    )

    @cache
    def read(name: str) -> Data:
        return read_data(
            sources[name],
            sample_dev=settings.sample_dev,
            dev_sentences=settings.dev_sentences,
            sentences=settings.sentences,
            seed=settings.seed,
        )

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
