"""The algorithm, update by update: what `learner.trace` yields, and a training as a file that a page can play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.tracing.export import export_trace as export_trace
    from swvp.tracing.export import write_player as write_player
    from swvp.tracing.lessons import Lesson as Lesson
    from swvp.tracing.lessons import lesson as lesson
    from swvp.tracing.trace import Trace as Trace
    from swvp.tracing.update import MixedAssignment as MixedAssignment
    from swvp.tracing.update import Scores as Scores
    from swvp.tracing.update import Update as Update
    from swvp.tracing.update import WeightChange as WeightChange

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Lesson": "swvp.tracing.lessons",
        "MixedAssignment": "swvp.tracing.update",
        "Scores": "swvp.tracing.update",
        "Trace": "swvp.tracing.trace",
        "Update": "swvp.tracing.update",
        "WeightChange": "swvp.tracing.update",
        "export_trace": "swvp.tracing.export",
        "lesson": "swvp.tracing.lessons",
        "write_player": "swvp.tracing.export",
    },
)
