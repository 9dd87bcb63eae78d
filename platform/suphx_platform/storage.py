"""Versions of folders, kept in another folder or in a bucket: whole, checked, and the newest one first.

One layout for both: ``<name>/<version>/<files>`` and, written last and only if it is not there yet,
``<name>/<version>/manifest.json`` with the size and the SHA-256 of every part of every file. A version without a
manifest is not finished and is never read; one whose files are not what its manifest says is passed over with a
warning.

>>> storage = Storage(StorageConfig(address="s3://bucket/runs"))
>>> storage.save("laptop-1/supervised/discard", folder, number=1200)
>>> storage.restore("laptop-1/supervised/discard", folder)  # on another machine
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suphx_platform.object_store import PART_BYTES, BucketStore, FolderStore, ObjectStore

MANIFEST = "manifest.json"
FORMAT = 1
_DIGITS = 12
_VERSION = re.compile(rf"\d{{{_DIGITS}}}\.\d{{3}}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageConfig:
    """Where the results of a run are kept besides the folder of runs, so that another machine can go on."""

    address: str = ""
    """``s3://bucket/prefix`` or a folder, such as one of a shared disk; empty: nowhere. Keys come from the environment
    as usual (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, or the machine's role)."""
    endpoint_url: str = ""
    """Of an S3-compatible server that is not Amazon's; empty: AWS_ENDPOINT_URL_S3, if it is set."""
    threads: int = 8
    """Parts that are sent or fetched at a time."""
    keep_last: int = 2
    """Versions of an unfinished training that are kept."""
    keep_best: int = 0
    """Versions with the best scores that are kept besides the last ones, where there are scores."""

    def __post_init__(self) -> None:
        if self.address.startswith("s3:") and not self.address.removeprefix("s3://").partition("/")[0]:
            raise ValueError(f"address is {self.address!r}: use s3://bucket/prefix, or a folder")
        for name, least in (("threads", 1), ("keep_last", 1), ("keep_best", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {least}")

    @property
    def is_bucket(self) -> bool:
        """Tell whether the address is that of a bucket."""
        return self.address.startswith("s3://")


@dataclass(frozen=True, slots=True)
class Version:
    """One finished state of a folder."""

    path: str
    """``<name>/<number>.<attempt>``."""
    number: int
    score: float | None
    """How good it is, larger is better; None if nobody said."""
    files: dict[str, list[tuple[int, str]]]
    """Size and SHA-256 of every part, by the file's path in the folder."""


class DamagedVersionError(Exception):
    """A version's files are not what its manifest says."""


class Storage:
    """All names and versions below one address."""

    def __init__(self, config: StorageConfig) -> None:
        self._config = config
        self._store = _open(config)

    def save(self, name: str, folder: Path, *, number: int, score: float | None = None) -> Version:
        """Keep the files of ``folder`` as version ``number`` of ``name``; then remove what need not be kept.

        Files and folders whose name begins with a dot are left out. An equal number again makes another version, which
        counts as newer. Raises OSError if it cannot be written: then the versions before are as they were.
        """
        paths = {_path_of(key, name) for key in self._store.keys(f"{name}/{number:0{_DIGITS}}.")}
        attempt = 1 + max((int(path.rpartition(".")[2]) for path in paths), default=0)
        path = f"{name}/{number:0{_DIGITS}}.{attempt:03}"
        files = {}
        for file in _files(folder):
            relative = file.relative_to(folder).as_posix()
            files[relative] = list(_parts(file))
            self._store.upload(f"{path}/{relative}", file)
        version = Version(path, number, score, files)
        manifest = {"format": FORMAT, "score": score, "part_bytes": PART_BYTES, "files": files}
        self._store.put_new(f"{path}/{MANIFEST}", json.dumps(manifest).encode())
        self._prune(name)
        return version

    def versions(self, name: str) -> list[Version]:
        """Return the finished versions of ``name``, ascending; those with an unreadable manifest are left out."""
        keys = self._store.keys(f"{name}/")
        paths = [key.removesuffix(f"/{MANIFEST}") for key in keys if key.endswith(f"/{MANIFEST}")]
        found = (self._version(path) for path in paths if _VERSION.fullmatch(path.removeprefix(f"{name}/")))
        return [version for version in found if version is not None]

    def restore(self, name: str, folder: Path) -> Version | None:
        """Make ``folder`` the newest undamaged version of ``name``; return None, having done nothing, without one."""
        partial = folder.with_name(f".{folder.name}.partial")
        for version in reversed(self.versions(name)):
            shutil.rmtree(partial, ignore_errors=True)
            try:
                self._fetch(version, partial)
            except (DamagedVersionError, FileNotFoundError) as error:
                _log.warning("%s/%s is passed over: %s", self._config.address, version.path, error)
                continue
            if folder.exists():
                shutil.rmtree(folder)
            partial.rename(folder)
            return version
        shutil.rmtree(partial, ignore_errors=True)
        return None

    def _fetch(self, version: Version, folder: Path) -> None:
        folder.mkdir(parents=True)
        for name, parts in version.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            self._store.download(f"{version.path}/{name}", path, sum(size for size, _ in parts))
            if list(_parts(path)) != parts:
                raise DamagedVersionError(f"{name} is not what its manifest says")

    def _version(self, path: str) -> Version | None:
        try:
            manifest: Any = json.loads(self._store.get(f"{path}/{MANIFEST}"))
            files = {name: [(size, digest) for size, digest in parts] for name, parts in manifest["files"].items()}
            number = int(path.rpartition("/")[2].split(".")[0])
            return Version(path, number, manifest["score"], files)
        except (ValueError, KeyError, TypeError, AttributeError, FileNotFoundError) as error:
            _log.warning("%s/%s has no readable manifest: %s", self._config.address, path, error)
            return None

    def _prune(self, name: str) -> None:
        """Remove all but the last and best versions, and what was never finished before the newest one."""
        versions = self.versions(name)
        scored = sorted((v for v in versions if v.score is not None), key=lambda v: v.score or 0.0)
        kept = {v.path for v in versions[-self._config.keep_last :]}
        kept |= {v.path for v in scored[len(scored) - self._config.keep_best :]}
        newest = versions[-1].path
        by_path = {key: _path_of(key, name) for key in self._store.keys(f"{name}/")}
        by_path = {key: path for key, path in by_path.items() if _VERSION.fullmatch(path.removeprefix(f"{name}/"))}
        old = [key for key, path in by_path.items() if path < newest and path not in kept]
        # Manifests first: a version that is being removed must not look finished.
        self._store.delete(sorted(old, key=lambda key: not key.endswith(f"/{MANIFEST}")))


def _open(config: StorageConfig) -> ObjectStore:
    if not config.address:
        raise ValueError("storage.address is empty: use s3://bucket/prefix, or a folder")
    if not config.is_bucket:
        return FolderStore(Path(config.address))
    bucket, _, prefix = config.address.removeprefix("s3://").partition("/")
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return BucketStore(bucket, prefix, endpoint_url=config.endpoint_url, threads=config.threads)


def _path_of(key: str, name: str) -> str:
    return f"{name}/{key.removeprefix(f'{name}/').split('/')[0]}"


def _files(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts))


def _parts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield size and SHA-256 of each part of a file; an empty file has none."""
    with path.open("rb") as file:
        while part := file.read(PART_BYTES):
            yield len(part), hashlib.sha256(part).hexdigest()
