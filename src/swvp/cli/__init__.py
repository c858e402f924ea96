"""The command line: commands parse options, call the library and print. An input error is one line and exit code 2.

Nothing heavy is imported before a command runs, so that help and version answer at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import warnings
from typing import Annotated

import typer

from swvp._version import __version__
from swvp.cli import (
    evaluate,
    experiment,
    explain_update,
    inspect,
    parse,
    predict,
    serve,
    train,
    train_parser,
    train_pipeline,
    train_tagger,
    warmup,
)
from swvp.cli.compiling import watch_compiler
from swvp.cli.options import Command, Group
from swvp.cli.terminal import EXIT_CODE, Interrupted, guard_streams, interruptible, print_message
from swvp.errors import InputError

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Group,
    help="Structured prediction with the Structured Weighted Violations Perceptron.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command, examples in (
    (train_tagger.tagger, train_tagger.EXAMPLES),
    (train_parser.parser, train_parser.EXAMPLES),
    *train_pipeline.COMMANDS,
):
    train.app.command(epilog=examples, cls=Command)(command)
app.add_typer(train.app, name="train")
app.command(epilog=parse.EXAMPLES, cls=Command)(parse.parse)
app.command(epilog=predict.EXAMPLES, cls=Command)(predict.predict)
app.command(epilog=evaluate.EXAMPLES, cls=Command)(evaluate.evaluate)
app.command(epilog=inspect.EXAMPLES, cls=Command)(inspect.inspect)
app.command("explain-update", epilog=explain_update.EXAMPLES, cls=Command)(explain_update.explain_update)
app.command(epilog=serve.EXAMPLES, cls=Command)(serve.serve)
app.add_typer(experiment.app, name="experiment")
app.command(epilog=warmup.EXAMPLES, cls=Command)(warmup.warmup)


def show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"swvp {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Structured prediction with the Structured Weighted Violations Perceptron."""


def show_warning(message: Warning | str, *_: object) -> None:
    """Print a warning of the library as one line."""
    print_message(f"note: {message}")


def collect_garbage_rarely() -> None:
    """Spare the process most searches for garbage, which take a third of its start and end.

    Imports create hundreds of thousands of objects that are all in use. At the end, memory is given back anyway.
    """
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)


def main() -> None:
    """Run the command line; input errors end in one line and exit code 2."""
    collect_garbage_rarely()
    guard_streams()
    warnings.showwarning = show_warning  # type: ignore[assignment]
    try:
        try:
            with interruptible(), watch_compiler():
                app()
        finally:
            sys.stdout.flush()
    except Interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C would disturb the end of the process
        print_message("swvp: stopped")
        sys.exit(EXIT_CODE)
    except InputError as error:
        print_message(f"swvp: {error}")
        sys.exit(2)
    except MemoryError as error:
        print_message(f"swvp: not enough memory: {' '.join(str(error).split()) or 'give less data'}")
        sys.exit(2)
    except BrokenPipeError:  # the reader has closed the pipe, as in `swvp … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # an error that no command handles, such as a disk that cannot be read
        print_message(f"swvp: {error.filename or 'error'}: {error.strerror or error}")
        sys.exit(2)
