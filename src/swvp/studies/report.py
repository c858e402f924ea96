"""All studies behind one interface: run, summarise, write the report, print the tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from swvp.errors import InputError, escaped
from swvp.io.files import read_bytes, write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from swvp.studies.common.running import FinishedRun
    from swvp.studies.parsing.settings import ParsingSettings
    from swvp.studies.parsing.study import ParsingResults
    from swvp.studies.synthetic.settings import SyntheticSettings
    from swvp.studies.synthetic.study import SyntheticResults
    from swvp.studies.tagging.settings import TaggingSettings
    from swvp.studies.tagging.study import TaggingResults

    Settings = SyntheticSettings | ParsingSettings | TaggingSettings
    Results = SyntheticResults | ParsingResults | TaggingResults

__all__ = ["REPORT", "RESULTS", "Study", "load_results", "study_called", "study_of", "write_report"]

RESULTS, REPORT, TEXT, SCORES = "results.json", "report.html", "report.txt", "scores.csv"
WIDTH = 100  # columns of the text


class Study(NamedTuple):
    """The functions of a study; they take its settings, its results or its summaries."""

    run: Callable[..., Any]
    trainings: Callable[[Any], Sequence[Any]]
    summarise: Callable[[Any], Any]
    render: Callable[[Any, Any], str]
    print_tables: Callable[[Console, Any], None]
    results_from_json: Callable[[dict[str, Any]], Any]


def study_called(name: str) -> Study:
    """Return the study "synthetic", "parsing" or "tagging"; only its own modules are imported."""
    if name == "synthetic":
        from swvp.studies.synthetic.page import render_synthetic
        from swvp.studies.synthetic.study import SyntheticResults, run_synthetic
        from swvp.studies.synthetic.study import trainings as synthetic_trainings
        from swvp.studies.synthetic.summary import summarise_synthetic
        from swvp.studies.synthetic.tables import print_tables as print_synthetic

        return Study(
            run_synthetic,
            synthetic_trainings,
            summarise_synthetic,
            render_synthetic,
            print_synthetic,
            SyntheticResults.from_json,
        )
    if name == "parsing":
        from swvp.studies.parsing.page import render_parsing
        from swvp.studies.parsing.study import ParsingResults, run_parsing
        from swvp.studies.parsing.study import trainings as parsing_trainings
        from swvp.studies.parsing.summary import summarise_parsing
        from swvp.studies.parsing.terminal import print_tables as print_parsing

        return Study(
            run_parsing, parsing_trainings, summarise_parsing, render_parsing, print_parsing, ParsingResults.from_json
        )
    if name == "tagging":
        from swvp.studies.tagging.page import print_tables as print_tagging
        from swvp.studies.tagging.page import render_tagging
        from swvp.studies.tagging.study import TaggingResults, run_tagging
        from swvp.studies.tagging.study import trainings as tagging_trainings
        from swvp.studies.tagging.summary import summarise_tagging

        return Study(
            run_tagging, tagging_trainings, summarise_tagging, render_tagging, print_tagging, TaggingResults.from_json
        )
    raise InputError(f"unknown study '{name}'; known: synthetic, parsing, tagging")


def study_of(settings: Settings) -> Study:
    """Return the study that settings belong to."""
    return study_called(settings.to_json()["study"])


def write_report(results: Results, folder: str | Path, *, summaries: Any = None) -> Path:
    """Write results.json (every run), scores.csv (a line for each run), report.txt and the HTML report of a study.

    Parameters
    ----------
    results : SyntheticResults, ParsingResults or TaggingResults
        From `run_synthetic`, `run_parsing` or `run_tagging`.
    folder : str or Path
        Where to write; it must exist.
    summaries : optional
        From `summarise_synthetic`, `summarise_parsing` or `summarise_tagging`. Computed if not given.

    Returns
    -------
    Path
        The report: one HTML file that needs no other files and no network.
    """
    study = study_called(results.header["study"])
    summaries = study.summarise(results) if summaries is None else summaries
    report = Path(folder) / REPORT
    write_whole(Path(folder) / RESULTS, json.dumps(results.to_json(), ensure_ascii=False) + "\n")
    write_whole(Path(folder) / SCORES, scores_of(results))
    write_whole(Path(folder) / TEXT, text_of(study, summaries))
    write_whole(report, study.render(results, summaries))
    return report


def scores_of(results: Results) -> str:
    """Return a table of all runs, separated by commas: what identifies each, and its scores as shares."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    runs: Sequence[FinishedRun] = results.runs
    for k, run in enumerate(runs):
        fields = {**run.training._asdict(), **run.scores}
        if k == 0:
            writer.writerow(fields)
        writer.writerow("" if value is None else value for value in fields.values())
    return file.getvalue()


def text_of(study: Study, summaries: Any) -> str:
    """Return the tables of the terminal as plain text."""
    from rich.console import Console

    file = io.StringIO()
    study.print_tables(Console(file=file, width=WIDTH, markup=False, highlight=False), summaries)
    return escaped(file.getvalue(), keep="\n")


def load_results(path: str | Path) -> Results:
    """Read the results of a study.

    Parameters
    ----------
    path : str or Path
        A results.json that `write_report` wrote. Rules that users registered must be registered again.

    Returns
    -------
    SyntheticResults, ParsingResults or TaggingResults
        As `run_synthetic`, `run_parsing` or `run_tagging` returned them.

    Raises
    ------
    InputError
        If the file cannot be read or is not the results of a study.
    """
    try:
        fields = json.loads(read_bytes(path))
        results: Results = study_called(fields["settings"]["study"]).results_from_json(fields)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not the {RESULTS} of a study") from None
    return results
