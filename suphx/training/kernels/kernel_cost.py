"""What the kernels of each module cost to compile and which groups need them, for the bar that shows the progress.

``python -m tests.training.kernels.kernel_cost_table`` writes ``kernel_costs.csv``. Its seconds are relative: another
processor takes longer or shorter for all kernels.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from suphx.json_text import parse_json
from suphx.kernel.jit import cache_folder
from suphx.kernel.source_closure import PROJECT_ROOT, closure

_GROUPS = Path(__file__).with_name("warmup.py")


def missing_groups(groups: Iterable[str]) -> list[str]:
    """Return those of ``groups`` (names of warmup.KERNEL_GROUPS) that are not compiled for these sources."""
    return [group for group in groups if not _is_compiled(_mark(group))]


def mark_compiled(group: str) -> None:
    """Remember that all kernels of ``group`` are in the cache."""
    mark = _mark(group)
    mark.parent.mkdir(parents=True, exist_ok=True)
    partial = mark.with_name(f".{mark.name}.{os.getpid()}")
    partial.write_text(json.dumps([folder.name for folder in _kernel_folders() if folder.is_dir()]))
    partial.replace(mark)


def _mark(group: str) -> Path:
    return cache_folder("suphx.training.kernels.warmup", _GROUPS) / f"{group.replace(' ', '_')}.compiled"


def _is_compiled(mark: Path) -> bool:
    try:
        names = parse_json(mark.read_text())
    except (OSError, ValueError):
        return False
    kernels = mark.parent.parent
    return (kernels.parent / "tables").is_dir() and all((kernels / name).is_dir() for name in names)


def _kernel_folders() -> Iterator[Path]:
    """Yield the cache folder of each module with kernels."""
    for module, path in kernel_modules():
        yield cache_folder(module, path)


@cache
def kernel_modules() -> list[tuple[str, Path]]:
    """Return the name and the file of each module with kernels."""
    return [
        (".".join(path.relative_to(PROJECT_ROOT).with_suffix("").parts), path)
        for path in map(Path, sorted(closure(_GROUPS, [PROJECT_ROOT])))
        if "\n@jit\n" in path.read_text(encoding="utf-8")
    ]


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
