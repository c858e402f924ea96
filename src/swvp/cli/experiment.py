"""Owns `swvp experiment …`: the paper's studies from the shell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from swvp.cli import options
from swvp.cli.options import floats, integers, names

__all__ = ["app"]

app = typer.Typer(help="Redo the paper's experiments.", no_args_is_help=True)

RULES = """
A rule is csp, mira, or APPROACH-GAMMA[:SUBSTRUCTURES][:STEP][:FLAG]; 2xcsp..a-wm is csp for 2 epochs, then a-wm:

  approach: a (aggressive: violations only), b (balanced: all)

  gamma: wm, wmr, uniform, softmin, worst, optimal, wmr-printed, or one of yours (--load)

  substructures: single, full, segments, pairs, triples, prefixes, single+full, all
  (subtrees and components are for trees)

  step: unit, sqrt, count, mira

  flag: impose (keep γ condition 2), literal (also without a violation), parts (second-order trees)

"""

SYNTHETIC = f"""{RULES}
Examples:

  swvp experiment synthetic

  swvp experiment synthetic --quick --fresh --rules csp,a-wm,a-wm:segments:sqrt

  swvp experiment synthetic --setups 1 --betas 0.5:5:0.5 --hmm per-dataset --output other-hmms

  swvp experiment synthetic --quick --fresh --load my_gamma.py --rules csp,a-mine
"""

PARSING = f"""{RULES.replace("  (subtrees and components are for trees)", "  subtrees, components")}
RULE@β has this β only, RULE/MARGIN a margin: csp/30, a-wm@0.5/1

Examples:

  swvp experiment parsing UD_Greek-GDT UD_Italian-ParTUT

  swvp experiment parsing es=esp.train,esp.test --sample-dev --orders 1

  swvp experiment parsing es=esp.train,esp.test --paper

  swvp experiment parsing UD_Greek-GDT --quick --fresh --rules csp,b-wm,mira/1

  swvp experiment parsing UD_Greek-GDT --rules csp/30,a-uniform:mira/1 --betas 0.25,0.5,1 -o margins
