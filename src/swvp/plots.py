"""Plots of trainings and predictions, as Matplotlib axes.

>>> from swvp import plots
>>> axes = plots.beta_curve({"a-wm": {0.5: 91.2, 1.0: 91.4, 2.0: 91.1}, "csp": {None: 90.8}}, metric="F1")
>>> axes.get_xlabel()
'β'
>>> axes.figure.savefig("by-beta.png")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.studies.plots import beta_curve as beta_curve
    from swvp.studies.plots import calibration as calibration
    from swvp.studies.plots import confusion_matrix as confusion_matrix
    from swvp.studies.plots import gamma_margins as gamma_margins
    from swvp.studies.plots import learning_curve as learning_curve
    from swvp.studies.plots import weights_over_time as weights_over_time

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    dict.fromkeys(
        (
            "beta_curve",
            "calibration",
            "confusion_matrix",
            "gamma_margins",
            "learning_curve",
            "weights_over_time",
        ),
        "swvp.studies.plots",
    ),
)
