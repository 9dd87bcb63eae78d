"""The code that a stage depends on: the sources that its module imports, and the versions of the libraries.

The sources are found as those of a kernel are (source_closure.py): the file of the stage's function, those of the
modules that the stage names, and, recursively, every module of this project that they import. So a change of the report
does not concern the training of a net.
"""

from __future__ import annotations

import importlib.util
import inspect
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import suphx
import suphx_pipelines
import suphx_platform
from suphx.kernel.source_closure import closure_digests, imported_packages
from suphx_pipelines.engine.provenance import digest_json

LIBRARIES = ("numba", "numpy", "ray", "torch")
"""Those whose versions may change a result."""
_DIGITS = 16
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCode:
    """What a stage's result was computed with."""

    sources: Mapping[str, str]
    """Path of a source, such as ``suphx/training/supervised/supervised.py`` -> digest."""
    libraries: Mapping[str, str]
    """``python`` and the libraries that the sources import -> version, without the part that names a device."""

    def inputs(self) -> dict[str, Any]:
        """Return the entries of a stage's inputs."""
        return {"code": digest_json(dict(self.sources))[:_DIGITS], "libraries": dict(self.libraries)}


def stage_code(run: Callable[..., Any], modules: Sequence[str] = ()) -> StageCode:
    """Return the code that the function of a stage and the ``modules`` that the stage names depend on."""
    while isinstance(run, partial):
        run = run.func
    source = inspect.unwrap(run) if inspect.isroutine(run) else type(run)
    own = Path(inspect.getfile(source)).resolve()
    return _code_of(own, [_file_of(name) for name in modules])


def changes(before: StageCode, now: StageCode) -> list[str]:
    """Return what differs in short words, such as ``torch 2.12.0 -> 2.13.0``; sources first."""
    files = sorted(_different(before.sources, now.sources))
    more = [f"{len(files) - _SHOWN} more files"] if len(files) > _SHOWN else []
    libraries = [
        f"{name} {before.libraries.get(name, 'none')} -> {now.libraries.get(name, 'none')}"
        for name in sorted(_different(before.libraries, now.libraries))
    ]
    return files[:_SHOWN] + more + libraries


def _different(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    return {name for name in {*one, *other} if one.get(name) != other.get(name)}


def _file_of(module: str) -> Path:
    """Return the source of a module, which need not be imported; ModuleNotFoundError if there is none."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{module} is named by a stage, but is no module with a source")
    return Path(spec.origin).resolve()


def _code_of(file: Path, others: Sequence[Path]) -> StageCode:
    roots = _roots(file)
    digests: dict[str, str] = {}
    used: set[str] = set()
    for each in (file, *others):
        digests |= closure_digests(each, roots)
        used |= imported_packages(each, roots)
    sources = {name: digest[:_DIGITS] for name, digest in sorted(digests.items())}
    libraries = {name: library_version(name) for name in LIBRARIES if name in used}
    return StageCode(sources=sources, libraries={"python": ".".join(platform.python_version_tuple()[:2])} | libraries)


def _roots(file: Path) -> tuple[Path, ...]:
    """Return the folders that the packages of this project are in, and that of a stage's file outside of them."""
    packages = [Path(package.__path__[0]).resolve().parent for package in (suphx, suphx_platform, suphx_pipelines)]
    own = () if any(file.is_relative_to(root) for root in packages) else (file.parent,)
    return tuple(dict.fromkeys((*packages, *own)))


def library_version(library: str) -> str:
    """Return the version of an installed package without the part that names a device; ``none`` without the package."""
    try:
        return version(library).partition("+")[0]  # torch 2.13.0+cpu and +cu130 are one version on two devices
    except PackageNotFoundError:
        return "none"