"""


Epochs = Annotated[int | None, typer.Option(help="Passes over the training set.", show_default="10")]
Control = Annotated[
    bool, typer.Option(help="Also train CSP on as many random orders as there are β values, and take the best.")
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Threads.", show_default="all cores")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew: replace the study in the folder.")]
Load = Annotated[Path | None, typer.Option(help="A Python file of yours to run first; it may register a γ or a JJ.")]


@app.command(epilog=SYNTHETIC)
def synthetic(
    setups: Annotated[str | None, typer.Option(help="Which of the paper's setups.", show_default="1,2,3")] = None,
    datasets: Annotated[int | None, typer.Option(help="Datasets per setup.", show_default="10")] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Items for training, development and test.", show_default="7000,2000,1000")
    ] = None,
    epochs: Epochs = None,
    betas: Annotated[
        str | None, typer.Option(help="β values, as a list or FIRST:LAST:STEP.", show_default="0.5:5:0.5")
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Update rules by their short names, see below. CSP is always run.",
            show_default="csp,a-wm,a-wmr,b-wm,b-wmr",
        ),
    ] = None,
    hmm: Annotated[
        str | None, typer.Option(help="Draw the HMM per-setup or per-dataset.", show_default="per-setup")
    ] = None,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="A new random order of the items in each pass.")] = False,
    control: Control = True,
    seed: Annotated[int, typer.Option(help="Decides the HMMs, the samples and the orders.")] = 0,
    jobs: Jobs = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the results.", show_default="swvp-synthetic, or -quick"),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="A small study in seconds: 3 datasets of 1400,400,200 items, 5 epochs, 4 β values."
        ),
    ] = False,
    fresh: Fresh = False,
    load: Load = None,
) -> None:
    """Table 1: HMM data, CSP against SWVP, β tuned on development sets, beside the best that is possible.

    Writes results.json (every single run) and report.html (tables and plots).
    Ctrl-C keeps what is finished; the same command goes on from there.
    """
    import dataclasses

    from swvp.cli.study import load_python, run_synthetic
    from swvp.studies.synthetic.study import FULL, QUICK

    given: dict[str, Any] = {
        "loaded": None if load is None else load_python(load),
        "setups": integers("setups", setups),
        "datasets": datasets,
        "sizes": integers("sizes", sizes),
        "epochs": epochs,
        "betas": floats("betas", betas),
        "rules": names(rules),
        "hmm": hmm,
        "shuffle": shuffle,
        "control": control,
        "seed": seed,
    }
    settings = dataclasses.replace(QUICK if quick else FULL, **{k: v for k, v in given.items() if v is not None})
    run_synthetic(settings, folder_of(output, "synthetic", quick), jobs=jobs, fresh=fresh)


@app.command(epilog=PARSING)
def parsing(
    treebanks: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]TREEBANK...",
            help="Folders with files whose names end in train, dev (or none) and test before the extension; or files, "
            "as TRAIN,DEV,TEST or TRAIN,TEST. CoNLL-U or CoNLL-X.",
            show_default=False,
        ),
    ],
    orders: Annotated[str | None, typer.Option(help="Orders of the parser.", show_default="1,2")] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Update rules by their short names, see below. CSP is always run.",
            show_default="csp,b-wm:parts,a-wm,b-wmr,a-wmr, a-uniform:mira/1, "
            "a-uniform:components:mira/1,a-uniform:sqrt/30, csp/30,mira/1",
        ),
    ] = None,
    betas: Annotated[
        str | None, typer.Option(help="β values, as a list or FIRST:LAST:STEP.", show_default="0.5,1,2,4")
    ] = None,
    epochs: Epochs = None,
    sentences: Annotated[
        int | None, typer.Option(help="Learn from so many random training sentences only.", show_default="all")
    ] = None,
    sample_dev: Annotated[
        bool,
        typer.Option(
            "--sample-dev",
            help="Sample development sentences from the training set as the paper does, whatever files there are.",
        ),
    ] = False,
    dev_sentences: Annotated[
        int | None,
        typer.Option(
            help="How many development sentences to sample, where they are sampled.", show_default="a tenth, ≤ 1000"
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help="A preset for each of the orders.", show_default="first-order,second-order"),
    ] = None,
    prune_heads: Annotated[int | None, typer.Option(help="Order 2: heads kept for a word, at most.")] = None,
    prune_threshold: Annotated[
        float | None, typer.Option(help="Order 2: probability of a head, in relation to the best one, at least.")
    ] = None,
    shuffle: Annotated[
        bool | None, typer.Option("--shuffle/--no-shuffle", help="A new random order of the sentences in each pass.")
    ] = None,
    projective: Annotated[bool, typer.Option("--projective", help="Only trees without crossing arcs.")] = False,
    hashed: Annotated[int | None, typer.Option(help="How many weights; a power of 2.", show_default="4194304")] = None,
    control: Annotated[
        bool | None,
        typer.Option(
            "--control/--no-control",
            help="Also train CSP on as many random orders as there are β values, and take the best.",
            show_default="control",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides the samples and the orders of the sentences.")] = 0,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's protocol: CSP and B-WM, 1000 sampled development sentences, β = 0.5, 1, …, 5, and "
            "TurboParser's templates, pruning and order of sentences. Other options still count.",
        ),
    ] = False,
    jobs: Jobs = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the results.", show_default="swvp-parsing, or -quick"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small study: 300 training sentences, 3 epochs, 2 β values.")
    ] = False,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    fresh: Fresh = False,
    load: Load = None,
) -> None:
    """Table 2: dependency parsing, CSP against SWVP, β tuned on development sets, with significance tests.

    Writes results.json (every single run) and report.html (tables and plots).
    Ctrl-C keeps what is finished; the same command goes on from there.
    """
    from swvp.cli.study import load_python, run_parsing
    from swvp.studies.parsing.study import PAPER, QUICK, Settings
    from swvp.studies.parsing.treebanks import find_sources

    given: dict[str, Any] = {
        "loaded": None if load is None else load_python(load),
        "orders": integers("orders", orders),
        "rules": names(rules),
        "betas": floats("betas", betas),
        "epochs": epochs,
        "sentences": sentences,
        "sample_dev": sample_dev or None,
        "dev_sentences": dev_sentences,
        "features": names(features),
        "prune_heads": prune_heads,
        "prune_threshold": prune_threshold,
        "shuffle": shuffle,
        "projective": projective,
        "hashed": hashed,
        "control": control,
        "seed": seed,
    }
    protocol = (PAPER if paper else {}) | (QUICK if quick else {})
    if paper and quick:
        protocol |= {"dev_sentences": 100}
    chosen = protocol | {k: v for k, v in given.items() if v is not None}
    if paper and features is None and orders is not None:
        chosen["features"] = tuple(PAPER["features"][order - 1] for order in chosen["orders"] if order in (1, 2))
    settings = Settings(treebanks=find_sources(treebanks), **chosen)
    run_parsing(settings, folder_of(output, "parsing-paper" if paper else "parsing", quick), jobs=jobs, fresh=fresh)


def folder_of(output: Path | None, study: str, quick: bool) -> Path:
    """Where the results go."""
    return output if output is not None else Path(f"swvp-{study}-quick" if quick else f"swvp-{study}")
