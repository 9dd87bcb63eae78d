"""Checkpoints and results: versions of folders, kept in another folder or in a bucket, whole and checked.

One layout for both. ``<name>/<number>.<attempt>/<writer>/`` holds the files, where every writer has a part of its own,
and ``<name>/<number>.<attempt>/manifest.json`` names the writer and gives size and SHA-256 of every part of every
file. The manifest is written last and only if there is none yet: of two who write the same version one wins, the
other is told. A version without a manifest is not finished and is never read.

>>> storage = Storage(StorageConfig(address="s3://bucket/runs"))
>>> storage.save("laptop-1/reinforcement", folder, number=1200, score=-0.4)
>>> storage.load_newest("laptop-1/reinforcement", folder)  # on another machine; damaged versions are passed over
"""

from __future__ import annotations

import logging
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from suphx.atomic_file import sync
from suphx_platform.storage.manifest import MANIFEST, CheckpointVersion, write_manifest
from suphx_platform.storage.objects.folder_sync import sync_tree
from suphx_platform.storage.objects.object_store import DamagedObjectError, Part, check_parts, read_parsed
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.stored_versions import StoredVersions
from suphx_platform.storage.writer_lease import WriterLease

_MAX_LISTINGS = 5
"""How often versions are listed that another process removes while they are fetched."""

_NOT_KEPT = (
    "the storage said that it has stored this, and returns something else or nothing: check its disks, and proxies "
    "before it; older versions are as they were"
)

_logger = logging.getLogger(__name__)


class DamagedVersionError(Exception):
    """A version's files are not what its manifest says."""


