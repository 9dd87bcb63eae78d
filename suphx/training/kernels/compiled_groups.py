"""Which groups of kernels are compiled already: a mark in the cache for each group, valid for the same sources.

Knows no torch and no kernel, so that a command learns in a moment that there is nothing to compile.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

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
        names = json.loads(mark.read_text())
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
