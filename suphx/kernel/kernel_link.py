"""Calls between kernels: a large callee is compiled once and called; only a small one is copied into its callers.

numba copies the optimised code of a callee, and of everything below it, into each of its callers and optimises it there
once more, so compile time grows with the square of the call depth. LLVM does not inline large functions, so these gain
next to nothing from the copy. Here it becomes an external symbol of the process. A caller that is loaded from the cache
first loads the kernels that it calls (numba's ``reload_init``).
"""

from __future__ import annotations

import copy
import hashlib
import importlib
from dataclasses import dataclass
from itertools import islice
from typing import Any

import llvmlite.binding as llvm
from numba.core.imputils import user_function

MAX_COPIED_INSTRUCTIONS = 300
"""With 800 compiling takes a quarter longer, with 120 the simulator is slower (docs/experiments.md, 2026-11-22)."""


@dataclass(frozen=True, slots=True)
class CalledKernel:
    """A kernel that compiled code calls by its symbol."""

    module: str
    name: str
    types: tuple[Any, ...]

    def __call__(self) -> None:
        """Load or compile the kernel and define its symbol."""
        kernel = getattr(importlib.import_module(self.module), self.name)
        kernel.compile(self.types)
        define_symbol(self, kernel.overloads[self.types])

    @property
    def symbol(self) -> str:
        """The name by which callers find the code."""
        return f"suphx:{self.module}.{self.name}:{hashlib.sha256(repr(self.types).encode()).hexdigest()[:16]}"


def define_symbol(kernel: CalledKernel, compiled: Any) -> None:
    """Let code that is linked from now on find ``compiled``, numba's result for the kernel."""
    llvm.add_symbol(kernel.symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def choose_link(dispatcher: Any, types: tuple[Any, ...]) -> None:
    """Make callers of the kernel that ``dispatcher`` has compiled for ``types`` call it if it is large."""
    compiled = dispatcher.overloads[types]
    library, described = compiled.library, compiled.fndesc
    library._reload_init.update(compiled.reload_init or ())  # numba forgets these when it loads from the cache
    kernel = CalledKernel(dispatcher.py_func.__module__, dispatcher.py_func.__name__, types)
    external = copy.copy(described)
    external.mangled_name = kernel.symbol
    lower: Any = user_function
    call_copy, call_symbol = lower(described, ()), lower(external, ())

    def lower_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not _is_large(library, described.llvm_func_name):
            context.add_linking_libs([library])
            return call_copy(context, builder, signature, arguments)
        define_symbol(kernel, compiled)
        context.active_code_library._reload_init.add(kernel)
        return call_symbol(context, builder, signature, arguments)

    lower_call.signature = described.argtypes  # type: ignore[attr-defined]
    context = dispatcher.targetctx
    context.remove_user_function(compiled.entry_point)
    context._defns[compiled.entry_point].append(lower_call, lower_call.signature)  # type: ignore[attr-defined]


def _is_large(library: Any, name: str) -> bool:
    blocks = library._get_module_for_linking().get_function(name).blocks
    instructions = (1 for block in blocks for _ in block.instructions)
    return sum(islice(instructions, MAX_COPIED_INSTRUCTIONS + 1)) > MAX_COPIED_INSTRUCTIONS
