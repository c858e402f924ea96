"""Files: their bytes, read and written as a whole, locks, and the formats of files of tokens.

Bytes are written atomically; names that end in .gz are compressed; - is a standard stream. Formats are rows of a
registry: how each is recognised and read. A format of your own is one more row (`register_format`).
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import itertools
import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: no locks
    fcntl = None  # type: ignore[assignment]

from collections.abc import Callable
from typing import NamedTuple

from swvp.errors import InputError, escaped, unknown_name

__all__ = [
    "COLUMN_FILE",
    "CONLLU",
    "CONLLU_FILE",
    "CONLLX_FILE",
    "FORMATS",
    "MAX_BYTES",
    "FileFormat",
    "cannot_write",
    "check_size",
    "choose_format",
    "exclusive",
    "format_of",
    "is_conllu",
    "is_special",
    "looks_like_conllu",
    "looks_like_utf_8",
    "read_bytes",
    "register_format",
    "remove_leftovers",
    "set_max_bytes",
    "write_blocks",
    "write_bytes",
    "write_whole",
]

MARK = ".swvp-new-"
"""In the names of files that are not complete yet."""


def write_whole(path: Path, content: str | bytes | Iterable[bytes | memoryview]) -> None:
    """Write `content`, or its parts, to `path` atomically: a reader sees the old file or the new one.

    A link stays a link, and its target is written. A device or a pipe is written to, not replaced by a file.
    """
    content = content.encode() if isinstance(content, str) else content
    parts = [content] if isinstance(content, bytes) else content
    try:
        path = path.resolve() if path.is_symlink() else path
        if is_special(path):
            with path.open("wb") as file:
                for part in parts:
                    file.write(part)
                    file.flush()  # whoever reads it need not wait for the next one
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=unfinished(path))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~current_umask())
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):  # perhaps somebody removed it
            os.unlink(name)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise


def unfinished(path: Path) -> str:
    """Return the prefix of the names of temporary files that become this one; long names are cut."""
    return f".{path.name[:40]}{MARK}"


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed processes have left beside a file."""
    path = path.resolve() if path.is_symlink() else path
    for left in path.parent.iterdir():
        if left.name.startswith(unfinished(path)) and left.is_file():
            left.unlink(missing_ok=True)


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe: it exists, and is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def current_umask() -> int:
    """Return the umask of the process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def cannot_write(path: Path, error: OSError) -> InputError:
    """Return the error for a file that the operating system does not let us write."""
    return InputError(f"cannot write {path}: {error.strerror or error}")


# ---------------------------------------------------------------- reading, and writing to standard output

MAX_BYTES = 2**30
BLOCK = 2**20
GZIP_HEADER = 10
most_bytes = MAX_BYTES


def set_max_bytes(most: int) -> None:
    """Set how many bytes may be read from a .gz file, a pipe or a device, whose size is not known beforehand."""
    global most_bytes  # set once for a process, by the option --max-bytes
    most_bytes = most


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file, decompressed if its name ends in .gz; - is standard input."""
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise InputError("cannot read -: there is no standard input")
            return read_bounded(path, sys.stdin.buffer)
        if str(path).endswith(".gz"):
            with gzip.open(path) as unpacked:
                return read_bounded(path, unpacked)
        if is_special(Path(path)):
            with open(path, "rb") as pipe:
                return read_bounded(path, pipe)
        return Path(path).read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path}: not a gzip file, or cut off") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def read_bounded(path: str | Path, file: IO[bytes] | gzip.GzipFile) -> bytes:
    """Return the bytes of a file of unknown size; raise InputError if there are more than `set_max_bytes` allows."""
    content = io.BytesIO()
    block = file.read(BLOCK)
    while block:
        content.write(block)
        check_size(path, content.tell())
        block = file.read(BLOCK) if len(block) == BLOCK else b""  # a terminal would have to end twice
    return content.getvalue()


