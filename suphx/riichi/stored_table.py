"""Lookup tables that are computed once and mapped from the cache folder afterwards."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.cache_folder import cache_root


def load_or_build(name: str, source: Path, build: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return the table ``name``, read-only; ``build`` computes it when none of the same ``source`` file is stored."""
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    path = cache_root() / "tables" / f"{name}-{digest}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        data = io.BytesIO()
        np.save(data, build())
        write_atomically(path, [data.getbuffer()])
    # A plain ndarray view of the map: numba compiles one signature for both.
    return np.asarray(np.load(path, mmap_mode="r"))
