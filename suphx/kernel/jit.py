"""The one decorator that compiles every kernel of this project, and where compiled code is cached.

numba itself does not notice that a function or a constant in ANOTHER file changed and would return stale code. So the
compiled kernels of a module have a folder whose name is derived from all sources that the module imports, directly or
through others, from the versions of the compiler and from the options that change the code.

- Calls between kernels: numba copies the optimised code of a callee, and of everything below it, into each of its
  callers and optimises it there once more, so compile time grows with the square of the call depth. LLVM does not
  inline large functions, so these gain next to nothing from the copy. Here a large callee is compiled once, becomes an
  external symbol of the process and is called; a small one is copied. A caller that is loaded from the cache first
  loads the kernels that it calls (numba's ``reload_init``).
- One process compiles a kernel; others that need it wait and load its code from the cache. The lock is a file beside
  the code, which has the id of its holder's process. The system releases it when its holder ends, even if that is
  killed.
- What numba does besides compiling is switched off while it compiles, which saves 10 to 17 % of the CPU time: Python's
  garbage collector walks through numba's many long-lived objects again and again; every call of LLVM is reported to a
  timer for each kernel that is being compiled, and kernels compile their callees; LLVM's function passes are set up
  once for each function, also for those that are only declared.
- ``map_on_threads`` calls kernels, which release the GIL, on several threads.
"""

from __future__ import annotations

import copy
import gc
import hashlib
import importlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, ParamSpec, TypeVar, cast

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import config as numba_config
from numba.core import event, types
from numba.core.caching import UserProvidedCacheLocator
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import user_function

from suphx.cache_folder import cache_root, mark_used
from suphx.kernel.source_closure import PROJECT_ROOT, closure_digest, last_change

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")
T = TypeVar("T")

MAX_COPIED_INSTRUCTIONS = 300
"""With 800 compiling takes a quarter longer, with 120 the simulator is slower (measured on 2026-11-22)."""
_MAX_THREADS = 256  # started when they are needed only

_STARTED = time.time()
# What changes the code of a kernel and is not part of numba's own key (that one has the processor and its features).
_OPTIONS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "DISABLE_INTEL_SVML")


if "NUMBA_OPT" not in os.environ:
    # Level 2 of LLVM compiles in four fifths of the time of numba's level 3, and kernels are no slower. At import, so
    # that the first call of ``cache_folder`` gives the same folder as all others.
    _level: Any = vars(numba_config)["OPT"]
    setattr(numba_config, "OPT", type(_level)(2))  # noqa: B010


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
    if last_change(file, _roots(module, file)) > _STARTED:
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


@dataclass(frozen=True, slots=True)
class CalledKernel:
    """A kernel that compiled code calls by its symbol."""

    module: str
    name: str
    types: tuple[Any, ...]

    def __call__(self) -> None:
        """Load or compile the kernel and define its symbol."""
        kernel = getattr(importlib.import_module(self.module), self.name)
        kernel.compile(self.types)
        define_symbol(self, kernel.overloads[self.types])

    @property
    def symbol(self) -> str:
        """The name by which callers find the code."""
        return f"suphx:{self.module}.{self.name}:{hashlib.sha256(repr(self.types).encode()).hexdigest()[:16]}"


