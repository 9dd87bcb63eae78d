"""The one decorator that compiles every kernel of this project, and where compiled code is cached.

The cache folder's name is a hash of the sources of all kernel packages: numba itself does not notice that a helper in
ANOTHER file changed and would serve stale code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import numba
from numba.core import config as numba_config

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).resolve().parents[1]
_KERNEL_PACKAGES = ("riichi", "features", "selfplay")


def source_hash() -> str:
    """Return 16 hex digits that change whenever any source file with kernels changes."""
    digest = hashlib.sha256(numba.__version__.encode())
    for package in _KERNEL_PACKAGES:
        for path in sorted((_PACKAGE / package).glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Return the folder of compiled kernels and tables: ``$SUPHX_CACHE`` or ``~/.cache/suphx``, then the hash."""
    root = Path(os.environ.get("SUPHX_CACHE") or Path.home() / ".cache" / "suphx")
    return root / "kernels" / source_hash()


# The module sets its attributes by name at run time, so type checkers do not see them.
setattr(numba_config, "CACHE_DIR", str(cache_folder()))  # noqa: B010


def jit(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile ``kernel`` in nopython mode: cached on disk, GIL released, division by zero as in numpy."""
    return cast(Callable[P, R], numba.njit(cache=True, nogil=True, error_model="numpy")(kernel))
