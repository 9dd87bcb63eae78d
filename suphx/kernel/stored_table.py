"""Lookup tables that are computed once and mapped from the cache folder afterwards."""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.cache_folder import cache_root
from suphx.kernel.source_closure import PROJECT_ROOT, closure_digest

_BUILDING = threading.RLock()
"""Held while a table is looked for or built; tables may need other tables."""


def load_or_build(name: str, source: Path, build: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return the table ``name``, read-only; ``build`` computes it when none of the same sources is stored.

    ``source``: the file that it is computed by; the modules of this project that it imports count too.
    """
    digest = closure_digest(source.resolve(), [PROJECT_ROOT])[:16]
    path = cache_root() / "tables" / f"{name}-{digest}.npy"
    with _BUILDING:  # threads that need the same table build it once
        return _load_or_build(path, build)


def _load_or_build(path: Path, build: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    table = None
    try:
        if not path.exists():
            table = build()
            _write(path, table)
        # A plain ndarray view of the map: numba compiles one signature for both.
        return np.asarray(np.load(path, mmap_mode="r"))
    except OSError as error:
        warnings.warn(
            f"{error}; tables are computed again in every process; set SUPHX_CACHE to a folder that can be written",
            RuntimeWarning,
            stacklevel=3,
        )
    table = build() if table is None else table
    table.flags.writeable = False
    return table


def _write(path: Path, table: NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = io.BytesIO()
    np.save(data, table)
    write_atomically(path, [data.getbuffer()])