def check_size(path: str | Path, size: int) -> None:
    """Raise InputError if a file of unknown size has more bytes than `set_max_bytes` allows."""
    if size > most_bytes:
        raise InputError(
            f"{path}: more than {most_bytes:,} bytes, unpacked; if that is right, allow more with --max-bytes"
        )


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically, compressed if its name ends in .gz; - is standard output.

    A device or a pipe is written to, not replaced by a file. A terminal gets text, with control characters escaped.
    """
    write_blocks(path, [content])


def write_blocks(path: str | Path, blocks: Iterable[bytes]) -> None:
    """Write the blocks of a file as they come, as `write_bytes` does.

    A file is there when all blocks are written, and not at all if making one fails. Standard output, a device or a pipe
    gets each block at once. Nothing is opened before the first block.
    """
    blocks = iter(blocks)
    blocks = itertools.chain([next(blocks, b"")], blocks)
    if str(path) != "-":
        write_whole(Path(path), packed(blocks) if str(path).endswith(".gz") else blocks)
        return
    for block in blocks:
        write_to_output(block)


def write_to_output(content: bytes) -> None:
    """Write to standard output, at once."""
    if sys.stdout is None:
        raise InputError("cannot write -: there is no standard output")
    try:
        if sys.stdout.isatty():
            sys.stdout.write(for_terminal(content))
            sys.stdout.flush()
            return
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(Path("-"), error) from None


def packed(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Compress blocks into the bytes that `gzip.compress` makes of all of them, without a time."""
    yield gzip.compress(b"", mtime=0)[:GZIP_HEADER]
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    checksum, size = zlib.crc32(b""), 0
    for block in blocks:
        checksum, size = zlib.crc32(block, checksum), size + len(block)
        yield compressor.compress(block)
    yield compressor.flush() + struct.pack("<LL", checksum, size & 0xFFFFFFFF)


def for_terminal(content: bytes) -> str:
    """Return the text for a terminal: lines and tabs stay, other control characters are escaped."""
    return escaped(content.decode(errors="replace").replace("\r\n", "\n"), keep="\n\t")


# ---------------------------------------------------------------- locks


@contextlib.contextmanager
def exclusive(path: Path, who: str = "training") -> Iterator[None]:
    """Hold the lock of a file while it is written; raise InputError if another process holds it.

    The lock is one of the operating system, on an empty file beside it, so it ends with its process, even if that is
    killed. Where locking fails (no such folder, a file system without locks) nothing is locked: if the file cannot be
    written either, writing it reports that.
    """
    folder, name = os.path.split(os.path.realpath(path))
    lock = Path(folder, f".{name}.lock")
    try:
        handle = None if path.is_dir() else acquire(lock)
    except BlockingIOError:
        raise InputError(f"another {who} is writing {path}: wait until it ends, or write to another file") from None
    except OSError:
        handle = None
    try:
        yield
    finally:
        if handle is not None:
            if os.fstat(handle).st_size == 0:  # else it is not ours
                with contextlib.suppress(OSError):
                    lock.unlink()
            os.close(handle)


def acquire(lock: Path) -> int | None:
    """Return the handle of an open file that holds the lock; raise BlockingIOError if another process holds it."""
    if fcntl is None:
        return None
    while True:
        flags = os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | flags, 0o666)
        except PermissionError:  # another user's, which can be locked all the same
            handle = os.open(lock, os.O_RDONLY | flags)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), lock.stat()):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # whoever held it removed the file before we had the lock: take the new one


# ---------------------------------------------------------------- formats

CONLLU = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
"""The columns of CoNLL-U; in CoNLL-X the last two are called PHEAD and PDEPREL."""


class FileFormat(NamedTuple):
    """A file format: one token per line and an empty line after each sentence, or a text that is converted to that.

    Attributes
    ----------
    name : str
        The name in the registry.
    title : str
        The name in messages.
    endings : tuple of str
        The endings of file names by which it is recognised, such as ".conllu"; ".gz" may follow.
    columns : tuple of str
        The names of the columns, which are then separated by tabs, and whose first one holds token IDs: ranges (2-3)
        and empty nodes (4.1) are skipped. Without names a file has as many columns as its first line.
    widths : tuple of int
        The numbers of columns a file with named columns may have.
    skipped : bytes
        Lines that begin like this hold no token.
    to_columns, from_columns : functions from str to str, optional
        Turn the text of a file into columns, and columns back into such a text. Without them the text is columns.
    """

    name: str
    title: str
    endings: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    widths: tuple[int, ...] = ()
    skipped: bytes = b"-DOCSTART-"
    to_columns: Callable[[str], str] | None = None
    from_columns: Callable[[str], str] | None = None


COLUMN_FILE = FileFormat("columns", "a column file")
CONLLU_FILE = FileFormat("conllu", "CoNLL-U", (".conllu",), CONLLU, (10,), b"#")
CONLLX_FILE = FileFormat("conllx", "CoNLL-X", (), CONLLU, (10, 8, 6), b"#")

FORMATS: dict[str, FileFormat] = {each.name: each for each in (COLUMN_FILE, CONLLU_FILE, CONLLX_FILE)}
"""The formats by name. A file whose ending belongs to none of them is a column file."""


