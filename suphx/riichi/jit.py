"""The one decorator that compiles every kernel of this project, and where compiled code is cached.

A kernel's cache folder is named by a hash of the sources that it may call: those of its own package and of the kernel
packages below. numba itself does not notice that a helper in ANOTHER file changed and would serve stale code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import config as numba_config
from numba.core import types

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).resolve().parents[1]
# From the bottom up: a package's kernels call their own and those of the packages before it.
_KERNEL_PACKAGES = ("riichi", "features", "models", "selfplay", "training")


def cache_root() -> Path:
    """Return the folder of everything that is computed once: ``$SUPHX_CACHE`` or ``~/.cache/suphx``."""
    return Path(os.environ.get("SUPHX_CACHE") or Path.home() / ".cache" / "suphx")


@cache
def source_hash(package: str) -> str:
    """Return 16 hex digits that change with any source that kernels of ``package`` may call.

    ``package``: riichi, features, models, selfplay or training; kernels outside may call those of all.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for name in _KERNEL_PACKAGES:
        for path in sorted((_PACKAGE / name).glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
        if name == package:
            break
    return digest.hexdigest()[:16]


def cache_folder(package: str) -> Path:
    """Return the folder of the compiled kernels of a package."""
    return cache_root() / "kernels" / f"{package}-{source_hash(package)}"


def jit(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile ``kernel`` in nopython mode: cached on disk, GIL released, division by zero as in numpy.

    One version serves all integer types and all constants: an argument that is one arrives as int64, a truth value as
    bool.
    """
    package = (*kernel.__module__.split("."), "")[1] if kernel.__module__.startswith("suphx.") else "others"
    # numba asks for this folder while it decorates. The module sets its attributes by name, unseen by type checkers.
    setattr(numba_config, "CACHE_DIR", str(cache_folder(package)))  # noqa: B010
    if "NUMBA_OPT" not in os.environ:
        # Level 2 compiles our kernels in four fifths of the time of numba's level 3, and they are no slower.
        level: Any = vars(numba_config)["OPT"]
        setattr(numba_config, "OPT", type(level)(2))  # noqa: B010
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(kernel)
    if compiled is not kernel:  # it is when the environment switches the compiler off
        compile_for = compiled.compile
        compiled.compile = lambda signature: compile_for(tuple(_widen(argument) for argument in signature))
    return cast(Callable[P, R], compiled)


def _widen(argument: Any) -> Any:
    """Return the type for which kernels are compiled: numba itself would make one version for int8, one for 0, …"""
    if isinstance(argument, types.Boolean):
        return types.boolean
    if isinstance(argument, types.Integer) and argument != types.uint64:
        return types.int64
    return argument
