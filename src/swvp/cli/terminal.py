"""The terminal: the standard streams of a command, consoles for people, JSON files for programs, Ctrl-C.

Results go to standard output: if they cannot be written, the command fails with one line. Messages go to standard
error: if they cannot be written, they are lost, so that training survives its terminal. Consoles escape control
characters in all texts.

Ctrl-C in any command, at any moment, is one line and exit code 130. typer would print another line, or a traceback for
errors that a KeyboardInterrupt has become. So it is replaced by an exception that neither typer nor a command handles.
"""

from __future__ import annotations

import functools
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from swvp.errors import STEERING, InputError, escaped, one_line

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from rich.console import Console

__all__ = [
    "EXIT_CODE",
    "Interrupted",
    "guard_streams",
    "interruptible",
    "new_console",
    "note_terminal",
    "print_message",
    "size_text",
    "write_json",
]


class Output(io.FileIO):
    """A stream that fails once, with a message for the user; later output is lost."""

    problem = ""
    failed = False

    def write(self, content: ReadableBuffer, /) -> int:
        if self.failed:
            return len(memoryview(content))
        try:
            if self.problem:
                raise OSError(self.problem)
            return super().write(content)
        except BrokenPipeError:  # the reader has closed the pipe, as in `swvp … | head`
            raise
        except OSError as error:
            self.failed = True
            raise InputError(f"cannot write to standard output: {error.strerror or error}") from None


class Messages(io.FileIO):
    """A stream that ignores failed writes."""

    def write(self, content: ReadableBuffer, /) -> int:
        try:
            return super().write(content)
        except OSError:
            return len(memoryview(content))


def guard_streams() -> None:
    """Replace standard output and standard error by guarded streams; a terminal that cannot show β shows ?."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:  # else the next file would get the number of a closed stream
        pass
    os.close(handle)
    if sys.stdout is None:  # closed by the shell: >&-
        output = Output(1, "wb", closefd=False)
        output.problem = "it is closed"
        sys.stdout = text_stream(output)
    elif is_own(sys.stdout, 1):
        sys.stdout = text_stream(Output(1, "wb", closefd=False), sys.stdout)
    if sys.stderr is None:
        sys.stderr = text_stream(Messages(2, "wb", closefd=False))
    elif is_own(sys.stderr, 2):
        sys.stderr = text_stream(Messages(2, "wb", closefd=False), sys.stderr)


def is_own(stream: object, handle: int) -> TypeGuard[io.TextIOWrapper]:
    """Whether a stream is the process's original one: not a program's replacement, not a console of Windows."""
    if type(stream) is not io.TextIOWrapper:
        return False
    raw = getattr(stream.buffer, "raw", stream.buffer)
    return type(raw) is io.FileIO and raw.fileno() == handle


def text_stream(raw: io.FileIO, before: io.TextIOWrapper | None = None) -> io.TextIOWrapper:
    """A text stream on `raw`, with the encoding of the stream that it replaces."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8" if before is None else before.encoding,
        errors="replace",
        line_buffering=isinstance(raw, Messages) or (before is not None and before.line_buffering),
        write_through=before is not None and before.write_through,
    )


def print_message(message: str) -> None:
    """Print a message on standard error, as one line."""
    print(one_line(message), file=sys.stderr)


def note_terminal(files: Iterable[str]) -> None:
    """Print that a command waits for text, if it reads standard input and this is a terminal."""
    if "-" in files and sys.stdin is not None and sys.stdin.isatty():
        print_message("swvp: reading from the terminal: type or paste the input, then press Ctrl-D")


OURS = "\n\u2068\u2069"  # line feeds, and the marks around right-to-left words of drawn trees


@functools.cache
def escaping_console() -> type[Console]:
    """The class of consoles that escape control characters in all texts; made here, because rich is slow to import."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class EscapingConsole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            """Print; a text on standard error becomes one line."""

            def shown(item: Any) -> Any:
                if not isinstance(item, str):
                    return item
                return one_line(item) if self.stderr else escaped(item, keep=OURS)

            super().print(*map(shown, objects), **options)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control or not STEERING.search(segment.text):
                    yield segment
                else:
                    yield Segment(escaped(segment.text, keep=OURS), segment.style)

    return EscapingConsole


def new_console(*, stderr: bool = False, width: int = 1000) -> Console:
    """A console on standard output or standard error; `width` is its width where there is no terminal."""
    console = escaping_console()(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = width
    return console


def size_text(path: Path) -> str:
    """The size of a file, such as 16.4 MB or 56 kB."""
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"


def write_json(path: str | Path | None, results: dict[str, Any]) -> bool:
    """Write results to a file, if `path` is given; return whether they went to standard output, with nothing else."""
    if path is None:
        return False
    from swvp.io.files import write_bytes

    text = json.dumps(results, indent=1) + "\n"
    write_bytes(path, text.encode())
    return str(path) == "-"


EXIT_CODE = 130
"""What shells report for a program that SIGINT has ended."""


class Interrupted(BaseException):
    """Raised when the user stops a command that has nothing to say about it."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Interrupted for a Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted from None
    except SystemError as error:  # Numba's, if Ctrl-C comes while it calls a kernel
        if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
        raise Interrupted from None