def register_format(format: FileFormat) -> None:
    """Add a format to the registry, so that every command and reader accepts files with its endings.

    If its lines are not those of a column file, it has two functions: one turns the text of a file into columns, the
    other turns columns back into such a text.

    Parameters
    ----------
    format : FileFormat
        Its name and endings have to be new.

    Raises
    ------
    InputError
        If its name or an ending is taken, or if it has only one of `to_columns` and `from_columns`.

    Examples
    --------
    Here a sentence is a line of word/TAG:

    >>> def to_columns(text):
    ...     return "\\n\\n".join(line.replace(" ", "\\n").replace("/", "\\t") for line in text.splitlines()) + "\\n"
    >>> def from_columns(text):
    ...     return "".join(lines.replace("\\t", "/").replace("\\n", " ") + "\\n" for lines in text[:-1].split("\\n\\n"))
    >>> slashes = FileFormat("slashes", "word/TAG", (".slashes",), to_columns=to_columns, from_columns=from_columns)
    >>> register_format(slashes)
    >>> from swvp.io import table_of
    >>> table = table_of("my.slashes", b"the/DET dog/NOUN\\nbarks/VERB\\n")
    >>> table.sentences(0)
    [['the', 'dog'], ['barks']]
    >>> table.replace(1, table.column(0))
    b'the/the dog/dog\\nbarks/barks\\n'
    >>> del FORMATS["slashes"]
    """
    if format.name in FORMATS:
        raise InputError(f"there is a file format '{format.name}' already; choose another name")
    taken = {ending: each.name for each in FORMATS.values() for ending in each.endings}
    for ending in format.endings:
        if ending in taken:
            raise InputError(f"files in {ending} are of the format '{taken[ending]}' already; choose another ending")
    if (format.to_columns is None) != (format.from_columns is None):
        raise InputError(f"the file format '{format.name}' needs both to_columns and from_columns, or neither")
    FORMATS[format.name] = format


def format_of(path: str | Path) -> FileFormat:
    """Return the format that the name of a file says; a column file if it says none.

    Examples
    --------
    >>> format_of("el-ud-train.conllu.gz").title, format_of("train.txt").title
    ('CoNLL-U', 'a column file')
    """
    name = str(path).removesuffix(".gz")
    return next((each for each in FORMATS.values() if name.endswith(each.endings)), COLUMN_FILE)


def choose_format(path: str | Path, *, format: str | None = None, conllu: bool | None = None) -> FileFormat:
    """Return the format of a file: the one with the given name, else CoNLL-U if `conllu`, else by the file's name.

    With `conllu=False` a file is not CoNLL-U, whatever its name. With `conllu=True` a file of a format that is turned
    into columns is turned into CoNLL-U or CoNLL-X.
    """
    if format is not None:
        if format not in FORMATS:
            raise unknown_name("file format", format, FORMATS)
        return FORMATS[format]
    by_name = format_of(path)
    if conllu is None or conllu == bool(by_name.columns):
        return by_name
    if conllu and by_name.to_columns is not None:
        return CONLLU_FILE._replace(to_columns=by_name.to_columns, from_columns=by_name.from_columns)
    return CONLLU_FILE if conllu else COLUMN_FILE


def is_conllu(path: str | Path) -> bool:
    """Return whether the name of a file says that its columns are those of CoNLL-U."""
    return bool(format_of(path).columns)


def looks_like_conllu(path: str | Path) -> bool:
    """Return whether the first token of a file has a number and the ten columns of CoNLL-U, whatever the file's name.

    A pipe or a compressed file is not opened: the answer is no.
    """
    tokens = [line for line in start_of(path).splitlines() if line.strip() and not line.startswith(b"#")]
    fields = tokens[0].split(b"\t") if tokens else []
    return len(fields) == len(CONLLU) and fields[0].replace(b"-", b"").replace(b".", b"").isdigit()


def looks_like_utf_8(path: str | Path) -> bool:
    """Return whether the beginning of a file has characters that are not ASCII, all of them in UTF-8.

    A pipe or a compressed file is not opened: the answer is no.
    """
    start = start_of(path)
    try:
        return not start.isascii() and bool(codecs.getincrementaldecoder("utf-8")().decode(start))
    except UnicodeDecodeError:
        return False


def start_of(path: str | Path) -> bytes:
    """Return the first bytes of a plain file; none of a pipe, a compressed file or one that cannot be read."""
    if not Path(path).is_file() or str(path).endswith(".gz"):
        return b""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(65536)
    return b""
