"""Where a result comes from: digests of its inputs and its code, the commit, the machine.

The code of a stage is the file of its function, the modules that the stage names, and, recursively, every module of
this project that they import (source_closure.py). So a change of the report does not concern the training of a net.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import suphx
import suphx_pipelines
import suphx_platform
from suphx.file_tree import files_below
from suphx.kernel.source_closure import closure_digests, imported_packages

PACKAGES = ("suphx", "numpy", "numba", "torch", "mlflow")
LIBRARIES = ("numba", "numpy", "ray", "torch")
"""Those whose versions may change a result."""
_DIGITS = 16
_SHOWN = 3


def digest_json(value: object) -> str:
    """Return 64 hex digits of a plain value: the same for the same content, whatever the order of keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def digest_files(path: Path) -> dict[str, str]:
    """Return name -> SHA-256 of a file, or of all files in a folder; names are relative to it.

    Names that begin with a dot do not count (file_tree.py). Raises ValueError if there is nothing.
    """
    if not path.exists():
        raise ValueError(f"{path}: no such file or folder of records: check --records")
    if path.is_file():
        return {path.name: digest_file(path)}
    digests = {file.relative_to(path).as_posix(): digest_file(file) for file in files_below(path)}
    if not digests:
        raise ValueError(f"{path} is an empty folder: put game records there, or leave --records out")
    return digests


def git_commit() -> str:
    """Return the commit of this source tree, with ``-dirty`` if files differ from it, or ``unknown`` outside git.

    A repository that this package is only installed in does not count.
    """

    def git(*arguments: str) -> str:
        place = Path(__file__).parent
        return subprocess.run(["git", *arguments], cwd=place, capture_output=True, text=True, check=True).stdout.strip()

    try:
        is_ours = git("ls-files", Path(__file__).name)
        return git("describe", "--always", "--abbrev=40", "--dirty", "--exclude=*") if is_ours else "unknown"
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def environment() -> dict[str, str]:
    """Return the versions and the machine that a result was made with."""
    facts = {"commit": git_commit(), "python": platform.python_version(), "system": platform.platform()}
    facts["processor"] = f"{platform.machine()}, {os.cpu_count()} cores"
    return facts | {name: version(name) for name in PACKAGES}


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hex digits; OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCode:
    """What a stage's result was computed with."""

    sources: Mapping[str, str]
    """Path of a source, such as ``suphx/training/supervised.py`` -> digest."""
    libraries: Mapping[str, str]
    """``python`` and the libraries that the sources import -> version, without the part that names a device."""

    def inputs(self) -> dict[str, Any]:
        """Return the entries of a stage's inputs."""
        return {"code": digest_json(dict(self.sources))[:_DIGITS], "libraries": dict(self.libraries)}


def stage_code(run: Callable[..., Any], modules: Sequence[str] = ()) -> StageCode:
    """Return the code that a stage depends on: of its function, of functions bound to that by name, of ``modules``."""
    runs = [run]
    while isinstance(runs[0], partial):
        first = runs[0]
        runs = [first.func, *runs[1:], *filter(callable, first.keywords.values())]
    files = [*map(_source_of, runs), *map(_file_of, modules)]
    packages = [Path(package.__path__[0]).resolve().parent for package in (suphx, suphx_platform, suphx_pipelines)]
    own = () if any(files[0].is_relative_to(root) for root in packages) else (files[0].parent,)
    roots = tuple(dict.fromkeys((*packages, *own)))
    digests: dict[str, str] = {}
    used: set[str] = set()
    for each in files:
        digests |= closure_digests(each, roots)
        used |= imported_packages(each, roots)
    sources = {name: digest[:_DIGITS] for name, digest in sorted(digests.items())}
    libraries = {name: library_version(name) for name in LIBRARIES if name in used}
    return StageCode(sources=sources, libraries={"python": ".".join(platform.python_version_tuple()[:2])} | libraries)


def changes(before: StageCode, now: StageCode) -> list[str]:
    """Return what differs in short words, such as ``torch 2.12.0 -> 2.13.0``; sources first."""
    files, libraries = (
        sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
        for one, other in ((before.sources, now.sources), (before.libraries, now.libraries))
    )
    more = [f"{len(files) - _SHOWN} more files"] if len(files) > _SHOWN else []
    versions = [
        f"{name} {before.libraries.get(name, 'none')} -> {now.libraries.get(name, 'none')}" for name in libraries
    ]
    return files[:_SHOWN] + more + versions


def _file_of(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{module} is named by a stage, but is no module with a source")
    return Path(spec.origin).resolve()


def _source_of(run: Callable[..., Any]) -> Path:
    while isinstance(run, partial):
        run = run.func
    source = inspect.unwrap(run) if inspect.isroutine(run) else type(run)
    return Path(inspect.getfile(source)).resolve()


def library_version(library: str) -> str:
    """Return the version of an installed package without the part that names a device; ``none`` without the package."""
    try:
        return version(library).partition("+")[0]  # torch 2.13.0+cpu and +cu130 are one version on two devices
    except PackageNotFoundError:
        return "none"
