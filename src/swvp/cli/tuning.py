"""Owns `--tune` for someone who watches: a bar while rules are tried, a table of how they did."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from swvp.cli.training import Learner
from swvp.cli.watch import Watch
from swvp.learning.rule import UpdateRule
from swvp.training.training import Training
from swvp.training.tune import Trial, tune

__all__ = ["tune_rules"]


def tune_rules(
    learner: Learner, training: Training, tried: Sequence[UpdateRule], jobs: int, messages: Console
) -> tuple[list[Trial], Training]:
    """Try the rules, show the table, set the learner to the best; all trials and its finished training are returned."""
    messages.print(f"tuning: {len(tried)} trainings of {learner.epochs} passes, {jobs} at a time")
    with Watch(messages) as watch:
        watch.show(0, len(tried))
        trials, best = tune(
            training,
            tried,
            epochs=learner.epochs,
            patience=learner.patience,
            jobs=jobs,
            watch=lambda trial, done: watch.show(done, len(tried)),
        )
    assert training.dev is not None
    messages.print(tuning_table(trials, training.dev.metric))
    learner.rule, learner.beta = best.rule.name, best.rule.beta
    return trials, best


def tuning_table(trials: Sequence[Trial], metric: str) -> Table:
    """The trials, the best first."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("rule", "β", f"dev {metric}", "pass", "back-offs", "cond. 2", "seconds"):
        table.add_column(heading, justify="left" if heading == "rule" else "right", no_wrap=True)
    for trial in sorted(trials, key=lambda trial: -trial.score):
        table.add_row(
            trial.rule.name,
            f"{trial.rule.beta:g}" if trial.rule.uses_beta else "",
            f"{100 * trial.score:.2f}",
            str(trial.epoch),
            f"{100 * trial.rate('back_offs'):.1f} %",
            f"{100 * trial.rate('condition_2_failures'):.1f} %",
            f"{trial.seconds:.1f}",
            style="bold" if trial is max(trials, key=lambda trial: trial.score) else None,
        )
    return table
