from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
from suphx.kernel import kernel_link
kernel_link.MAX_COPIED_INSTRUCTIONS = int(sys.argv[1])
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


def test_without_large_callees_nothing_is_called_by_symbol(tmp_path: Path) -> None:
    (tmp_path / "kernels_of_this_test.py").write_text(KERNELS)
    result, called, _, problem = run_entry(tmp_path, max_copied=1_000_000)
    assert (float(result), called, problem) == (1 + 2 * 2 + 4 / 2 + 1 + 2, "none", "too much\n")


def test_a_callee_missing_in_the_cache_is_compiled_when_its_caller_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "kernels_of_this_test.py").write_text(KERNELS)
    first = run_entry(tmp_path, max_copied=0)
    (data,) = (tmp_path / "cache" / "kernels").rglob("*.large-*.nbc")
    data.unlink()
    assert run_entry(tmp_path, max_copied=0) == first
