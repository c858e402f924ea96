"""Type aliases for the arrays that the whole package works on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ints"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
