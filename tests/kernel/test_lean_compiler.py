from __future__ import annotations

import gc

import pytest
from numba.core import event
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock

from suphx.kernel.lean_compiler import lean_compiler


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


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with global_compiler_lock, lean_compiler():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
