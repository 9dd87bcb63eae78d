"""The sources that a module depends on: its own file and, recursively, those of the modules it imports.

Only modules below the roots that the caller names count (this project's), at any depth of sub-packages; installed
packages do not. Every import statement counts, absolute or relative, also those inside functions. A name that a package
loads when it is first used (``__init__.pyi``, as lazy_loader reads it) counts as an import of its module. Statements
are found by a pattern because parsing takes 50 times as long; the pattern may find too much (an import statement quoted
in a text), which is safe, and a test compares it with the parser for all sources of this project.

``load_or_build`` stores lookup tables under the digest of the sources that compute them.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.cache_folder import cache_root

_COMMENT = re.compile(r"#[^\n]*|\\\n")
_STATEMENT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n;]*)|import[ \t]+([^\n;]+))", re.MULTILINE
)

PROJECT_ROOT = Path(__file__).resolve().parents[2]
"""Folder of the package suphx: a checkout, or where packages are installed."""
_INSTALLED = ("site-packages", "dist-packages")
_PROJECT = ("suphx", "suphx_cli", "suphx_pipelines", "suphx_platform")


def imported_names(source: str) -> set[str]:
    """Return the dotted names that ``source`` imports: ``a.b`` for ``import a.b`` and for ``from a import b``.

    Relative imports keep their dots: ``..a.b`` for ``from ..a import b``, ``.b`` for ``from . import b``.
    """
    names = set()
    for package, members, modules in _STATEMENT.findall(_COMMENT.sub("", source)):
        for part in (members or modules).strip("()").split(","):
            if words := part.split():
                names.add(f"{package}{'' if package.endswith('.') or not package else '.'}{words[0]}")
    return names


def closure(path: Path, roots: Sequence[Path]) -> set[str]:
    """Return ``path`` and every file below ``roots`` that it imports, directly or through others."""
    found: set[str] = set()
    waiting = [path.as_posix()]  # one form on all systems
    folders = tuple(root.as_posix() for root in roots)
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += _direct(current, folders)
    return found


def closure_digest(path: Path, roots: Sequence[Path]) -> str:
    """Return hexadecimal digits that change when any file of the closure changes, appears or disappears."""
    folders = sorted((root.as_posix() for root in roots), key=len, reverse=True)
    files = sorted((_name_below(folders, file), _content(file)[0]) for file in closure(path, roots))
    return hashlib.sha256(repr(files).encode()).hexdigest()


def last_change(path: Path, roots: Sequence[Path]) -> float:
    """Return when a file of the closure was changed last, in seconds since 1970."""
    return max(_content(file)[1] for file in closure(path, roots))


def forget() -> None:
    """Read every file again at the next call."""
    for remembered in (_modules_in, _existing, _direct, _names, _content, _lazy_names):
        remembered.cache_clear()


def _name_below(folders: Sequence[str], file: str) -> str:
    return next((file[len(folder) :] for folder in folders if file.startswith(f"{folder}/")), file)


@cache
def _direct(path: str, folders: tuple[str, ...]) -> list[str]:
    files = {file for name in _names(path) for folder in folders for file in _module_files(name, folder)}
    return sorted(files.union(*(_relative_files(name, path) for name in _names(path) if name.startswith("."))))


@cache
def _names(path: str) -> set[str]:
    return imported_names(Path(path).read_text(encoding="utf-8"))


def _relative_files(name: str, path: str) -> list[str]:
    """Return what importing ``..a.b`` in the module ``path`` runs."""
    below = name.lstrip(".")
    folder = Path(path).parents[len(name) - len(below) - 1].as_posix()
    return _existing(folder) + _files_below(below, folder)


def _module_files(name: str, folder: str) -> list[str]:
    """Return the files that importing ``name`` runs: those of its packages and its own; ``a.*`` is all of package a."""
    return _files_below(name, folder) if name.partition(".")[0] in _modules_in(folder) else []


def _files_below(name: str, folder: str) -> list[str]:
    *packages, last = name.split(".")
    files: list[str] = []
    for package in packages:
        folder = f"{folder}/{package}"
        files += _existing(folder)
    if last == "*":
        return files + [path.as_posix() for path in Path(folder).glob("*.py")]
    lazy = {module for name, module in _lazy_names(folder) if name == last}
    lazy |= {f"{last}.{module}" for _, module in _lazy_names(f"{folder}/{last}")}
    below = [file for module in sorted(lazy) for file in _files_below(module, folder)]
    return files + _existing(f"{folder}/{last}") + below


@cache
def _lazy_names(folder: str) -> list[tuple[str, str]]:
    """Return (name, module below the package) for the names that the package ``folder`` loads when first used."""
    stub = Path(folder, "__init__.pyi")
    if not stub.is_file():
        return []
    imported = imported_names(stub.read_text(encoding="utf-8"))
    paths = [name.removeprefix(".").rpartition(".") for name in imported if name.startswith(".")]
    return [(name, module) for module, _, name in paths]


@cache
def _modules_in(folder: str) -> set[str]:
    """Return the top-level modules of a root; where packages are installed, only those of this project."""
    if Path(folder).name in _INSTALLED:
        return {name for name in _PROJECT if os.path.isdir(f"{folder}/{name}")}  # noqa: PTH112
    return {name.partition(".")[0] for name in os.listdir(folder)}  # noqa: PTH208  # here and below: Path is ten times slower


@cache
def _existing(folder: str) -> list[str]:
    return [path for path in (f"{folder}.py", f"{folder}/__init__.py") if os.path.isfile(path)]  # noqa: PTH113


@cache
def _content(path: str) -> tuple[str, float]:
    """Return the digest of the file and the time of its last change."""
    changed = os.stat(path).st_mtime  # noqa: PTH116
    return hashlib.sha256(Path(path).read_bytes()).hexdigest(), changed


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