def define_symbol(kernel: CalledKernel, compiled: Any) -> None:
    """Let code that is linked from now on find ``compiled``, numba's result for the kernel."""
    llvm.add_symbol(kernel.symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def choose_link(dispatcher: Any, types: tuple[Any, ...]) -> None:
    """Make callers of the kernel that ``dispatcher`` has compiled for ``types`` call it if it is large."""
    compiled = dispatcher.overloads[types]
    library, described = compiled.library, compiled.fndesc
    library._reload_init.update(compiled.reload_init or ())  # numba forgets these when it loads from the cache
    kernel = CalledKernel(dispatcher.py_func.__module__, dispatcher.py_func.__name__, types)
    external = copy.copy(described)
    external.mangled_name = kernel.symbol
    lower: Any = user_function
    call_copy, call_symbol = lower(described, ()), lower(external, ())

    def lower_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not _is_large(library, described.llvm_func_name):
            context.add_linking_libs([library])
            return call_copy(context, builder, signature, arguments)
        define_symbol(kernel, compiled)
        context.active_code_library._reload_init.add(kernel)
        return call_symbol(context, builder, signature, arguments)

    lower_call.signature = described.argtypes  # type: ignore[attr-defined]
    context = dispatcher.targetctx
    context.remove_user_function(compiled.entry_point)
    context._defns[compiled.entry_point].append(lower_call, lower_call.signature)  # type: ignore[attr-defined]


def _is_large(library: Any, name: str) -> bool:
    blocks = library._get_module_for_linking().get_function(name).blocks
    instructions = (1 for block in blocks for _ in block.instructions)
    return sum(islice(instructions, MAX_COPIED_INSTRUCTIONS + 1)) > MAX_COPIED_INSTRUCTIONS


watchers: list[Callable[[str, int], None]] = []
"""Called with the name of a kernel and the id of the process that compiles it (0: unknown) when this process begins to
wait for that one."""

_held: set[Path] = set()  # a recursive kernel asks for itself once more


@contextmanager
def sole_compiler(index: Path, name: str) -> Iterator[None]:
    """Hold the lock of the kernel whose code is listed in the file ``index``, if that file is missing.

    Kernels call each other without cycles, so processes never wait for each other in a circle. The caller must hold
    numba's compiler lock: two threads with a lock each would.
    """
    path = index.with_suffix(".lock")
    if index.exists() or path in _held:
        yield
        return
    from filelock import lock_descriptor  # takes longer to import than the rest of this project's core

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        if not lock_descriptor(file.fileno(), blocking=False):
            holder = _holder(file)
            for watch in watchers:
                watch(name, holder)
            lock_descriptor(file.fileno())
        with suppress(OSError):  # a full disk is an error of whoever writes the code
            file.truncate(0)
            file.write(str(os.getpid()).encode())
        _held.add(path)
        try:
            yield
        finally:
            _held.discard(path)


def _holder(file: BinaryIO) -> int:
    file.seek(0)
    try:
        text = file.read()
    except OSError:  # Windows lets nobody else read what is locked
        return 0
    return int(text) if text.isdigit() else 0


@contextmanager
def lean_compiler() -> Iterator[None]:
    """Compile with less effort while the block runs. The caller holds numba's compiler lock."""
    if event.install_timer is _no_timer:  # a callee of the kernel that is compiled
        yield
        return
    collects, timer, optimize = gc.isenabled(), event.install_timer, CPUCodeLibrary._optimize_functions
    gc.disable()
    _replace(_no_timer, _optimize_functions)
    try:
        yield
    finally:
        _replace(timer, optimize)
        if collects:
            gc.enable()


def _replace(timer: Any, optimize: Any) -> None:
    module: Any = event
    library: Any = CPUCodeLibrary
    module.install_timer, library._optimize_functions = timer, optimize


def _no_timer(*_: Any) -> AbstractContextManager[None]:
    return nullcontext()


def _optimize_functions(library: Any, module: Any) -> None:
    """Do the same as numba's method for the functions that have code."""
    codegen = library._codegen
    module.data_layout = codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            manager, builder = codegen._function_pass_manager()
            manager.run(function, builder)


def map_on_threads(call: Callable[[A], T], items: Sequence[A], num_threads: int) -> list[T]:
    """Return ``call(item)`` for all items, computed by ``num_threads`` threads, of which the caller's is one.

    Each free thread takes the next item. An error of a call is raised when all threads have stopped.
    """
    if num_threads == 1 or len(items) <= 1:
        return [call(item) for item in items]
    results: dict[int, T] = {}
    numbered = iter(enumerate(items))  # shared: the GIL gives each item to one thread

    def work() -> None:
        for i, item in numbered:
            results[i] = call(item)

    helpers = [_threads().submit(work) for _ in range(min(num_threads, len(items)) - 1)]
    try:
        work()
    finally:
        wait([helper for helper in helpers if not helper.cancel()])
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
    return [results[i] for i in range(len(items))]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="kernel")


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads
