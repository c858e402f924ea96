"""Where tasks run: `Cluster` connects to Dask, for studies on many machines; `Threads` are those of this process.

`import swvp` never imports Dask: a `Cluster` does when it is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.cluster.connect import Cluster as Cluster
    from swvp.cluster.threads import Threads as Threads

__all__, __getattr__, __dir__ = lazy_names(
    __name__, {"Cluster": "swvp.cluster.connect", "Threads": "swvp.cluster.threads"}
)
