"""Compiling Python with Numba: the decorators of kernels, and operations with one implementation per structure.

`kernel` compiles a function with Numba, releases the GIL while it runs and caches the machine code on disk
(`swvp.cache`). `operation` declares a function with one implementation per structure. Compiled code chooses it by the
type of the first argument, plain Python by its class, so one source serves both.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.extending import overload

from swvp._version import __version__
from swvp.baseline import find_installed
from swvp.cache import KernelCache
from swvp.inner_code import InnerCompiler, OuterCompiler

__all__ = [
    "borrowing",
    "fingerprint",
    "implement",
    "implements",
    "in_python",
    "inlined",
    "inlined_source",
    "inlined_with_arrays",
    "inner",
    "kernel",
    "one_of",
    "operation",
    "uncached",
]

Function = TypeVar("Function", bound=Callable[..., Any])

WITHOUT_WRAPPERS = {
    "nogil": True,
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    "pipeline_class": InnerCompiler,
}
"""Options for Numba, of functions that only kernels call."""

COMPILED_FOLDERS = ("features", "io", "learning", "structures")


@functools.cache
def fingerprint(*folders: str) -> str:
    """A digest of every source that holds kernels, and of those in other folders.

    Numba checks only whether the file of a cached function changed, not the files of the functions that it calls. With
    this stamp a change in any kernel makes all of them stale.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256(__version__.encode())
    for folder in (*COMPILED_FOLDERS, *folders):
        for source in sorted((package / folder).rglob("*.py")):
            digest.update(source.read_bytes())
    for name in ("compiled.py", "inner_code.py"):
        digest.update((package / name).read_bytes())
    return digest.hexdigest()


def kernel(function: Function) -> Function:
    """Compile `function`; it releases the GIL, and its machine code is cached in the cache folder of the user.

    Parameters
    ----------
    function : callable
        A function that Numba can compile.
    """
    return compile_function(function)


def borrowing(function: Function) -> Function:
    """Compile a kernel that neither allocates nor returns arrays.

    It need not count references, which takes longer to compile than the function itself for tuples of many arrays.
    """
    return compile_function(function, _nrt=False)


def inner(function: Function) -> Function:
    """Compile a borrowing kernel that only kernels call; in Python it stays the plain function."""
    return for_kernels(function, _nrt=False)


def inlined(function: Function) -> Function:
    """Compile an inner kernel that LLVM inlines into its callers: for inner loops over tuples of many arrays.

    Passing such a tuple costs more time than most of these functions take.

    Parameters
    ----------
    function : callable
        A function that Numba can compile.
    """
    return for_kernels(function, _nrt=False, forceinline=True)


def inlined_source(function: Function) -> Function:
    """Compile a function that Numba inlines into its callers as source, before anything is optimised.

    It is for functions that mostly pass their arguments on to other kernels.
    """
    return compile_function(function, inline="always")


def inlined_with_arrays(function: Function) -> Function:
    """Compile an inner kernel like `inlined`, for a function that allocates or returns arrays."""
    return for_kernels(function, forceinline=True)


def one_of(functions: Sequence[Any]) -> Any:
    """Return a function for kernels: `choice(number, *arguments)` calls functions[number](*arguments).

    All functions take the same arguments and return the same types. Numba has no table of functions that a kernel may
    index, so this writes one function with a comparison for each.
    """
    *others, last = range(len(functions))
    lines = [f"    if chosen == {number}:\n        return f{number}(*arguments)\n" for number in others]
    source = f"def choose(chosen, *arguments):\n{''.join(lines)}    return f{last}(*arguments)\n"
    names: dict[str, Any] = {f"f{number}": function for number, function in enumerate(functions)}
    exec(source, names)
    return for_kernels(names["choose"], forceinline=True)


def for_kernels(function: Function, **options: Any) -> Function:
    compiled: Any = compile_inner(function, **options)
    if compiled is not function:
        function._numba_type_ = numba.typeof(compiled)  # type: ignore[attr-defined]  # what it is for kernels
        function.compiled = compiled  # type: ignore[attr-defined]  # so that it stays alive
    return function


