"""Where a result comes from: digests of its inputs and of the code, the commit, the machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import suphx
import suphx_pipelines
import suphx_platform
from suphx.credentials import without_credentials
from suphx.file_tree import files_below

PACKAGES = ("suphx", "numpy", "numba", "torch", "mlflow")
LIBRARIES = ("numba", "numpy", "ray", "torch")
"""Those whose versions may change a result."""
COMMIT_VARIABLE, IMAGE_VARIABLE = "SUPHX_COMMIT", "SUPHX_IMAGE"
"""Environment variables of the images and of the chart."""
_DIGITS = 16


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
    """Return the commit of this source tree, with ``-dirty`` if files differ from it.

    Outside git it is SUPHX_COMMIT, which the images set, or ``unknown``. A repository that this package is only
    installed in does not count.
    """
    found = _git("describe", "--always", "--abbrev=40", "--dirty", "--exclude=*")
    return found or os.environ.get(COMMIT_VARIABLE) or "unknown"


def source_tags() -> dict[str, str]:
    """Return MLflow's tags of where the code comes from, as far as that is known: commit, branch, repository, image."""
    found = {
        "git.commit": git_commit(),
        "git.branch": _git("branch", "--show-current"),
        "git.repoURL": without_credentials(_git("config", "--get", "remote.origin.url")),
    }
    tags = {f"mlflow.source.{name}": text for name, text in found.items() if text}
    image = os.environ.get(IMAGE_VARIABLE)
    return tags | ({"mlflow.docker.image.uri": image} if image else {})


def _git(*arguments: str) -> str:
    """Return what git says of this source tree; nothing outside git."""

    def call(*own: str) -> str:
        place = Path(__file__).parent
        return subprocess.run(["git", *own], cwd=place, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return call(*arguments) if call("ls-files", Path(__file__).name) else ""
    except (OSError, subprocess.CalledProcessError):
        return ""


def environment() -> dict[str, str]:
    """Return the versions and the machine that a result was made with."""
    facts = {"commit": git_commit(), "python": platform.python_version(), "system": platform.platform()}
    facts["processor"] = f"{platform.machine()}, {os.cpu_count()} cores"
    return facts | {name: version(name) for name in PACKAGES}


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hex digits; OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def code_digest() -> str:
    """Return a digest of this project's sources and of the versions of Python and ``LIBRARIES``."""
    versions = {name: library_version(name) for name in LIBRARIES}
    sources = {
        f"{package.__name__}/{path.relative_to(root).as_posix()}": digest_file(path)
        for package in (suphx, suphx_platform, suphx_pipelines)
        for root in (Path(package.__path__[0]),)
        for path in sorted(root.rglob("*.py"))
    }
    return digest_json([sources, platform.python_version_tuple()[:2], versions])[:_DIGITS]


def library_version(library: str) -> str:
    """Return the version of an installed package without the part that names a device; ``none`` without the package."""
    try:
        return version(library).partition("+")[0]  # torch 2.13.0+cpu and +cu130 are one version on two devices
    except PackageNotFoundError:
        return "none"
