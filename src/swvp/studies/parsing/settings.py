"""The settings of the parsing study, and two sets of them: the paper's protocol and a quick study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from swvp.errors import InputError, is_power_of_two, unknown_name
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.features.presets import PART_PRESETS
from swvp.parsing.tree_model import DEFAULT_HEADS as MOST_HEADS
from swvp.parsing.tree_model import check_pruning
from swvp.studies.common.rules import Notation
from swvp.studies.common.rules import notation as parse
from swvp.studies.common.running import CSP, check_settings, csp_first, settings_header, settings_in
from swvp.studies.common.sources import MOST_DEV, Source

__all__ = [
    "DEFAULT_RULES",
    "PAPER",
    "QUICK",
    "ParsingSettings",
    "notation",
    "protocol",
]

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
"""The protocol of Table 2: the paper's settings, and TurboParser's defaults where the paper states none."""


def notation(text: str) -> Notation:
    """Parse a rule RULE[@β][/MARGIN] of a parser; a margin of 0 is none.

    >>> notation("a-wm@0.25/30").margin, notation("a-wm/0").text
    (30.0, 'a-wm')
    """
    parsed = parse(text)
    if parsed.options:
        raise InputError(f"rule '{text}': options of single rules are for taggers")
    return parsed._replace(margin=parsed.margin or None)


@dataclass(frozen=True, kw_only=True)
class ParsingSettings:
    """The settings of the parsing study. They determine all its numbers except times.

    Parameters
    ----------
    treebanks : tuple of Source
        From `find_treebanks`.
    orders : tuple of int
        Orders of the parser: 1, 2 or both.
    rules : tuple of str
        Update rules as RULE[@β][/MARGIN]. CSP is always run, as the first.
    betas : tuple of float
        The values of β that a rule tries.
    epochs : int
        Epochs of each training.
    seeds : int
        Trainings of each rule and β, each in other random orders of the sentences.
    sentences : int, optional
        Train on a random sample of the training sentences. Default: all.
    sample_dev : bool
        Sample the dev set from the training set, as the paper does, even if there is a dev file.
    dev_sentences : int, optional
        Size of a sampled dev set. Default: a tenth of the training set, at most 1000.
    features : tuple of str, optional
        A preset of feature templates for each order.
    prune_heads, prune_threshold : int and float, optional
        Pruning in second order: the largest number of heads of a word, and the least probability of a head, relative to
        that of the best head.
    shuffle : bool
        Whether each epoch has a new random order of the sentences.
    one_root : bool, optional
        Whether a tree has exactly one root. Default: as in the training set.
    projective : bool
        Whether predicted trees are projective.
    hashed : int
        Hash size, a power of 2.
    seed : int
        The first seed. It also determines the samples.
    control : bool
        Whether to train CSP on as many random orders as there are β values ("csp-orders").
    loaded : str
        Digest of the user's Python file that defines some of the rules; empty without one.

    Raises
    ------
    InputError
        If a setting is not valid.
    """

    treebanks: tuple[Source, ...]
    orders: tuple[int, ...] = (1, 2)
    rules: tuple[str, ...] = DEFAULT_RULES
    betas: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    epochs: int = 10
    seeds: int = 1
    sentences: int | None = None
    sample_dev: bool = False
    dev_sentences: int | None = None
    features: tuple[str, ...] | None = None
    prune_heads: int | None = None
    prune_threshold: float | None = None
    shuffle: bool = True
    one_root: bool | None = None
    projective: bool = False
    hashed: int = 2**22
    seed: int = 0
    control: bool = True
    loaded: str = ""

    def __post_init__(self) -> None:
        if not self.treebanks:
            raise InputError("no treebank is given")
        check_settings(self, "orders", "rules", "betas", counts=("epochs", "seeds", "sentences", "dev_sentences"))
        if not set(self.orders) <= {1, 2}:
            raise InputError(f"orders must be 1, 2 or both, not '{','.join(map(str, self.orders))}'")
        if self.features is not None:
            check_features(self.features, self.orders)
        check_pruning(self.most_heads, self.prune_threshold)
        if not is_power_of_two(self.hashed):
            raise InputError(f"hashed must be a power of 2, not {self.hashed}")
        object.__setattr__(self, "rules", checked_rules(self.rules, self.betas, self.orders))
        object.__setattr__(self, "betas", tuple(sorted(self.betas)))

    @property
    def most_heads(self) -> int:
        """The most heads of a word after pruning."""
        return MOST_HEADS if self.prune_heads is None else self.prune_heads

    def features_of(self, order: int) -> str | None:
        """Return the preset of feature templates of an order; None for the default."""
        return None if self.features is None else self.features[self.orders.index(order)]

    def samples(self, source: Source) -> bool:
        """Return whether the dev set is sampled from the training set."""
        return self.sample_dev or source.dev is None

    def absolute(self) -> ParsingSettings:
        """Return the settings with whole paths of files, for workers in other folders."""
        return replace(self, treebanks=tuple(source.absolute() for source in self.treebanks))

    def to_json(self) -> dict[str, Any]:
        """Return the settings and the version of the program, ready for JSON."""
        header = settings_header("parsing", self, "parsing", "training", "studies")
        return header | {"treebanks": [source.to_json() for source in self.treebanks]}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> ParsingSettings:
        """Return the settings that `to_json` wrote; the files of the treebanks have no folders."""
        treebanks = tuple(map(Source.from_json, fields["treebanks"]))
        return cls(**settings_in(fields, cls) | {"treebanks": treebanks})


def check_features(features: tuple[str, ...], orders: tuple[int, ...]) -> None:
    """Raise InputError unless there is a preset for each order."""
    if len(features) != len(orders):
        raise InputError(
            f"features must be one preset for each of the orders {','.join(map(str, orders))}, not {len(features)}: "
            "as --features turbo,turbo-standard"
        )
    for name, order in zip(features, orders, strict=True):
        known = PRESETS if order == 1 else PRESETS | PART_PRESETS
        if name not in known:
            raise unknown_name(f"features of order {order}", name, known)


def checked_rules(rules: tuple[str, ...], betas: tuple[float, ...], orders: tuple[int, ...]) -> tuple[str, ...]:
    """Return the rules in their shortest form, CSP first; raise InputError if one cannot be used."""
    notations = [notation(rule) for rule in rules]
    for rule in notations:
        for beta in betas:
            if rule.rule(beta).k_best > 1 and 2 in orders:
                raise InputError(f"rule '{rule.name}' is for first order: leave it out, or study --orders 1")
    return csp_first([rule.text for rule in notations], rules)


def protocol(*, paper: bool = False, quick: bool = False, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `ParsingSettings` for a named protocol, replaced by those that are given.

    A given None counts as not given.
    """
    arguments = (PAPER if paper else {}) | (QUICK if quick else {})
    if paper and quick:
        arguments["dev_sentences"] = 100
    arguments |= {name: value for name, value in given.items() if value is not None}
    if paper and given.get("features") is None and given.get("orders") is not None:
        arguments["features"] = tuple(PAPER["features"][order - 1] for order in given["orders"] if order in (1, 2))
    return arguments
