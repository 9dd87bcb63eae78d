"""What the kernels of each module cost to compile and which groups need them, for the bar that shows the progress.

``python -m tests.training.kernels.kernel_cost_table`` writes ``kernel_costs.csv``. Its seconds are relative: another
processor takes longer or shorter for all kernels.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from suphx.kernel.jit import cache_folder
from suphx.kernel.source_closure import PROJECT_ROOT

COSTS_FILE = Path(__file__).with_name("kernel_costs.csv")
_KERNEL = re.compile(r"^@jit\ndef (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ModuleCost:
    """One row of the table: the kernels of one module."""

    module: str
    seconds: float
    """Mean CPU time of a kernel, without that of the kernels that it calls."""
    groups: tuple[str, ...]
    """The groups of warmup.py that need at least half of the module."""


@cache
def module_costs() -> tuple[ModuleCost, ...]:
    """Return the table."""
    with COSTS_FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            ModuleCost(row["module"], float(row["seconds"]), tuple(row["groups"].split("|")))
            for row in csv.DictReader(file)
        )


def missing_costs(groups: Iterable[str]) -> dict[str, float]:
    """Return seconds by kernel for the kernels that ``groups`` need and that are not in the cache."""
    wanted = set(groups)
    costs: dict[str, float] = {}
    for row in module_costs():
        if wanted.intersection(row.groups):
            cached = set(_cached(row.module))
            costs |= {f"{row.module}.{name}": row.seconds for name in kernels_of(row.module) if name not in cached}
    return costs


def kernels_of(module: str) -> list[str]:
    """Return the names of the kernels of ``module`` of this project."""
    return _KERNEL.findall(_source(module).read_text(encoding="utf-8"))


def _source(module: str) -> Path:
    return PROJECT_ROOT.joinpath(*module.split(".")).with_suffix(".py")


def _cached(module: str) -> Iterator[str]:
    """Yield the names of the kernels of ``module`` whose code is in the cache."""
    for index in cache_folder(module, _source(module)).glob("*.nbi"):
        yield index.name.partition(".")[2].partition("-")[0]
