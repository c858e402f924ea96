"""The temperature: the divisor of scores in probabilities, p ∝ exp(score / temperature).

A perceptron's scores have an arbitrary scale. The temperature is fitted so that the gold labels of a dev set are most
probable. It changes no prediction, and it belongs to the weights that it was fitted for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from swvp.io.model_files import require

__all__ = ["LEAST", "Tempered", "lowest_loss", "temperature_in"]

LEAST = 1e-300
"""Smaller probabilities are replaced by it in logarithms."""
GRID = 12
"""The grid of the first search has powers of 2 from -GRID to GRID."""


class Tempered:
    """An estimator with weights `coef_` and a temperature for them."""

    @property
    def temperature_(self) -> float:
        """The divisor of scores in probabilities: 1 unless it was fitted for the present weights."""
        temperature, weights = self.__dict__.get("_temperature", (1.0, None))
        return float(temperature) if weights is getattr(self, "coef_", None) else 1.0

    @temperature_.setter
    def temperature_(self, value: float) -> None:
        self._temperature = (value, self.__dict__["coef_"])


def lowest_loss(loss: Callable[[float], float], unit: float) -> float:
    """The temperature with the lowest loss; `unit` is the typical difference of scores, or 0."""
    from scipy.optimize import minimize_scalar  # takes long to import

    # the scale of scores is arbitrary: first a grid of powers of 2, then the minimum near its best point
    def of_logarithm(log_temperature: float) -> float:
        return loss(math.exp(log_temperature))

    grid = math.log(unit if unit > 0 else 1.0) + math.log(2) * np.arange(-GRID, GRID + 1)
    lowest = grid[int(np.argmin([of_logarithm(point) for point in grid]))]
    bounds = (lowest - math.log(2), lowest + math.log(2))
    minimum = minimize_scalar(of_logarithm, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return math.exp(float(minimum.x))


def temperature_in(meta: dict[str, Any]) -> float:
    """The temperature in a model file, 1 if there is none; InputError if it cannot be one."""
    temperature = meta.get("temperature", 1.0)
    require(type(temperature) in (int, float) and 0 < temperature < np.inf, "temperature")
    return float(temperature)
