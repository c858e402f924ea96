"""The settings of the synthetic study: the paper's three setups, and how much of them is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swvp.errors import InputError, is_whole, shown, unknown_name
from swvp.learning.rule import PAPER_RULES, as_rule
from swvp.studies.common.running import CONTROL, check_settings, csp_first, settings_header, settings_in

__all__ = ["FULL", "LENGTH", "QUICK", "SETUPS", "Setup", "SyntheticSettings"]

LENGTH = 8
MOST_DATASETS = 10_000
HMM_CHOICES = ("per-setup", "per-dataset")


@dataclass(frozen=True)
class Setup:
    """One condition of the study, with the probabilities of the paper's footnote."""

    name: str
    symbols: int
    labels: int
    transition: tuple[float, ...]
    emission: tuple[float, ...]


SETUPS = {
    1: Setup("simple(++), learnable(+++)", 5, 3, (0.7, 0.2, 0.1), (0.75, 0.1, 0.05, 0.05, 0.05)),
    2: Setup("simple(++), learnable(++)", 5, 3, (0.5, 0.3, 0.2), (0.6, 0.15, 0.1, 0.1, 0.05)),
    3: Setup("simple(+), learnable(+)", 20, 7, (0.7, 0.2, 0.1), (0.4, 0.2, 0.1, 0.1, 0.1)),
}


@dataclass(frozen=True, kw_only=True)
class SyntheticSettings:
    """The settings of the synthetic study. They determine all its numbers.

    Parameters
    ----------
    setups : tuple of int
        Which of the paper's setups 1, 2 and 3.
    datasets : int
        Datasets per setup.
    sizes : tuple of int
        Sequences in the training, dev and test set.
    epochs : int
        Epochs of each training.
    betas : tuple of float
        The values of β that a rule tries.
    rules : tuple of str
        Update rules. CSP is always run, as the first.
    hmm : {"per-setup", "per-dataset"}
        Whether the datasets of a setup share one HMM.
    shuffle : bool
        Whether each epoch has a new random order of the examples.
    seed : int
        Determines the HMMs, the samples and the random orders.
    control : bool
        Whether to train CSP on as many random orders as there are β values ("csp-orders").
    loaded : str
        Digest of the user's Python file that defines some of the rules; empty without one.

    Raises
    ------
    InputError
        If a setting is not valid.

    Examples
    --------
    >>> SyntheticSettings(rules=("a-wm",), datasets=2).rules
    ('csp', 'a-wm')
    """

    setups: tuple[int, ...] = (1, 2, 3)
    datasets: int = 10
    sizes: tuple[int, int, int] = (7000, 2000, 1000)
    epochs: int = 10
    betas: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
    rules: tuple[str, ...] = PAPER_RULES
    hmm: str = "per-setup"
    shuffle: bool = False
    seed: int = 0
    control: bool = True
    loaded: str = ""

    def __post_init__(self) -> None:
        for setup in self.setups:
            if setup not in SETUPS:
                raise unknown_name("setup", setup, map(str, SETUPS))
        if self.hmm not in HMM_CHOICES:
            raise unknown_name("hmm", self.hmm, HMM_CHOICES)
        check_settings(self, "setups", "rules", "betas")
        if len(self.sizes) != 3 or min(self.sizes) < 1:
            sizes = ",".join(map(str, self.sizes))
            raise InputError(f"sizes must be three numbers of at least 1 (train,dev,test), not '{sizes}'")
        if self.datasets < 1 or self.epochs < 1:
            raise InputError(f"datasets and epochs must be at least 1, not {self.datasets} and {self.epochs}")
        if self.datasets > MOST_DATASETS or not is_whole(self.epochs):
            given = f"{shown(self.datasets)} and {shown(self.epochs)}"
            raise InputError(f"datasets must be at most {MOST_DATASETS:,} and epochs 2^63 - 1, not {given}")
        for name in self.rules:
            for beta in self.betas:
                as_rule(name, beta=beta)
        object.__setattr__(self, "rules", csp_first([as_rule(rule).name for rule in self.rules], self.rules))

    @property
    def names(self) -> list[str]:
        """All rules, and the control if there is one."""
        return [*self.rules, *([CONTROL] if self.control else [])]

    def to_json(self) -> dict[str, Any]:
        """Return the settings and the version of the program, ready for JSON."""
        return settings_header("synthetic", self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SyntheticSettings:
        """Return the settings that `to_json` wrote."""
        return cls(**settings_in(fields, cls))


FULL = SyntheticSettings()
QUICK = SyntheticSettings(datasets=3, sizes=(1400, 400, 200), epochs=5, betas=(0.5, 1.0, 2.0, 4.0))
