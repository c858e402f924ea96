"""Type aliases for the arrays of the whole package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Flags", "Floats", "Heads", "Ids", "Int32s", "Ints", "Keys", "Singles"]

Ints = NDArray[np.int64]
"""Positions, offsets and counts."""

Floats = NDArray[np.float64]
"""Weights, scores and probabilities."""

Singles = NDArray[np.float32]
"""Numbers for which 24 bits are enough: sums of squares."""

Bools = NDArray[np.bool_]

Ids = NDArray[np.uint32]
"""Numbers of labels, attributes and symbols. Unsigned, so that a kernel need not test an index for being negative."""

Int32s = NDArray[np.int32]

Heads = Int32s
"""The heads of words: 0 for the root, k for word k."""

Flags = NDArray[np.uint8]
"""Bits or truth values, one byte each."""

Keys = NDArray[np.uint64]
"""Hashes of strings and of features."""
