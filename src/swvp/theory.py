"""The quantities of the paper's theorems, exact for problems whose outputs can be enumerated."""

from __future__ import annotations

from swvp.learning.theory import *  # noqa: F403
from swvp.learning.theory import __all__ as __all__
