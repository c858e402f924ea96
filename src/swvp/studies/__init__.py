"""The paper's two studies, and one of taggers: run them, summarise their results, and write reports.

>>> import tempfile
>>> from swvp.studies import SyntheticSettings, run_synthetic, summarise_synthetic, write_report
>>> settings = SyntheticSettings(setups=(1,), datasets=2, sizes=(50, 20, 20), epochs=2, rules=("a-wm",), betas=(1, 2))
>>> with tempfile.TemporaryDirectory() as folder:
...     results = run_synthetic(settings, folder)
...     report = write_report(results, folder)
>>> report.name
'report.html'
>>> summarise_synthetic(results)[0].rules[1].rule
'a-wm'

`swvp experiment` does the same from the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.studies.parsing.settings import ParsingSettings as ParsingSettings
    from swvp.studies.parsing.study import ParsingResults as ParsingResults
    from swvp.studies.parsing.study import run_parsing as run_parsing
    from swvp.studies.parsing.summary import summarise_parsing as summarise_parsing
    from swvp.studies.parsing.treebanks import find_treebanks as find_treebanks
    from swvp.studies.report import load_results as load_results
    from swvp.studies.report import write_report as write_report
    from swvp.studies.synthetic.settings import SyntheticSettings as SyntheticSettings
    from swvp.studies.synthetic.study import SyntheticResults as SyntheticResults
    from swvp.studies.synthetic.study import run_synthetic as run_synthetic
    from swvp.studies.synthetic.summary import summarise_synthetic as summarise_synthetic
    from swvp.studies.tagging.settings import TaggingSettings as TaggingSettings
    from swvp.studies.tagging.settings import find_datasets as find_datasets
    from swvp.studies.tagging.study import TaggingResults as TaggingResults
    from swvp.studies.tagging.study import run_tagging as run_tagging
    from swvp.studies.tagging.summary import summarise_tagging as summarise_tagging

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ParsingResults": "swvp.studies.parsing.study",
        "ParsingSettings": "swvp.studies.parsing.settings",
        "SyntheticResults": "swvp.studies.synthetic.study",
        "SyntheticSettings": "swvp.studies.synthetic.settings",
        "TaggingResults": "swvp.studies.tagging.study",
        "TaggingSettings": "swvp.studies.tagging.settings",
        "find_datasets": "swvp.studies.tagging.settings",
        "find_treebanks": "swvp.studies.parsing.treebanks",
        "load_results": "swvp.studies.report",
        "run_parsing": "swvp.studies.parsing.study",
        "run_synthetic": "swvp.studies.synthetic.study",
        "run_tagging": "swvp.studies.tagging.study",
        "summarise_parsing": "swvp.studies.parsing.summary",
        "summarise_synthetic": "swvp.studies.synthetic.summary",
        "summarise_tagging": "swvp.studies.tagging.summary",
        "write_report": "swvp.studies.report",
    },
)
