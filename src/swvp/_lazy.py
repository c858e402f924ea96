"""Public names of a package, each imported when it is first used.

`import swvp` and `swvp --help` should answer at once, but Numba, SciPy and scikit-learn take a second to import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package with the names {name: module it comes from}.

    A name whose module is `package.name` is that module itself.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = importlib.import_module(modules[name])
        return module if modules[name] == f"{package}.{name}" else getattr(module, name)

    return list(modules), get, lambda: sorted(modules)
