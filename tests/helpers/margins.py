"""The γ of given margins, by the kernels."""

import numpy as np

from swvp.learning.gamma import GAMMAS, normalise, weigh


def gamma_of(scheme, margins, beta=1.0, zero=1e-10, right=0):
    """The γ of some margins, scaled to sum 1 (or all 0)."""
    margins = np.array(margins, float)
    gamma = np.full(len(margins), np.nan)
    weigh(GAMMAS.index(scheme), float(beta), margins, len(margins), right, zero, gamma)
    normalise(gamma, len(margins))
    return gamma
