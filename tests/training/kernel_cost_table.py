"""Writes kernel_costs.csv, what kernels cost to compile: ``python -m tests.training.kernel_cost_table``.

Takes some two minutes of a quiet machine: all kernels are compiled into an empty cache, then each group loads them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core.dispatcher import Dispatcher

from suphx.kernel import jit
from suphx.training.warmup import COSTS_FILE, KERNEL_GROUPS
from suphx_platform.console.console import Console
from suphx_platform.kernels.kernel_warmup import compile_kernels

LEAST_SHARE = 0.5
"""A group needs a module if its kernels are this share of the module's cost."""


def measure() -> list[str]:
    """Return the lines of the table."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SUPHX_CACHE"] = cache
        seconds = compile_kernels(Console()).kernels
        return table({group: _record_in_a_process(group, Path(cache)) for group in KERNEL_GROUPS}, seconds)


def table(needed: Mapping[str, list[str]], seconds: Mapping[str, float]) -> list[str]:
    """Return the lines of the table for the kernels by group, and the CPU seconds by kernel."""
    kernels = sorted({kernel for names in needed.values() for kernel in names if kernel in seconds})
    by_group: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for group, names in needed.items():
        for kernel in names:
            by_group[_module(kernel)][group] += seconds.get(kernel, 0.0)
    lines = ["module,seconds,groups"]
    for module in sorted({_module(kernel) for kernel in kernels}):
        costs = [seconds[kernel] for kernel in kernels if _module(kernel) == module]
        groups = [group for group in needed if by_group[module][group] >= LEAST_SHARE * sum(costs)]
        lines.append(f"{module},{sum(costs) / len(costs):.2f},{'|'.join(groups)}")
    return lines


def _record_in_a_process(group: str, cache: Path) -> list[str]:
    shutil.rmtree(cache / "tables", ignore_errors=True)  # their kernels are needed too
    command = [sys.executable, "-m", "tests.training.kernel_cost_table", group]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def record(group: str) -> list[str]:
    """Run ``group`` in this process; return the names of the kernels that it needs."""
    asked: list[Any] = []
    lock = jit._cache_lock

    def ask(dispatcher: Any) -> Any:
        asked.append(dispatcher)
        return lock(dispatcher)

    setattr(jit, "_cache_lock", ask)  # noqa: B010
    KERNEL_GROUPS[group]()
    return sorted(_with_callees(asked))


def _with_callees(kernels: list[Any]) -> set[str]:
    """Return the names of ``kernels`` and of those that their code names, directly or through others."""
    found: set[str] = set()
    waiting = list(kernels)
    while waiting:
        function = waiting.pop().py_func
        name = f"{function.__module__}.{function.__name__}"
        if name not in found:
            found.add(name)
            waiting += [value for value in _named_values(function) if isinstance(value, Dispatcher)]
    return found


def _named_values(function: Any) -> Iterator[Any]:
    """Yield the values of the global names of ``function``, and of ``name`` in ``module.name``."""
    names = function.__code__.co_names
    for value in (function.__globals__.get(name) for name in names):
        yield value
        if isinstance(value, ModuleType):
            yield from (getattr(value, name, None) for name in names)


def _module(kernel: str) -> str:
    return kernel.rpartition(".")[0]


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(record(sys.argv[1])))
    else:
        Path(COSTS_FILE).write_text("\n".join(measure()) + "\n", encoding="utf-8")
