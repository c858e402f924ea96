"""The standard streams of a command, also where they are closed or full.

Results go to standard output: if they cannot be written, the command fails with one line. Messages go to standard
error: if they cannot be written, they are lost, so that training survives its terminal.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TypeGuard

from swvp.errors import InputError, one_line

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["guard_streams", "print_message"]


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
