"""Dependency parsing: how fast our parser is, against UDPipe 1 in the same run, and which update rule wins where.

    pip install '.[benchmarks]'
    python benchmarks/parsing.py speed TRAIN DEV TEST [--order 1] [--epochs 10] [--repeats 3] [--peer-iterations 1]
    python benchmarks/parsing.py growth TRAIN TEST [--order 2] [--plot growth.svg]
    python benchmarks/parsing.py rules FOLDER... [--seeds 3] [--sizes 500,1000,2000,all] [--rules csp,a-wm@0.25]
                                                 [--epochs 10] [--margin 30] [--jobs 2] [--json FILE]

parsing_speed.py, parsing_growth.py and parsing_rules.py explain the figures, and so do the lines below their tables.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import parsing_growth
import parsing_rules
import parsing_speed

from swvp.errors import InputError
from swvp.parsing.options import TUNED_RULES as RULES


def whole_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def size(text: str) -> int | None:
    """A number of sentences, None for all."""
    return None if text == "all" else whole_number(text)


def listed(kind):
    """The parts between commas, each once."""
    return lambda text: list(dict.fromkeys(kind(part) for part in text.split(",")))


def arguments() -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    commands = parser.add_subparsers(dest="command", required=True)

    speed = commands.add_parser("speed", description=parsing_speed.__doc__, formatter_class=formatter)
    for name in ("train", "dev", "test"):
        speed.add_argument(name)
    speed.add_argument("--epochs", type=whole_number, default=10, help="epochs of our trainings")
    speed.add_argument("--repeats", type=whole_number, default=3, help="runs of each program; the best counts")
    speed.add_argument(
        "--peer-iterations", type=int, default=1, help="iterations of UDPipe (its own: 10); 0: leave out"
    )
    speed.add_argument("--order", type=int, choices=(1, 2), default=1, help="of our parser")
    speed.add_argument("--run", choices=parsing_speed.PROGRAMS, help=argparse.SUPPRESS)
    speed.add_argument("--rule", default="csp", help=argparse.SUPPRESS)
    speed.add_argument("--labels", action="store_true", help=argparse.SUPPRESS)
    speed.add_argument("--output", help=argparse.SUPPRESS)

    growth = commands.add_parser("growth", description=parsing_growth.__doc__, formatter_class=formatter)
    for name in ("train", "test"):
        growth.add_argument(name)
    growth.add_argument("--order", type=int, choices=(1, 2), default=2)
    growth.add_argument("--projective", action="store_true")
    growth.add_argument("--epochs", type=whole_number, default=10)
    growth.add_argument("--sizes", type=listed(whole_number), default=[10, 15, 25, 40, 60, 80, 100, 140, 200])
    growth.add_argument("--sentences", type=whole_number, default=40, help="of each size")
    growth.add_argument("--plot", type=Path, help="file for the figure, .svg or .png")

    rules = commands.add_parser("rules", description=parsing_rules.__doc__, formatter_class=formatter)
    rules.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    rules.add_argument("--seeds", type=whole_number, default=3)
    rules.add_argument("--sizes", type=listed(size), default=[500, 1000, 2000, None], help="sentences, or all")
    rules.add_argument(
        "--rules", type=listed(str), default=list(RULES), help="RULE[@β][/MARGIN]; csp is always among them"
    )
    rules.add_argument("--epochs", type=whole_number, default=10, help="epochs; the best on dev is used")
    rules.add_argument("--margin", type=float, default=30.0, help="by which gold arcs must win while learning")
    rules.add_argument("--encoding", default="utf-8")
    rules.add_argument("--jobs", type=whole_number, default=2, help="trainings at once, in threads")
    rules.add_argument("--json", type=Path, help="file of all runs; those it has are not run again")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    try:
        if options.command == "rules":
            parsing_rules.study(options)
        elif options.command == "growth":
            parsing_growth.measure(options)
        elif options.run:
            print(json.dumps(parsing_speed.PROGRAMS[options.run](options)))
        else:
            parsing_speed.compare_speed(options, Path(__file__))
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
