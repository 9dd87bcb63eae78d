"""The one decorator that compiles every kernel of this project, and where compiled code is cached.

numba itself does not notice that a function or a constant in ANOTHER file changed and would return stale code. So the
compiled kernels of a module have a folder whose name is derived from all sources that the module imports, directly or
through others, from the versions of the compiler and from the options that change the code.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba.core import config as numba_config
from numba.core import types
from numba.core.caching import UserProvidedCacheLocator
from numba.core.compiler_lock import global_compiler_lock

from suphx.cache_folder import cache_root, mark_used
from suphx.kernel.kernel_link import choose_link
from suphx.kernel.kernel_lock import sole_compiler
from suphx.kernel.lean_compiler import lean_compiler
from suphx.kernel.source_closure import PROJECT_ROOT, closure_digest, last_change

P = ParamSpec("P")
R = TypeVar("R")

_STARTED = time.time()
# What changes the code of a kernel and is not part of numba's own key (that one has the processor and its features).
_OPTIONS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "DISABLE_INTEL_SVML")


def _choose_level() -> None:
    """Use level 2 of LLVM: it compiles in four fifths of the time of numba's level 3, and kernels are no slower.

    At import, so that the first call of ``cache_folder`` gives the same folder as all others.
    """
    if "NUMBA_OPT" not in os.environ:
        level: Any = vars(numba_config)["OPT"]
        setattr(numba_config, "OPT", type(level)(2))  # noqa: B010


_choose_level()


def cache_folder(module: str, file: Path) -> Path:
    """Return the folder of the compiled kernels of ``module``, whose source is ``file``."""
    versions = (sys.version_info[:2], numba.__version__, llvmlite.__version__, np.__version__)
    options = [str(vars(numba_config).get(name)) for name in _OPTIONS]
    key = repr((module, versions, options, closure_digest(file, _roots(module, file))))
    return cache_root() / "kernels" / f"{module}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _roots(module: str, file: Path) -> tuple[Path, ...]:
    """Return where the imports of ``module`` are looked up: in this project and beside the module's own package."""
    names = module.split(".")
    own = file.parents[len(names) - 1] if list(file.with_suffix("").parts[-len(names) :]) == names else file.parent
    return tuple(dict.fromkeys((PROJECT_ROOT, own)))


class _Locator(UserProvidedCacheLocator):
    """Tells numba our folder; that of a checkout serves every other checkout with the same sources."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        return ""

    def ensure_cache_path(self) -> None:
        folder = Path(self._cache_path)
        try:
            mark_used(folder)
        except OSError:  # numba would refuse to read there too
            if not folder.is_dir():
                raise


@cache
def _usable_folder(module: str, file: Path) -> Path | None:
    """Return the cache folder of ``module``; None if its kernels must not or cannot be cached."""
    changed, source = last_change(file, _roots(module, file))
    if changed > _STARTED:
        if changed > time.time():
            _warn_of_future(source)
        return None  # a source was edited after this process began: the loaded code may differ from the file
    folder = cache_folder(module, file)
    try:
        mark_used(folder)
    except OSError as error:
        if not folder.is_dir():
            _warn_of_cache(folder.parent, error.strerror or str(error))
            return None
    return folder


@cache  # once for all modules
def _warn_of_cache(place: Path, reason: str) -> None:
    warnings.warn(
        f"the cache folder {place} cannot be written: {reason}; kernels are compiled again in every process; set "
        "SUPHX_CACHE to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )


@cache  # once for each file, not for each module that imports it
def _warn_of_future(source: str) -> None:
    warnings.warn(
        f"the last change of {source} lies in the future: kernels that depend on it are compiled again in every "
        f"process; correct the clock of this machine, or run touch {shlex.quote(source)}, and on others like it",
        RuntimeWarning,
        stacklevel=2,
    )


def jit(kernel: Callable[P, R]) -> Callable[P, R]:
    """Compile ``kernel`` in nopython mode: cached on disk, GIL released, division by zero as in numpy.

    One version serves all integer types and all constants: an argument that is one arrives as int64, a truth value as
    bool.
    """
    compiled = _compiled(kernel)
    if compiled is not kernel:  # it is when the environment switches the compiler off
        _adapt(compiled)
    return cast(Callable[P, R], compiled)


def _compiled(kernel: Any) -> Any:
    folder = _usable_folder(kernel.__module__, Path(kernel.__code__.co_filename).resolve())
    # numba asks for the folder while it decorates. The module sets its attributes by name, unseen by type checkers.
    settings = vars(numba_config)
    before = {name: settings[name] for name in ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")}
    settings.update(CACHE_DIR=str(folder or ""), CACHE_LOCATOR_CLASSES=f"{_Locator.__module__}.{_Locator.__name__}")
    compiler: Any = numba.njit
    try:
        compiled = compiler(cache=folder is not None, nogil=True, error_model="numpy", no_cfunc_wrapper=True)(kernel)
    finally:
        settings.update(before)
    if folder is not None and compiled is not kernel and not os.access(folder, os.W_OK):
        compiled._cache.save_overload = lambda signature, data: None  # a cache made by others: read it only
    return compiled


def _adapt(dispatcher: Any) -> None:
    """Make numba compile one version for all integers, and callers call large kernels instead of copying them."""
    compile_for = dispatcher.compile

    def compile_once(signature: Any) -> Any:
        types_of_arguments = tuple(_widen(argument) for argument in signature)
        is_known = types_of_arguments in dispatcher.overloads
        if is_known:
            return compile_for(types_of_arguments)
        with global_compiler_lock, _cache_lock(dispatcher), lean_compiler():
            entry_point = compile_for(types_of_arguments)
            choose_link(dispatcher, types_of_arguments)
        return entry_point

    dispatcher.compile = compile_once


def _cache_lock(dispatcher: Any) -> AbstractContextManager[None]:
    cache_file = getattr(dispatcher._cache, "_cache_file", None)
    if cache_file is None or not os.access(cache_file._cache_path, os.W_OK):
        return nullcontext()
    name = f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}"
    return sole_compiler(Path(cache_file._index_path), name)


def _widen(argument: Any) -> Any:
    """Return the type for which kernels are compiled: numba itself would make one version for int8, one for 0, …"""
    if isinstance(argument, types.Boolean):
        return types.boolean
    if isinstance(argument, types.Integer) and argument != types.uint64:
        return types.int64
    return argument
