from __future__ import annotations

import gc
from contextlib import nullcontext
from typing import Any

import numba
import pytest
from numba.core import event, ir
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import TypingError
from numba.core.types.functions import BaseFunction

from suphx.riichi.lean_compiler import lean_compiler


def fail_inside() -> None:
    before = event.install_timer, CPUCodeLibrary._optimize_functions
    with global_compiler_lock, lean_compiler():
        with lean_compiler():  # a callee
            assert not gc.isenabled()
        assert not gc.isenabled()
        assert (event.install_timer, CPUCodeLibrary._optimize_functions) != before
        raise ZeroDivisionError


def test_numba_and_the_collector_are_as_before_after_the_block() -> None:
    before = event.install_timer, CPUCodeLibrary._optimize_functions
    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert gc.isenabled()
    assert (event.install_timer, CPUCodeLibrary._optimize_functions) == before


def test_an_error_has_numbas_words() -> None:
    compiler: Any = numba.njit  # numba is untyped

    def add_text(number: int) -> object:
        return number + "1"  # type: ignore[operator]

    messages = []
    for block in (lean_compiler(), nullcontext()):
        with global_compiler_lock, block, pytest.raises(TypingError) as raised:
            compiler(add_text)(1)
        messages.append(" ".join(str(raised.value).split()))  # numba indents more each time
    assert "No implementation of function Function(<built-in function add>)" in messages[0]
    assert messages[0] == messages[1]


def test_no_method_stays_replaced() -> None:
    before = BaseFunction.get_call_type, ir.Inst._rec_list_vars
    with global_compiler_lock, lean_compiler():
        assert BaseFunction.get_call_type is not before[0]
        assert ir.Inst._rec_list_vars is not before[1]
    assert (BaseFunction.get_call_type, ir.Inst._rec_list_vars) == before


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with global_compiler_lock, lean_compiler():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
