"""Numba compilers that make no machine code for kernels that only other kernels call.

Numba optimises each function together with everything that it calls, and then makes machine code of all of it, also
for a function that only compiled code calls. With kernels that call kernels, the lowest one is optimised and made into
machine code once for each level above it. Here, an inner kernel stays LLVM's intermediate code until it is linked into
a kernel that Python calls. Only that one is optimised and made into machine code.

This uses parts of Numba that are not documented; `.ci/run oldest` and the tests try the oldest and newest versions.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

__all__ = ["InnerCompiler", "OuterCompiler"]


class InnerLibrary(JITCodeLibrary):
    """The intermediate code of one inner kernel."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the kernel that this code is linked into is optimised as a whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, the null pointer: there is no machine code.

        Calling such a kernel from Python would crash, so `swvp.compiled.for_kernels` keeps the Python function.
        """
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """This object, because Numba calls `library.codegen.set_env`, and there is no machine code to set it in."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: `OuterLibrary` sets the environment."""


class OuterLibrary(JITCodeLibrary):
    """The machine code of a kernel with all the code that is linked into it.

    Numba sets the pointer to a kernel's environment when it compiles that kernel. An inner kernel has no machine code
    then, so its pointer is set here.
    """

    def _finalize_final_module(self) -> None:
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                environment = lookup_environment(variable.name)
                if environment is not None:  # of an inner kernel; Numba sets that of the outer one
                    self._codegen.set_env(variable.name, environment)  # type: ignore[attr-defined]


class InnerCompiler(Compiler):
    """Numba's compiler for kernels that only kernels call."""

    library_class: type[JITCodeLibrary] = InnerLibrary

    def define_pipelines(self) -> Any:
        library = self.library_class(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        return super().define_pipelines()


class OuterCompiler(InnerCompiler):
    """Numba's compiler for kernels that Python calls."""

    library_class = OuterLibrary
