"""`swvp experiment`: the paper's studies from the command line."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swvp.cli.options import (
    MAX_BYTES,
    ClusterOptions,
    Command,
    Encoding,
    Group,
    Load,
    MaxBytes,
    floats,
    integers,
    load_python,
    names,
    takes_options,
)
from swvp.cli.terminal import new_console, print_message

if TYPE_CHECKING:
    from swvp.studies.report import Settings

__all__ = ["app"]

app = typer.Typer(cls=Group, help="Repeat the paper's studies, or compare rules on your data.", no_args_is_help=True)

RULES = """
A rule is csp (the structured perceptron), csp:ada, mira, or
APPROACH-GAMMA[:SUBSTRUCTURES][:STEP][:FLAG], with

  approach: a (aggressive: violations only), b (balanced: all)

  gamma: wm, wmr, uniform, softmin, worst, optimal, maxent,
  wmr-printed, or your own (--load)

  substructures: single (default), full, segments, pairs, triples,
  prefixes, single+full, all (subtrees and components: trees only)

  step: unit (default), sqrt, count, mira, ada (adaptive)

  flag: impose (enforce γ condition 2), literal (update even without
  a violation), parts (second-order trees)

2xcsp..a-wm is a schedule: csp for 2 epochs, then a-wm.

"""

SYNTHETIC = f"""{RULES}
Examples:

  swvp experiment synthetic

  swvp experiment synthetic --quick --fresh --rules csp,a-wm:segments:sqrt

  swvp experiment synthetic --setups 1 --hmm per-dataset -o other-hmms

  swvp experiment synthetic --quick --load my_gamma.py --rules a-mine --fresh
"""

PARSING = f"""{RULES.replace("all (subtrees and components: trees only)", "all, subtrees, components")}
RULE@β sets β and RULE/MARGIN a margin, as in csp/30 or a-wm@0.5/1.

Rules by default: csp, b-wm:parts, a-wm, b-wmr, a-wmr, a-uniform:mira/1,
a-uniform:components:mira/1, a-uniform:sqrt/30, csp/30, mira/1.

Examples:

  swvp experiment parsing UD_Greek-GDT UD_Italian-ParTUT

  swvp experiment parsing es=esp.train,esp.test --sample-dev --orders 1

  swvp experiment parsing es=esp.train,esp.test --paper

  swvp experiment parsing UD_Greek-GDT --quick --fresh --rules csp,b-wm,mira/1

  swvp experiment parsing UD_Greek-GDT --rules csp/30,a-wm/1 -o margins
"""

TAGGING = f"""{RULES.replace(" (subtrees and components: trees only)", "").replace(", parts (second-order trees)", "")}
Any other --rule of `swvp train tagger` works too: mira:K, softmax, crf, and
b-maxent:all:K, which mixes the labels of the K best outputs.
RULE@β sets β, RULE/MARGIN a margin, RULE+OPTION=VALUE another option of the
tagger, as in mira:5+C=0.01.

A dataset may have options of its own: encoding, target (CoNLL-U), column
(column files), columns (as word+pos), features.

Examples:

  swvp experiment tagging conll2000

  swvp experiment tagging es=esp.train,esp.testa,esp.testb --encoding iso-8859-1

  swvp experiment tagging conll2000 UD_English-EWT,target=upos --seeds 5

  swvp experiment tagging conll2000 --quick --fresh --rules a-wm,mira:10+C=0.1
