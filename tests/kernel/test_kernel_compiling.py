from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from numba.core import event
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock

from suphx.kernel import jit
from suphx.kernel.jit import lean_compiler, map_on_threads, sole_compiler
from tests.repository import REPOSITORY

KERNELS = """
import numpy as np
from suphx.kernel.jit import jit

@jit
def large(numbers, limit):
    total = 0.0
    for i in range(len(numbers)):
        for j in range(len(numbers)):
            total += numbers[i] * numbers[j] / (1 + i * j)
    if total > limit:
        raise ValueError("too much")
    return total, len(numbers)

@jit
def small(numbers):
    return large(numbers, 1000)[0] + 1

@jit
def entry(numbers):
    total = small(numbers)
    for i in range(len(numbers)):
        numbers[i] = i
    return total + large(numbers, 5)[1]
"""
PROGRAM = """
import sys
import numpy as np
from suphx.kernel import jit
jit.MAX_COPIED_INSTRUCTIONS = int(sys.argv[1])
import kernels_of_this_test as kernels
result = kernels.entry(np.array([1.0, 2.0]))
(compiled,) = kernels.entry.overloads.values()
called = sorted(kernel.name for kernel in compiled.reload_init)
try:
    kernels.entry(np.array([30.0, 300.0]))
except ValueError as error:
    problem = str(error)
print(result, ",".join(called) or "none", sum(kernels.large.stats.cache_hits.values()), problem)
"""


def run_entry(folder: Path, max_copied: int) -> list[str]:
    """Return the result, the kernels called by symbol, how often the callee came from the cache, and an error."""
    search = os.pathsep.join([str(folder), str(REPOSITORY)])
    environment = {**os.environ, "SUPHX_CACHE": str(folder / "cache"), "PYTHONPATH": search}
    command = [sys.executable, "-c", PROGRAM, str(max_copied)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split(maxsplit=3)


def test_a_large_callee_is_called_and_a_small_one_is_copied(tmp_path: Path) -> None:
    (tmp_path / "kernels_of_this_test.py").write_text(KERNELS)
    expected = 1 + 2 * 2 + 4 / 2 + 1 + 2
    result, called, hits, problem = run_entry(tmp_path, max_copied=0)
    assert (float(result), called, hits, problem) == (expected, "large,small", "0", "too much\n")
    for _ in range(2):  # loaded from the cache: the callees first
        result, called, hits, problem = run_entry(tmp_path, max_copied=0)
        assert (float(result), called, hits, problem) == (expected, "large,small", "1", "too much\n")


def test_a_callee_missing_in_the_cache_is_compiled_when_its_caller_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "kernels_of_this_test.py").write_text(KERNELS)
    first = run_entry(tmp_path, max_copied=0)
    (data,) = (tmp_path / "cache" / "kernels").rglob("*.large-*.nbc")
    data.unlink()
    assert run_entry(tmp_path, max_copied=0) == first


HOLDER = """
import pathlib, sys
from suphx.kernel.jit import sole_compiler
with sole_compiler(pathlib.Path(sys.argv[1]), "kernel"):
    print("held", flush=True)
    sys.stdin.read()
    pathlib.Path(sys.argv[1]).write_text("code")
"""


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    seen: list[tuple[str, int]] = []
    monkeypatch.setattr(jit, "watchers", [lambda name, holder: seen.append((name, holder))])
    return seen


@contextmanager
def process_that_compiles(index: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, str(index)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder


def test_a_process_waits_for_the_one_that_compiles_and_says_so(tmp_path: Path, waits: list[tuple[str, int]]) -> None:
    index = tmp_path / "game.step-1.nbi"
    with process_that_compiles(index) as holder:

        def end(name: str, process: int) -> None:
            assert holder.stdin is not None
            holder.stdin.close()

        jit.watchers.append(end)
        with sole_compiler(index, "game.step"):
            assert index.read_text() == "code"  # the other process has finished
    assert holder.returncode == 0
    assert waits == [("game.step", holder.pid)]


def test_a_killed_holder_leaves_no_lock(tmp_path: Path, waits: list[tuple[str, int]]) -> None:
    index = tmp_path / "game.step-1.nbi"
    with process_that_compiles(index) as holder:
        holder.kill()
        holder.wait()
        with sole_compiler(index, "game.step"):
            assert not index.exists()
    assert waits == []


def test_a_recursive_kernel_does_not_wait_for_itself(tmp_path: Path, waits: list[tuple[str, int]]) -> None:
    index = tmp_path / "game.step-1.nbi"
    with sole_compiler(index, "game.step"), sole_compiler(index, "game.step"):
        pass
    assert waits == []


def test_a_compiled_kernel_needs_no_lock(tmp_path: Path, waits: list[tuple[str, int]]) -> None:
    index = tmp_path / "game.step-1.nbi"
    index.write_text("code")
    with sole_compiler(index, "game.step"):
        assert [path.name for path in tmp_path.iterdir()] == [index.name]
    assert waits == []


@pytest.mark.parametrize("num_threads", [1, 2, 7])
@pytest.mark.parametrize("num_items", [0, 1, 50])
def test_results_come_back_in_order(num_threads: int, num_items: int) -> None:
    assert map_on_threads(lambda item: item * item, range(num_items), num_threads) == [n * n for n in range(num_items)]


def test_the_caller_and_its_helpers_work_side_by_side() -> None:
    all_here = threading.Barrier(3)

    def meet(_: int) -> int:
        all_here.wait(timeout=120)
        return threading.get_ident()

    assert len(set(map_on_threads(meet, range(3), 3))) == 3


def test_an_error_is_raised_after_the_others_have_stopped() -> None:
    done: list[int] = []

    def fail_at_two(item: int) -> None:
        if item == 2:
            raise OSError("item 2")
        done.append(item)

    with pytest.raises(OSError, match="item 2"):
        map_on_threads(fail_at_two, range(20), 2)
    count = len(done)
    assert map_on_threads(lambda item: item, range(3), 2) == [0, 1, 2]
    assert len(done) == count


def test_calls_within_calls_end() -> None:
    def inner(item: int) -> int:
        return sum(map_on_threads(lambda n: n + item, range(4), 4))

    assert map_on_threads(inner, range(8), 4) == [6 + 4 * item for item in range(8)]


def _in_child() -> None:
    assert map_on_threads(lambda item: item, range(4), 2) == [0, 1, 2, 3]


def test_a_forked_child_has_threads_of_its_own() -> None:
    map_on_threads(lambda item: item, range(4), 2)
    child = multiprocessing.get_context("fork").Process(target=_in_child)
    child.start()
    child.join(timeout=300)
    assert child.exitcode == 0


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
