"""Owns the temperature: what scores are divided by before they become probabilities.

A perceptron's scores have an arbitrary scale. The temperature gives them the one under which what is right in held-out
data is most probable; it changes no prediction, and it belongs to the weights it was fitted for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from swvp.io.model_files import must

__all__ = ["LEAST", "Tempered", "lowest_loss", "temperature_in"]

LEAST = 1e-300
"""Probabilities below it count as so much when logarithms are taken."""
GRID = 12


class Tempered:
    """What has weights `coef_` and a temperature for them."""

    @property
    def temperature_(self) -> float:
        """What scores are divided by before they become probabilities: 1 unless fitted for the weights it has now."""
        temperature, weights = self.__dict__.get("_temperature", (1.0, None))
        return float(temperature) if weights is getattr(self, "coef_", None) else 1.0

    @temperature_.setter
    def temperature_(self, value: float) -> None:
        self._temperature = (value, self.__dict__["coef_"])


def lowest_loss(loss: Callable[[float], float], unit: float) -> float:
    """The temperature of the lowest loss; `unit` is about how much scores differ, or 0."""
    from scipy.optimize import minimize_scalar  # takes long to import

    # the scale of scores is arbitrary: look for it first, in powers of 2, then for the lowest point near it
    def of_logarithm(log_temperature: float) -> float:
        return loss(math.exp(log_temperature))

    grid = math.log(unit if unit > 0 else 1.0) + math.log(2) * np.arange(-GRID, GRID + 1)
    lowest = grid[int(np.argmin([of_logarithm(point) for point in grid]))]
    bounds = (lowest - math.log(2), lowest + math.log(2))
    found = minimize_scalar(of_logarithm, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return math.exp(float(found.x))


def temperature_in(meta: dict[str, Any]) -> float:
    """The temperature that a model file says, for sure one; 1 in files that say none."""
    temperature = meta.get("temperature", 1.0)
    must(type(temperature) in (int, float) and 0 < temperature < np.inf, "temperature")
    return float(temperature)