"""

Epochs = Annotated[int | None, typer.Option(help="Number of epochs of each training.", show_default="10")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Number of threads.", show_default="all cores")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Replace an earlier study in the folder instead of resuming it.")]
WIDE = 160  # columns where the output is not a terminal
CONTROL_HELP = "Also train CSP on as many random orders as there are β values, and choose the best on the dev set."


@dataclass(kw_only=True)
class SyntheticOptions(ClusterOptions):
    """The options of `swvp experiment synthetic`."""

    setups: Annotated[str | None, typer.Option(help="The paper's setups to run.", show_default="1,2,3")] = None
    datasets: Annotated[int | None, typer.Option(help="Datasets per setup.", show_default="10")] = None
    sizes: Annotated[
        str | None, typer.Option(help="Sequences in the training, dev and test set.", show_default="7000,2000,1000")
    ] = None
    epochs: Epochs = None
    betas: Annotated[
        str | None, typer.Option(help="β values, as a list or FIRST:LAST:STEP.", show_default="0.5:5:0.5")
    ] = None
    rules: Annotated[
        str | None,
        typer.Option(help="Update rules, see below. CSP is always run.", show_default="csp,a-wm,a-wmr,b-wm,b-wmr"),
    ] = None
    hmm: Annotated[
        str | None, typer.Option(help="Draw a new HMM per-setup or per-dataset.", show_default="per-setup")
    ] = None
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Use a new random order of the examples in each epoch.")
    ] = False
    control: Annotated[bool, typer.Option(help=CONTROL_HELP)] = True
    seed: Annotated[int, typer.Option(help="Seed of the HMMs, the samples and the random orders.")] = 0
    jobs: Jobs = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the results.", show_default="swvp-synthetic, or -quick"),
    ] = None
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="A small study in seconds: 3 datasets of 1400,400,200 sequences, 5 epochs, 4 β values."
        ),
    ] = False
    fresh: Fresh = False
    load: Load = None


@app.command(epilog=SYNTHETIC, cls=Command)
@takes_options
def synthetic(given: SyntheticOptions) -> None:
    """Repeat Table 1: CSP and SWVP on data from HMMs, with β tuned on dev sets.

    Writes results.json (every run) and report.html (tables and figures).
    Ctrl-C stops the study; the same command resumes it.
    """
    from swvp.studies.synthetic.settings import FULL, QUICK

    values = {
        "loaded": None if given.load is None else load_python(given.load),
        "setups": integers("setups", given.setups),
        "sizes": integers("sizes", given.sizes),
        "betas": floats("betas", given.betas),
        "rules": names(given.rules),
        **{name: getattr(given, name) for name in ("datasets", "epochs", "hmm", "shuffle", "control", "seed")},
    }
    changed = {name: value for name, value in values.items() if value is not None}
    settings = dataclasses.replace(QUICK if given.quick else FULL, **changed)
    run_study(settings, folder_of(given.output, "synthetic", given.quick), given)


@dataclass(kw_only=True)
class DatasetStudyOptions(ClusterOptions):
    """The options that the studies on datasets of the user share."""

    sentences: Annotated[
        int | None, typer.Option(help="Train on a random sample of this number of sentences.", show_default="all")
    ] = None
    sample_dev: Annotated[
        bool,
        typer.Option("--sample-dev", help="Sample the dev set from the training set, even if there is a dev file."),
    ] = False
    dev_sentences: Annotated[
        int | None,
        typer.Option(help="Size of a sampled dev set.", show_default="a tenth of the training set, at most 1000"),
    ] = None
    seed: Annotated[int, typer.Option(help="First seed of the trainings; also the seed of samples.")] = 0
    jobs: Jobs = None
    max_bytes: MaxBytes = MAX_BYTES
    fresh: Fresh = False
    load: Load = None


@dataclass(kw_only=True)
class ParsingSetup:
    """The data, rules and model of the parsing study, and its folder."""

    treebanks: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]TREEBANK...",
            help="Folders with files whose names end in train, dev (optional) and test before the extension; or "
            "files, as TRAIN,DEV,TEST or TRAIN,TEST. CoNLL-U or CoNLL-X.",
            show_default=False,
        ),
    ]
    orders: Annotated[str | None, typer.Option(help="Orders of the parser.", show_default="1,2")] = None
    rules: Annotated[
        str | None,
        typer.Option(
            help="Update rules, see below. CSP is always run.",
            show_default="the 10 named below",
        ),
    ] = None
    betas: Annotated[
        str | None, typer.Option(help="β values, as a list or FIRST:LAST:STEP.", show_default="0.5,1,2,4")
    ] = None
    epochs: Epochs = None
    seeds: Annotated[
        int | None,
        typer.Option(help="Number of seeds; each rule and β is trained with each of them.", show_default="1"),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(help="A preset of feature templates for each order.", show_default="first-order,second-order"),
    ] = None
    prune_heads: Annotated[
        int | None, typer.Option(help="Order 2: largest number of heads to consider for a word.")
    ] = None
    prune_threshold: Annotated[
        float | None, typer.Option(help="Order 2: least probability of a head, relative to the best head.")
    ] = None
    shuffle: Annotated[
        bool | None,
        typer.Option(
            "--shuffle/--no-shuffle",
            help="Use a new random order of the sentences in each epoch.",
            show_default="shuffle",
        ),
    ] = None
    projective: Annotated[bool, typer.Option("--projective", help="Predict only projective trees.")] = False
    hashed: Annotated[int | None, typer.Option(help="Hash size, a power of 2.", show_default="4194304")] = None
    control: Annotated[
        bool | None, typer.Option("--control/--no-control", help=CONTROL_HELP, show_default="control")
    ] = None
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's protocol: CSP and B-WM, 1000 sampled dev sentences, β = 0.5, 1, …, 5, and "
            "TurboParser's templates, pruning and order of sentences. Other options override it.",
        ),
    ] = False
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the results.", show_default="swvp-parsing, or -quick"),
    ] = None
    quick: Annotated[
        bool, typer.Option("--quick", help="A small study: 300 training sentences, 3 epochs, 2 β values.")
    ] = False


@dataclass(kw_only=True)
class ParsingOptions(DatasetStudyOptions, ParsingSetup):
    """The options of `swvp experiment parsing`."""


@app.command(epilog=PARSING, cls=Command)
@takes_options
def parsing(given: ParsingOptions) -> None:
    """Repeat Table 2: CSP and SWVP in dependency parsing, with β tuned on dev sets.

    Writes results.json (every run) and report.html (tables and figures).
    Ctrl-C stops the study; the same command resumes it.
    """
    from swvp.studies.parsing.settings import ParsingSettings, protocol
    from swvp.studies.parsing.treebanks import find_treebanks

    same_names = ("epochs", "seeds", "sentences", "dev_sentences", "prune_heads", "prune_threshold", "shuffle")
    values = {
        "loaded": None if given.load is None else load_python(given.load),
        "orders": integers("orders", given.orders),
        "rules": names(given.rules),
        "betas": floats("betas", given.betas),
        "features": names(given.features),
        "sample_dev": given.sample_dev or None,
        **{name: getattr(given, name) for name in (*same_names, "projective", "hashed", "control", "seed")},
    }
    arguments = protocol(paper=given.paper, quick=given.quick, given=values)
    settings = ParsingSettings(treebanks=find_treebanks(given.treebanks), **arguments)
    tell_sampled([source.name for source in settings.treebanks if settings.samples(source)], asked=settings.sample_dev)
    folder = folder_of(given.output, "parsing-paper" if given.paper else "parsing", given.quick)
    run_study(settings, folder, given)


@dataclass(kw_only=True)
class TaggingSetup:
    """The data, rules and model of the tagging study, and its folder."""

    datasets: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]DATASET...",
            help="Folders with files whose names end in train, dev (optional) and test before the extension; or "
            "files, as TRAIN,DEV,TEST or TRAIN,TEST. Column files or CoNLL-U.",
            show_default=False,
        ),
    ]
    rules: Annotated[
        str | None,
        typer.Option(
            help="Update rules, see below. CSP is always run.",
            show_default="csp, a-wm, b-wm, a-wmr, b-wmr, a-wm:segments:sqrt, b-softmin:all, b-maxent:all, mira, "
            "mira:10, b-maxent:all:mira, csp:ada, b-maxent:all:ada, softmax",
        ),
    ] = None
    betas: Annotated[
        str | None, typer.Option(help="β values, as a list or FIRST:LAST:STEP.", show_default="0.25,0.5,1,2")
    ] = None
    seeds: Annotated[
        int | None,
        typer.Option(help="Number of seeds; each rule and β is trained with each of them.", show_default="3"),
    ] = None
    epochs: Annotated[
        int | None, typer.Option(help="Largest number of epochs; the best on the dev set is used.", show_default="10")
    ] = None
    target: Annotated[str | None, typer.Option(help="CoNLL-U: the column to learn: upos, xpos, feats or deprel.")] = (
        None
    )
    column: Annotated[
        int | None, typer.Option(help="Column files: number of the label column, from 0.", show_default="-1, the last")
    ] = None
    column_names: Annotated[
        str | None,
        typer.Option("--columns", help="Columns that features are made from, such as word,pos.", show_default="all"),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(help="Preset (pos, chunk, ner) or file of templates.", show_default="chosen from the labels"),
    ] = None
    options: Annotated[
        str | None,
        typer.Option(
            help="Other options of the tagger for all trainings, by their names in Python, such as order=2,patience=3.",
            metavar="NAME=VALUE,...",
        ),
    ] = None
    encoding: Encoding = "utf-8"
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the results.", show_default="swvp-tagging, or -quick"),
    ] = None
    quick: Annotated[
        bool, typer.Option("--quick", help="A small study: 500 training sentences, 3 epochs, 2 β values, 2 seeds.")
    ] = False


@dataclass(kw_only=True)
class TaggingOptions(DatasetStudyOptions, TaggingSetup):
    """The options of `swvp experiment tagging`."""


@app.command(epilog=TAGGING, cls=Command)
@takes_options
def tagging(given: TaggingOptions) -> None:
    """Compare rules in tagging: CSP, MIRA, SWVP and others, with β tuned on dev sets.

    Writes results.json (every run), scores.csv, report.txt and report.html.
    Ctrl-C stops the study; the same command resumes it.
    """
    from swvp.studies.common.rules import option
    from swvp.studies.tagging.settings import QUICK, TaggingSettings, find_datasets

    same_names = ("seeds", "epochs", "sentences", "dev_sentences", "seed")
    values = {
        "loaded": None if given.load is None else load_python(given.load),
        "rules": names(given.rules),
        "betas": floats("betas", given.betas),
        "sample_dev": given.sample_dev or None,
        "options": None if given.options is None else dict(option(part) for part in names(given.options) or ()),
        **{name: getattr(given, name) for name in same_names},
    }
    datasets = find_datasets(
        given.datasets,
        encoding=None if given.encoding == "utf-8" else given.encoding,
        target=given.target,
        column=None if given.column is None else str(given.column),
        columns=None if given.column_names is None else "+".join(names(given.column_names) or ()),
        features=given.features,
    )
    changed = {name: value for name, value in values.items() if value is not None}
    settings = TaggingSettings(datasets=datasets, **(QUICK if given.quick else {}) | changed)
    tell_sampled([dataset.name for dataset in datasets if settings.samples(dataset)], asked=settings.sample_dev)
    run_study(settings, folder_of(given.output, "tagging", given.quick), given)


def tell_sampled(names: list[str], *, asked: bool) -> None:
    """Say which dev sets are sampled, unless the user asked for it."""
    if names and not asked:
        print_message(f"no dev file for {', '.join(names)}: the dev set is sampled from the training set")


def folder_of(output: Path | None, study: str, quick: bool) -> Path:
    """Return the folder for the results."""
    return output if output is not None else Path(f"swvp-{study}-quick" if quick else f"swvp-{study}")


def run_study(settings: Settings, folder: Path, given: SyntheticOptions | DatasetStudyOptions) -> None:
    """Run or resume a study in a folder, write its report there, and print its tables."""
    from swvp.cli.progress import Watch
    from swvp.studies.common.running import finished_runs
    from swvp.studies.report import REPORT, RESULTS, study_of, write_report
    from swvp.training.options import available_cores

    study = study_of(settings)
    console, messages = new_console(width=WIDE), new_console(stderr=True)
    is_started = False
    try:
        with Watch(messages) as watch, given.opened(messages.print) as workers:

            def progress(done: int, total: int) -> None:
                nonlocal is_started
                if not is_started:
                    is_started = True
                    messages.print(start_message(settings.epochs, folder, done, total))
                watch.show(done, total)

            jobs = available_cores() if given.jobs is None else given.jobs
            results = study.run(settings, folder, jobs=jobs, fresh=given.fresh, progress=progress, workers=workers)
            summaries = study.summarise(results)
            write_report(results, folder, summaries=summaries)
    except KeyboardInterrupt:
        total = len(study.trainings(settings))
        messages.print(
            f"stopped: {finished_runs(folder):,} of {total:,} trainings are saved in {folder}; "
            "the same command resumes from there"
        )
        raise typer.Exit(130) from None
    study.print_tables(console, summaries)
    console.print(f"\nReport: {folder / REPORT}\nEvery run: {folder / RESULTS}", soft_wrap=True)


def start_message(epochs: int, folder: Path, done: int, total: int) -> str:
    if done == total:
        return f"all {total:,} trainings are in {folder} already: nothing to run"
    message = f"{total - done:,} trainings of {epochs} epochs, into {folder}"
    return f"{message}; {done:,} are there already" if done else message