def compile_inner(function: Any, **options: Any) -> Any:
    """Compile a function that only kernels call; its machine code is made and cached with theirs.

    Python must not call the result: there is no machine code to call.
    """
    jit: Any = numba.njit
    return jit(**{"_nrt": True} | WITHOUT_WRAPPERS | options)(function)


def compile_function(function: Function, **options: Any) -> Function:
    jit: Any = numba.njit
    options = {"nogil": True, "_nrt": True, "no_cfunc_wrapper": True, "pipeline_class": OuterCompiler} | options
    compiled = jit(**options)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT=1
        return function
    with contextlib.suppress(RuntimeError):  # without a source file, each process compiles
        path = Path(function.__code__.co_filename)
        installed = {"find_installed": find_installed} if in_package(path) else {}
        compiled._cache = KernelCache(function, stamp(path), **installed)
    recursive = function.__name__ in function.__code__.co_names  # Numba would not see that the twin calls itself
    if "inline" not in options and not recursive:  # kernels call a twin without machine code of its own
        twin = functools.cache(lambda: compile_inner(function, _nrt=options["_nrt"]))  # made when a kernel is compiled
        compiled.get_call_template = lambda *given: twin().get_call_template(*given)
        compiled.get_overload = lambda *given: twin().get_overload(*given)
    return compiled  # type: ignore[no-any-return]


def stamp(path: Path) -> str:
    """What cached machine code depends on: the kernels of the package and, for a user's kernel, its file."""
    if in_package(path) or not path.exists():
        return fingerprint()
    return f"{fingerprint()} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def in_package(path: Path) -> bool:
    """Whether a source is one of swvp's own."""
    return Path(__file__).parent in path.parents


@functools.cache
def uncached(function: Any) -> Any:
    """The same kernel without a cache on disk: for classes of a user's, whose changes no stamp would notice."""
    return numba.njit(nogil=True, pipeline_class=OuterCompiler)(in_python(function))


def in_python(function: Any) -> Any:
    """The plain Python function of a kernel, which can call functions of a user's."""
    return getattr(function, "py_func", function)


def operation(stub: Function) -> Function:
    """Declare a function that each structure implements (see `implement`); the stub is its documentation."""

    @functools.wraps(stub)
    def missing(first: Any, *rest: Any) -> Any:
        raise TypeError(f"{type(first).__name__} does not implement '{stub.__name__}'")

    return functools.singledispatch(missing)  # type: ignore[return-value]


def implement(declared: Callable[..., Any], cls: type, *, force_inline: bool = False) -> Callable[[Function], Function]:
    """Return a decorator that registers the implementation of an operation for one class.

    If the implementation is a kernel, for a NamedTuple of arrays, compiled code can call the operation too.

    Parameters
    ----------
    declared : callable
        The operation, such as `swvp.structures.operations.margins`.
    cls : type
        The class of the first argument. An implementation for `object` is the default for all other classes.
    force_inline : bool
        Whether kernels get a copy of the implementation in place of each call. This pays if an example takes less than
        a microsecond or so. Otherwise it only makes compiling slow.
    """

    def register(implementation: Function) -> Function:
        declared.register(cls, implementation)  # type: ignore[attr-defined]
        function: Any = getattr(implementation, "compiled", implementation)
        if hasattr(function, "py_func"):
            options = function.targetoptions | WITHOUT_WRAPPERS | ({"forceinline": True} if force_inline else {})

            @overload(declared, strict=False, jit_options=options)
            def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
                given = getattr(first, "instance_class", None)
                default = cls is object and given is not None and not implements(given, declared)
                return function.py_func if given is cls or default else None

        return implementation

    return register


def implements(cls: type, declared: Any) -> bool:
    """Whether a class implements an operation, to report errors before anything is compiled."""
    return declared.dispatch(cls) is not declared.dispatch(object)
