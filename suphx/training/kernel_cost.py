"""What each kernel costs to compile and which groups need it, so that a bar can show how far compiling is.

The figures of ``kernel_costs.csv`` are measured by ``python -m tests.training.kernel_cost_table``. They are relative:
another processor takes longer or shorter for all of them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from suphx.riichi.jit import cache_folder

COSTS_FILE = Path(__file__).with_name("kernel_costs.csv")


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One row of the table."""

    name: str
    """With its module, such as ``suphx.riichi.yaku.score_hand``."""
    seconds: float
    """CPU time without that of the kernels that it calls."""
    groups: tuple[str, ...]
    """The groups of warmup.py that need it."""


@cache
def kernel_costs() -> tuple[KernelCost, ...]:
    """Return the table."""
    with COSTS_FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            KernelCost(row["kernel"], float(row["seconds"]), tuple(row["groups"].split("|")))
            for row in csv.DictReader(file)
        )


def missing_costs(groups: Iterable[str]) -> dict[str, float]:
    """Return seconds by kernel for the kernels that ``groups`` need and that are not in the cache."""
    wanted = set(groups)
    needed = {row.name: row.seconds for row in kernel_costs() if wanted.intersection(row.groups)}
    cached = {name for module in {name.rpartition(".")[0] for name in needed} for name in _cached(module)}
    return {name: seconds for name, seconds in needed.items() if name not in cached}


def _cached(module: str) -> Iterator[str]:
    """Yield the names of the kernels of ``module`` whose code is in the cache."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return
    for index in cache_folder(module, Path(spec.origin)).glob("*.nbi"):
        yield f"{module}.{index.name.partition('.')[2].partition('-')[0]}"
