"""The command `swvp serve`: models as an HTTP service with a page for a browser."""

from __future__ import annotations

import importlib.util
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from swvp.cli.options import takes_options
from swvp.cli.terminal import print_message
from swvp.errors import InputError

__all__ = ["EXAMPLES", "serve"]

EXAMPLES = """
A model is a file that `swvp train` wrote: a pipeline, a tagger or a parser.
NAME=FILE gives it a name. SIGHUP loads the models again; Ctrl-C stops.

Examples:

  swvp serve el.swvp

  swvp serve greek=el.swvp names=names.swvp --port 9000

  swvp serve el.swvp --host 0.0.0.0 --token-file token.txt
"""


@dataclass(kw_only=True)
class ServeOptions:
    """The options of the command."""

    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Model files; the first is the default.")]
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port to listen on; 0: any free one.")] = 8000
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on; 0.0.0.0: all of this machine, so that others can connect.",
        ),
    ] = "127.0.0.1"
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", metavar="N", min=1, help="Number of threads.", show_default="one for each core, at most 8"
        ),
    ] = None
    waiting: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Number of requests that may wait for a thread; more get status 429."),
    ] = 64
    seconds: Annotated[float, typer.Option(metavar="S", min=0.1, help="Time limit of a request, in seconds.")] = 30.0
    max_request: Annotated[
        int, typer.Option(metavar="BYTES", min=1, help="Limit for the body of a request, in bytes.")
    ] = 4 * 2**20
    max_words: Annotated[int, typer.Option(metavar="N", min=1, help="Limit for the words of a sentence.")] = 1000
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Clients must send the token in this file.")
    ] = None
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", help="Let web pages of this origin send requests. May be repeated; *: any origin."
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Host name in the requests that are answered, such as that of a proxy. May be repeated.",
            show_default="localhost only; with --host 0.0.0.0: any",
        ),
    ] = None
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Example texts for the page, one per line; or the name of a model, a tab and a text."
        ),
    ] = None
    access_log: Annotated[bool, typer.Option(help="Print a line for each request on standard error.")] = True


@takes_options
def serve(given: ServeOptions) -> None:
    """Serve models over HTTP: a JSON API, UDPipe's protocol, and pages for a browser.

    Needs the extra 'serve' of swvp.
    """
    for name in ("starlette", "uvicorn", "python_multipart"):
        if importlib.util.find_spec(name) is None:
            raise InputError(f"swvp serve needs the package {name}: pip install 'swvp[serve]'")
    from swvp.cli.predict import MOST_JOBS
    from swvp.serving.guard import LOOPBACK_NAMES, Access, is_loopback
    from swvp.serving.limits import Limits
    from swvp.serving.models import model_files
    from swvp.serving.server import open_socket, run_server
    from swvp.training.options import available_cores

    files = model_files(given.models)
    hosts = [name.lower() for name in given.allow_host or ()]
    if hosts or is_loopback(given.host):
        hosts += LOOPBACK_NAMES
    elif given.token_file is None:
        print_message(f"note: anyone who can reach {given.host} may send requests; see --token-file and --allow-host")
    token = None if given.token_file is None else token_in(given.token_file)
    origins = [origin.lower().rstrip("/") for origin in given.cors or ()]
    examples = {} if given.examples is None else examples_in(given.examples, {file.name for file in files})
    opened = open_socket(given.host, given.port)
    run_server(
        files,
        opened,
        limits=Limits(bytes=given.max_request, words_per_sentence=given.max_words, seconds=given.seconds),
        access=Access(token=token, origins=origins, hosts=hosts),
        threads=min(available_cores(), MOST_JOBS) if given.jobs is None else given.jobs,
        waiting=given.waiting,
        log=print_message if given.access_log else None,
        note=lambda line: print_message(f"swvp: {line}"),
        examples=examples,
    )


def token_in(path: Path) -> str:
    """Return the token in a file: its first line."""
    token = text_of(path).strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{path}: a token must be one word of ASCII characters")
    return token


def examples_in(path: Path, models: Set[str]) -> dict[str, list[str]]:
    """Return the texts in a file by the names of models; those under "" are for all others."""
    examples: dict[str, list[str]] = {}
    for number, line in enumerate(text_of(path).splitlines(), 1):
        name, tab, text = line.partition("\t")
        if tab and name not in models:
            raise InputError(f"{path}:{number}: no model '{name}' is served; there are: {', '.join(sorted(models))}")
        if line.strip():
            examples.setdefault(name if tab else "", []).append((text if tab else line).strip())
    return examples


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or 'not in UTF-8'}") from None
