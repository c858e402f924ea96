"""Owns how Python becomes compiled code: the decorators, and operations that every structure implements.

`kernel` compiles a function with Numba, releases the GIL while it runs and keeps the machine code on disk
(`swvp.cache`). `operation` declares a function with one implementation per structure: compiled code picks it by the
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
from swvp.cache import KernelCache

__all__ = [
    "borrowing",
    "fingerprint",
    "implement",
    "implements",
    "in_python",
    "inlined",
    "inlined_with_arrays",
    "inner",
    "kernel",
    "one_of",
    "operation",
    "pasted",
    "uncached",
]

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED_FOLDERS = ("features", "io", "learning", "structures")


@functools.cache
def fingerprint(*more: str) -> str:
    """A digest of every source that holds kernels, and of those in `more` folders.

    Numba asks only whether the file of a cached function changed, not the files of the functions it
    calls; with this stamp a change in any kernel makes all of them stale.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256(__version__.encode())
    for folder in (*COMPILED_FOLDERS, *more):
        for source in sorted((package / folder).rglob("*.py")):
            digest.update(source.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


def kernel(function: Function) -> Function:
    """Compile `function`, GIL released; its machine code is cached where the user may write."""
    return compile_function(function)


def borrowing(function: Function) -> Function:
    """A kernel that makes no array and returns none: it need not count references, which for tuples of many arrays
    takes longer to compile than what the function does."""
    return compile_function(function, _nrt=False)


def inner(function: Function) -> Function:
    """A borrowing kernel for other kernels: no way in from Python is compiled, where the function stays as it is."""
    return for_kernels(function, _nrt=False)


def inlined(function: Function) -> Function:
    """An inner kernel that is part of each kernel that calls it: for inner loops over tuples of many arrays.

    Handing over such a tuple costs more than most of these functions take.
    """
    return for_kernels(function, _nrt=False, forceinline=True)


def pasted(function: Function) -> Function:
    """A function whose statements become part of each kernel that calls it, before anything is compiled.

    It is for what mostly calls other kernels. Each kernel is optimised together with all that it calls, and these with
    what they call: so every level of kernels takes as long to compile as everything below it.
    """
    return compile_function(function, inline="always")


def inlined_with_arrays(function: Function) -> Function:
    """The same for a function that makes or returns arrays."""
    return for_kernels(function, forceinline=True)


def one_of(functions: Sequence[Any]) -> Any:
    """Return a function for kernels: `choice(number, *arguments)` calls functions[number](*arguments).

    All functions take the same arguments and return the same types. Numba has no table of functions that a kernel may
    index, so this builds a chain of comparisons.
    """
    inline: Any = numba.njit(nogil=True, forceinline=True)

    def link(number: int, function: Any, rest: Any) -> Any:
        def choose(chosen, *arguments):  # type: ignore[no-untyped-def]
            if chosen == number:
                return function(*arguments)
            return rest(chosen, *arguments)

        return inline(choose)

    def end(chosen, *arguments):  # type: ignore[no-untyped-def]
        return last(*arguments)

    *others, last = functions
    choice = inline(end)
    for number in reversed(range(len(others))):
        choice = link(number, others[number], choice)
    return choice


def for_kernels(function: Function, **options: Any) -> Function:
    compiled: Any = compile_function(function, **options, no_cpython_wrapper=True)
    if compiled is not function:
        function._numba_type_ = numba.typeof(compiled)  # type: ignore[attr-defined]  # what kernels take it for
        function.compiled = compiled  # type: ignore[attr-defined]  # types do not keep it
    return function


def compile_function(function: Function, **options: Any) -> Function:
    jit: Any = numba.njit
    compiled = jit(**{"nogil": True, "_nrt": True, "no_cfunc_wrapper": True} | options)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT=1
        return function
    with contextlib.suppress(RuntimeError):  # no source file: compile in each process
        compiled._cache = KernelCache(function, stamp(Path(function.__code__.co_filename)))
    return compiled  # type: ignore[no-any-return]


def stamp(path: Path) -> str:
    """What cached machine code depends on: the package's kernels, and the file of a kernel of a user's."""
    if Path(__file__).parent in path.parents or not path.exists():
        return fingerprint()
    return f"{fingerprint()} {hashlib.sha256(path.read_bytes()).hexdigest()}"


@functools.cache
def uncached(function: Any) -> Any:
    """The same kernel without a cache on disk: for classes of a user's, whose changes no stamp of ours would notice."""
    return numba.njit(nogil=True)(in_python(function))


def in_python(function: Any) -> Any:
    """The plain Python of a kernel: what calls a user's functions cannot be compiled."""
    return getattr(function, "py_func", function)


def operation(stub: Function) -> Function:
    """Declare a function that each structure implements (see `implement`); the stub is its documentation."""

    @functools.wraps(stub)
    def lacking(first: Any, *rest: Any) -> Any:
        raise TypeError(f"{type(first).__name__} does not implement '{stub.__name__}'")

    return functools.singledispatch(lacking)  # type: ignore[return-value]


def implement(declared: Callable[..., Any], cls: type) -> Callable[[Function], Function]:
    """Register the implementation of an operation for a first argument of class `cls`.

    Where the implementation is a kernel, for a NamedTuple of arrays, compiled code can call the operation too,
    inlined. One for `object` is for all classes without one of their own.
    """

    def register(implementation: Function) -> Function:
        declared.register(cls, implementation)  # type: ignore[attr-defined]
        function: Any = getattr(implementation, "compiled", implementation)
        if hasattr(function, "py_func"):

            @overload(declared, strict=False, jit_options=function.targetoptions | {"forceinline": True})
            def choose(first: Any, *rest: Any) -> Callable[..., Any] | None:
                given = getattr(first, "instance_class", None)
                mine = given is cls or (cls is object and given is not None and not implements(given, declared))
                return function.py_func if mine else None

        return implementation

    return register


def implements(cls: type, declared: Any) -> bool:
    """Whether a class implements an operation, for errors that come before anything is compiled."""
    return declared.dispatch(cls) is not declared.dispatch(object)
