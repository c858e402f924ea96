"""Options of commands: those that several commands share, lists of values, --load, commands that take a dataclass.

A command with many options takes one object, a dataclass with an option as the type of each field:

    @app.command(cls=Command)
    @takes_options
    def tagger(given: TaggerOptions) -> None: ...
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from swvp.cli.terminal import interruptible
from swvp.errors import InputError
from swvp.io.files import MAX_BYTES, set_max_bytes
from swvp.user_code import load_python

if TYPE_CHECKING:
    from swvp.cluster.connect import Cluster, Workers

__all__ = [
    "MAX_BYTES",
    "ClusterOptions",
    "Command",
    "Encoding",
    "Group",
    "Load",
    "LoadExtensions",
    "MaxBytes",
    "NotProse",
    "factors",
    "floats",
    "integers",
    "load_python",
    "names",
    "settings_of",
    "takes_options",
]

Options = TypeVar("Options")
TABLE_WIDTH = 80
"""From so many columns the help is in tables."""
CLUSTER = "Cluster"
"""The panel of the help for options of clusters."""


def limit_bytes(most: int) -> int:
    """Set the limit for all files that the command reads."""
    set_max_bytes(most)
    return most


Encoding = Annotated[str, typer.Option(metavar="NAME", help="Encoding of the files.")]
MaxBytes = Annotated[
    int,
    typer.Option(
        help="Largest number of bytes read from a pipe, or from a .gz file after unpacking.",
        metavar="N",
        min=1,
        callback=limit_bytes,
    ),
]
NotProse = Annotated[
    bool,
    typer.Option("--not-prose", help="Read the lines as tokens with columns even if they look like prose."),
]
Load = Annotated[
    Path | None,
    typer.Option(help="Python file to run first; it may register a γ or a JJ (family of sub-structures)."),
]


@dataclasses.dataclass(kw_only=True)
class ClusterOptions:
    """Where the tasks of a command run: on an existing cluster, or in worker processes of this machine."""

    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run on a Dask cluster: the address of its scheduler, such as tcp://10.0.0.1:8786, or a scheduler "
            "file (.json). Workers must see the same files under the same paths.",
            rich_help_panel=CLUSTER,
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Run in N worker processes of this machine.", rich_help_panel=CLUSTER),
    ] = None
    cluster_tls_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Certificate of the certificate authority (PEM), for a cluster with TLS.",
            show_default="Dask's configuration",
            rich_help_panel=CLUSTER,
        ),
    ] = None
    cluster_tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your certificate (PEM).", rich_help_panel=CLUSTER)
    ] = None
    cluster_tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Private key of your certificate (PEM).", rich_help_panel=CLUSTER),
    ] = None

    @property
    def uses_cluster(self) -> bool:
        """Whether the command runs on a cluster; InputError if options contradict each other."""
        if self.cluster is not None and self.workers is not None:
            raise InputError("--cluster and --workers exclude each other")
        tls = self.cluster_tls_ca, self.cluster_tls_cert, self.cluster_tls_key
        if self.cluster is None and any(path is not None for path in tls):
            raise InputError("--cluster-tls-ca, --cluster-tls-cert and --cluster-tls-key need --cluster")
        return self.cluster is not None or self.workers is not None

    def new_cluster(self, tell: Callable[[str], object]) -> Cluster:
        """The cluster, not open yet: `with` connects to it, or starts the worker processes."""
        from swvp.cluster.connect import Cluster

        return Cluster(
            self.cluster,
            workers=self.workers,
            tls_ca=self.cluster_tls_ca,
            tls_cert=self.cluster_tls_cert,
            tls_key=self.cluster_tls_key,
            tell=tell,
        )

    def opened(self, tell: Callable[[str], object]) -> contextlib.AbstractContextManager[Workers | None]:
        """Open the cluster that the options name; without one there are no workers, and tasks run in threads."""
        return self.new_cluster(tell) if self.uses_cluster else contextlib.nullcontext()


LoadExtensions = Annotated[
    Path | None,
    typer.Option("--load", help="Python file to run first; it may register a template function or a file format."),
]


def takes_options(command: Callable[[Options], None]) -> Callable[..., None]:
    """Make a command of a function whose only parameter is a dataclass of options."""
    options = get_type_hints(command)["given"]
    hints = get_type_hints(options, include_extras=True)

    shell = {field.name: option_name(field.name, hints[field.name]) for field in dataclasses.fields(options)}

    def run(**given: Any) -> None:
        try:
            command(options(**given))
        except InputError as error:
            raise InputError(with_shell_names(str(error), shell)) from error

    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(options)
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = hints
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def option_name(name: str, hint: Any) -> str:
    """The name of an option in the shell: the one that its declaration gives, else that of the field."""
    info = hint.__metadata__[0]  # its `default` is the first declaration
    declared = [str(each) for each in (info.default, *(info.param_decls or ())) if str(each).startswith("--")]
    return declared[0].partition("/")[0] if declared else f"--{name.replace('_', '-')}"


def with_shell_names(message: str, shell: dict[str, str]) -> str:
    """A message of the library with options named as in the shell.

    They are replaced where they cannot be other words: names with _ anywhere, others before "must" at the beginning.

    >>> with_shell_names("hashed must be odd; see min_count", {"hashed": "--hashed", "min_count": "--min-count"})
    '--hashed must be odd; see --min-count'
    """
    for name, option in (shell | {"n_jobs": "--jobs"}).items():
        word = rf"(?<![\w./-]){name}(?![\w./-])" if "_" in name else rf"^{name}(?= must )"
        message = re.sub(word, option, message)
    return message


def settings_of(given: object, estimator: Callable[..., object]) -> dict[str, Any]:
    """The options that are parameters of an estimator, by name."""
    known = inspect.signature(estimator).parameters
    return {name: value for name, value in vars(given).items() if name in known}


def names(text: str | None) -> tuple[str, ...] | None:
    """The parts between commas; None stays None.

    >>> names("csp, a-wm")
    ('csp', 'a-wm')
    """
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def integers(option: str, text: str | None) -> tuple[int, ...] | None:
    """Whole numbers between commas."""
    try:
        return None if text is None else tuple(int(part) for part in names(text) or ())
    except ValueError:
        raise InputError(f"--{option} takes whole numbers between commas, not '{text}'") from None


def floats(option: str, text: str | None) -> tuple[float, ...] | None:
    """Numbers between commas, or FIRST:LAST:STEP.

    >>> floats("betas", "0.5:2:0.5")
    (0.5, 1.0, 1.5, 2.0)
    """
    if text is None:
        return None
    try:
        if ":" not in text:
            return tuple(float(part) for part in names(text) or ())
        first, last, step = (float(part) for part in text.split(":"))
        count = int((last - first) / step + 1e-9) + 1
        if not 1 <= count <= 10_000:
            raise ValueError
        return tuple(round(first + step * k, 10) for k in range(count))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"--{option} takes numbers between commas, or FIRST:LAST:STEP, not '{text}'") from None


def factors(text: str | None) -> dict[str | tuple[str, str], float] | None:
    """Factors of labels or of pairs GOLD>PREDICTED; None stays None.

    >>> factors("B-PER=2, O>B-PER=0.5")
    {'B-PER': 2.0, ('O', 'B-PER'): 0.5}
    """
    if text is None:
        return None
    result: dict[str | tuple[str, str], float] = {}
    for part in names(text) or ():
        label, _, number = part.rpartition("=")
        gold, between, predicted = label.partition(">")
        try:
            result[(gold, predicted) if between else label] = float(number)
        except ValueError:
            raise InputError(f"--cost takes LABEL=FACTOR or GOLD>PREDICTED=FACTOR, not '{part}'") from None
    return result


class Group(TyperGroup):
    """Commands under one name, in the order in which they are used: training first."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: name != "train")

    def make_context(self, *args: Any, **options: Any) -> Any:
        with interruptible():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with interruptible():
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        convert_plain_values(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        name_values(self.get_params(ctx))
        super().format_help(ctx, formatter)


class Command(TyperCommand):
    """A command that names everything that is missing, not only the first, and whose help fits any terminal."""

    def __init__(self, *args: Any, epilog: str | None = None, **options: Any):
        super().__init__(*args, epilog=None if epilog is None else joined_lines(epilog), **options)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; in narrow terminals without tables, which would cut names and values."""
        if shutil.get_terminal_size().columns < TABLE_WIDTH:
            self.rich_markup_mode = None
        name_values(self.get_params(ctx))
        super().format_help(ctx, formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line; metavars say themselves which arguments are optional or repeated."""
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        return [*filter(None, [self.options_metavar]), *map(argument_name, arguments)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        convert_plain_values(self.get_params(ctx))
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if type(error).__name__ != "MissingParameter":
                raise
            values, _, _ = self.make_parser(ctx).parse_args(args=given)
            missing = [param for param in self.get_params(ctx) if param.required and not values.get(param.name or "")]
            if len(missing) < 2:
                raise
            return ctx.fail(f"Missing {' and '.join(map(hint, missing))}.")  # type: ignore[no-any-return]


def convert_plain_values(params: list[Any]) -> None:
    """Convert values of options with `PlainValue`, in versions of typer that would import pydantic for them."""
    for param in params:
        if getattr(param, "_runtime_param", True) is None:
            param._runtime_param = PlainValue()


class PlainValue:
    """Converts values that are text, whole numbers or of the right type already; typer converts all others.

    For the first value of any type, recent versions of typer import pydantic, which takes as long as half of Numba.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of an option or argument; an unusable one is typer's to report."""
        kind = param.type_descriptor.annotation
        if param.multiple or param.nargs == -1:
            if value is None:
                return ()
            if kind == list[str] and all(type(part) is str for part in value):
                return list(value)
        elif value is None or (kind in (bool, int, str) and type(value) is kind):
            return value
        elif kind is int and not param.type_descriptor.is_ranged and str(value).isascii() and str(value).isdigit():
            return int(value)
        param._runtime_param = None
        try:
            return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
        except typer.BadParameter as error:
            raise typer.BadParameter(in_plain_words(error, kind), ctx=ctx, param=param) from None


def in_plain_words(error: typer.BadParameter, kind: type) -> str:
    """The message for an unusable value; typer's is that of pydantic."""
    if kind in (int, float) and error.message.startswith("Input should be a valid"):
        return f"must be {'a whole number' if kind is int else 'a number'}"
    return error.message.removeprefix("Value error, ").replace("Input should be ", "must be ")


VALUE_NAMES = {int: "N", float: "X", str: "TEXT", Path: "FILE"}


def name_values(params: list[Any]) -> None:
    """Name the values of options in the help, as N or FILE; typer would write <int>, and <bool> for flags."""
    for param in params:
        kind: Any = getattr(getattr(param, "type_descriptor", None), "annotation", None)
        kind = next(iter(get_args(kind)), kind)  # of list[Path], Path
        if param.param_type_name == "argument" or kind is bool:  # arguments are described by their names
            param.display_type = lambda ctx: None
        elif param.metavar is None:
            param.metavar = VALUE_NAMES.get(kind)


def joined_lines(text: str) -> str:
    """A text with one line for each paragraph; indented lines, which are examples, stay.

    >>> joined_lines("Reads a file\\nof words.\\n\\n  swvp FILE\\n  swvp -")
    'Reads a file of words.\\n\\n  swvp FILE\\n  swvp -'
    """
    return re.sub(r"(?<=\S)\n(?=\S)", " ", text)


def argument_name(param: Any) -> str:
    """An argument as help and messages name it."""
    return param.metavar or str(param.name).upper()


def hint(param: Any) -> str:
    """An argument or option as messages name it."""
    names = param.opts if param.param_type_name == "option" else [argument_name(param)]
    return f"{param.param_type_name} " + " / ".join(f"'{name}'" for name in names)