class Storage(StoredVersions):
    """Saves folders as versions, and loads versions into folders. Every call may raise OSError that says what to do."""

    def __init__(self, config: StorageConfig) -> None:
        super().__init__(config)
        self._lease = WriterLease(self._store, config.address)
        self._unanswered: dict[str, set[str]] = {}
        """By name: writers of versions whose manifest was sent without an answer, so that it may still arrive."""
        self._may_not_remove = False
        """Whether a warning has told that old versions stay."""

    def save(self, name: str, folder: Path, *, number: int, score: float | None = None) -> CheckpointVersion:
        """Keep the files of ``folder`` as version ``number`` of ``name``; then remove what need not be kept.

        Files and folders whose name begins with a dot are left out. An equal number again makes another version, which
        counts as newer. Raises FileNotFoundError if ``folder`` is no folder, FileExistsError if another writer has
        finished this version meanwhile, or has begun to work on this name. All that was stored is read back before any
        older version is removed: OSError if it is not what was sent. After any error the versions before are as they
        were. Versions that cannot be removed cost a warning: the next save removes them.
        """
        if not folder.is_dir():  # it would be a version without files
            raise FileNotFoundError(
                f"{folder} is no folder: nothing is stored as {name}; keep the folder of a run until the run has ended"
            )
        self._lease.take(name)
        path = self._next_path(name, number)
        writer = uuid.uuid4().hex
        files = _files(folder)
        try:
            version = CheckpointVersion(
                path, number, score, writer, self._send(files, folder, f"{path}/{writer}"), time.time()
            )
            self._check_writer(version)
            self._finish(version)
            self._read_back(version)
        except (FileExistsError, FileNotFoundError) as error:  # missing: the other one has removed what it found
            if not self._finished_paths(path):
                raise
            self._store.delete([f"{path}/{writer}/{file}" for file in files])
            if self._was_ours(name, path):  # what is in this folder may be newer: it becomes the next version
                return self.save(name, folder, number=number, score=score)
            text = f"{self.config.address}/{path} was finished by another writer while this one was sending it"
            raise FileExistsError(f"{text}: let only one of them work on {name}") from error
        try:
            self._prune(name, version.path)
        except OSError as error:
            is_known = isinstance(error, PermissionError) and self._may_not_remove
            self._may_not_remove |= isinstance(error, PermissionError)
            level = logging.DEBUG if is_known else logging.WARNING
            address = self.config.address
            _logger.log(level, "%s/%s is stored, but old versions are not removed: %s", address, path, error)
        return version

    def load(
        self,
        version: CheckpointVersion,
        folder: Path,
        aside: Path | None = None,
        *,
        files: Collection[str] | None = None,
    ) -> None:
        """Make ``folder`` what this version is; DamagedVersionError, with ``folder`` as it was, if it is damaged.

        ``aside``: where a folder that is replaced is moved, in the place of what is there; None: it is removed.
        ``files``: load only these, as far as the version has them; None: all.
        """
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        try:
            self._fetch(version, partial, version.files if files is None else [*version.files.keys() & files])
            sync_tree(partial)  # before it has the name of a folder that is whole
            if folder.exists():
                _put_away(folder, aside)
            partial.rename(folder)
            sync(folder.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def load_newest(self, name: str, folder: Path, *, files: Collection[str] | None = None) -> CheckpointVersion | None:
        """Load the newest version that is not damaged; return None, having done nothing, if there is none.

        ``files``: as for ``load``. Versions that another process removes meanwhile are replaced by newer ones;
        FileNotFoundError if that happens again and again.
        """
        return self._load_in_order(name, _newest_first, folder, files)

    def read(self, version: CheckpointVersion, file: str) -> bytes | None:
        """Return one small file of a version; None if the version does not have it, or has it damaged."""

        def checked(data: bytes) -> bytes:
            check_parts(version.key(file), BytesIO(data), version.files[file])
            return data

        try:
            return read_parsed(self._store, version.key(file), checked) if file in version.files else None
        except (DamagedObjectError, FileNotFoundError):
            return None

    def delete(self, name: str) -> None:
        """Remove all versions of ``name``, also pinned ones and what interrupted saves left; names below it stay."""
        super().delete(name)
        self._lease.forget(name)

    def load_best(self, name: str, folder: Path, *, files: Collection[str] | None = None) -> CheckpointVersion | None:
        """Load the version with the best score that is not damaged; otherwise as ``load_newest``."""
        return self._load_in_order(name, _best_first, folder, files)

    def load_first(
        self,
        versions: Iterable[CheckpointVersion],
        folder: Path,
        aside: Path | None = None,
        *,
        files: Collection[str] | None = None,
    ) -> CheckpointVersion | None:
        """Load, as ``load`` does, the first version that is not damaged; None, having done nothing, without one."""
        for version in versions:
            try:
                self.load(version, folder, aside, files=files)
            except DamagedVersionError as error:
                _logger.warning("%s/%s is skipped: %s", self.config.address, version.path, error)
            else:
                return version
        return None

    def _load_in_order(
        self,
        name: str,
        order: Callable[[Sequence[CheckpointVersion]], Sequence[CheckpointVersion]],
        folder: Path,
        files: Collection[str] | None,
    ) -> CheckpointVersion | None:
        """Load the first version in an order, and list them again when all that were tried are damaged or gone."""
        tried: set[str] = set()
        for _ in range(_MAX_LISTINGS):
            versions = [version for version in order(self.versions(name)) if version.path not in tried]
            found = self.load_first(versions, folder, files=files)
            if found is not None or not versions:
                return found
            tried |= {version.path for version in versions}
        raise FileNotFoundError(
            f"{self.config.address}/{name}: its versions are removed before they are fetched: raise storage.keep_last "
            "of the run that saves them, or wait until it has ended"
        )

    def _send(self, files: Sequence[str], folder: Path, place: str) -> dict[str, list[Part]]:
        """Upload ``files`` of ``folder`` below ``place``, and read them back.

        What was sent is removed after an error or Ctrl-C.
        """

        def send(file: str) -> list[Part]:
            key = f"{place}/{file}"
            parts = self._store.upload(key, folder / file)
            try:
                self._store.check(key, parts)
            except DamagedObjectError as error:
                raise OSError(f"{self.config.address}/{key}: {_NOT_KEPT}") from error
            except FileNotFoundError as error:  # another writer may have removed it
                raise FileNotFoundError(f"{self.config.address}/{key}: {_NOT_KEPT}") from error
            return parts

        try:
            with ThreadPoolExecutor(self.config.threads) as pool:
                return dict(zip(files, pool.map(send, files), strict=True))
        except BaseException:
            with suppress(OSError):  # as when the storage is away: a later save removes it
                self._store.delete([f"{place}/{file}" for file in files])
            raise

    def _fetch(self, version: CheckpointVersion, folder: Path, files: Iterable[str]) -> None:
        def fetch(file: str) -> None:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            self._store.download(version.key(file), path, version.files[file])

        folder.mkdir(parents=True)
        try:
            with ThreadPoolExecutor(self.config.threads) as pool:
                list(pool.map(fetch, files))
        except (DamagedObjectError, FileNotFoundError) as error:
            raise DamagedVersionError(str(error)) from error

    def _finish(self, version: CheckpointVersion) -> None:
        """Write the manifest; FileExistsError if there is one. Without an answer it is remembered as ours."""
        try:
            self._store.put_new(f"{version.path}/{MANIFEST}", write_manifest(version))
        except FileExistsError:
            raise
        except OSError:
            self._unanswered.setdefault(version.path.rpartition("/")[0], set()).add(version.writer)
            raise

    def _read_back(self, version: CheckpointVersion) -> None:
        """OSError, with the version removed, unless the storage has its manifest as it was sent."""
        if self._version(version.path) == version:
            self._manifests[version.path] = version
            return
        manifest = f"{version.path}/{MANIFEST}"
        with suppress(OSError):  # a manifest that stays and cannot be read is passed over: the next save is another one
            self._store.delete([manifest, *map(version.key, version.files)])
        raise OSError(f"{self.config.address}/{manifest}: {_NOT_KEPT}")

    def _was_ours(self, name: str, path: str) -> bool:
        """Tell whether the manifest at ``path`` is one that this process has sent without getting an answer."""
        finished = self._version(path)
        return finished is not None and finished.writer in self._unanswered.get(name, ())

    def _check_writer(self, version: CheckpointVersion) -> None:
        """FileExistsError, with this version's files removed, if another process works on the name now."""
        try:
            self._lease.check(version.path.rpartition("/")[0])
        except FileExistsError:
            self._store.delete([version.key(file) for file in version.files])
            raise


def _newest_first(versions: Sequence[CheckpointVersion]) -> Sequence[CheckpointVersion]:
    return versions[::-1]


def _best_first(versions: Sequence[CheckpointVersion]) -> Sequence[CheckpointVersion]:
    scored = [version for version in versions if version.score is not None]
    return sorted(scored, key=lambda version: -(version.score or 0.0))


def _put_away(folder: Path, aside: Path | None) -> None:
    if aside is None:
        shutil.rmtree(folder)
    else:
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)


def _files(folder: Path) -> list[str]:
    """Return the paths of the files below a folder, without what begins with a dot."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))
