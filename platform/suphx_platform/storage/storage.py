"""Checkpoints and results: versions of folders, kept in another folder or in a bucket, whole and checked.

One layout for both. ``<name>/<number>.<attempt>/<writer>/`` holds the files, where every save has a part of its own,
and ``<name>/<number>.<attempt>/manifest.json`` names the writer and gives size and SHA-256 of every file. The manifest
is written last and only if there is none yet: of two who write the same version one wins, the other is told. A version
without a manifest is not finished and is never read.

>>> storage = Storage(StorageConfig(address="s3://bucket/runs"))
>>> storage.save("laptop-1/reinforcement", folder, number=1200, score=-0.4)
>>> storage.load_newest("laptop-1/reinforcement", folder)  # on another machine; damaged versions are passed over
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import time
import uuid
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from suphx.atomic_file import sync
from suphx_platform.storage.manifest import MANIFEST, CheckpointVersion, ManifestError, read_manifest, write_manifest
from suphx_platform.storage.objects import DamagedObjectError, Digest, FolderStore, ObjectStore, file_digest
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.writer_lease import WriterLease

_DIGITS = 12
FINISHED = 10**_DIGITS - 1
"""Number of the version that something finished leaves: above all steps."""
BEST = "best"
"""Last part of the name of nets that matches have measured: ``<run>/<stage>/best``."""
UNDER_WAY = "workers"
"""Folder below a name with files of work that is under way, which are no version: Ray Train's checkpoints."""
ORIGIN = "origin"
"""Name below a run of its recipe and provenance."""
_NO_WORK = (BEST, ORIGIN)
"""Last parts of names whose versions are no state of a stage."""
_MAX_ATTEMPTS = 999
_GRACE_SECONDS = 6 * 3600.0
"""How long files without a manifest stay: another writer may still be sending them."""
_MAX_LISTINGS = 5
"""How often versions are listed that another process removes while they are fetched."""
_PROBE = ".probe-"
"""First part of the key of an object that only shows that objects can be written."""
_VERSION = re.compile(rf"\d{{{_DIGITS}}}\.\d{{3}}")
_NOT_KEPT = (
    "the storage said that it has stored this, and returns something else or nothing: check its disks, and proxies "
    "before it; older versions are as they were"
)

_logger = logging.getLogger(__name__)


class DamagedVersionError(Exception):
    """A version's files are not what its manifest says."""


class Storage:
    """Saves folders as versions, and loads versions into folders. Every call may raise OSError that says what to do."""

    def __init__(self, config: StorageConfig) -> None:
        """Reach no server yet; ValueError without an address."""
        self.config = config
        if not config.address:
            raise ValueError("storage.address is empty: use s3://bucket/prefix, or a folder")
        if config.is_folder:
            self._store: ObjectStore = FolderStore(Path(config.address))
        else:
            from suphx_platform.storage.bucket import BucketStore  # boto3: only when somebody needs it

            self._store = BucketStore(config)
        self._lease = WriterLease(self._store, config.address)
        self._probe = f"{_PROBE}{uuid.uuid4().hex}"
        self._may_not_remove = False
        """Whether a warning has told that old versions stay."""

    def reach(self) -> None:
        """Check that the storage answers: PermissionError if it refuses the keys, another OSError otherwise."""
        self._store.reach()

    def reach_to_write(self) -> None:
        """Check that the storage takes a small object, and remove it; errors as of ``reach``.

        A storage that does not let objects be removed costs a warning: it keeps all versions, and one such object.
        """
        self.reach()
        with suppress(FileExistsError):  # left by an earlier call
            self._store.put_new(self._probe, self._probe.encode())
        try:
            self._store.delete([self._probe])
        except PermissionError as error:
            _logger.warning("%s refuses to remove objects, so it keeps every version: %s", self.config.address, error)

    # Saving

    def save(self, name: str, folder: Path, *, number: int, score: float | None = None) -> CheckpointVersion:
        """Keep the files of ``folder`` as version ``number`` of ``name``; then remove what need not be kept.

        Files and folders whose name begins with a dot are left out. An equal number again makes another version, which
        counts as newer. All that was stored is read back before any older version is removed. Raises FileNotFoundError
        if there is no ``folder``, FileExistsError if another writer has begun to work on this name, OSError if what is
        read back is not what was sent. After any error the versions before are as they were. Versions that cannot be
        removed cause a warning: the next save removes them.
        """
        if not folder.is_dir():  # it would be a version without files
            raise FileNotFoundError(
                f"there is no folder {folder}: nothing is stored as {name}; keep the folder of a run until the run ends"
            )
        self._lease.take(name)
        finished = self._finished_paths(f"{name}/{number:0{_DIGITS}}.")
        attempt = 1 + max((int(path.rpartition(".")[2]) for path in finished), default=0)
        if attempt > _MAX_ATTEMPTS:
            raise FileExistsError(
                f"{self.config.address}/{name} has {attempt - 1} attempts at version {number}: delete it"
            )
        path, writer = f"{name}/{number:0{_DIGITS}}.{attempt:03}", uuid.uuid4().hex
        try:
            digests = self._send(folder, f"{path}/{writer}")
            version = CheckpointVersion(path=path, writer=writer, files=digests, score=score, saved=time.time())
            self._lease.check(name)
            self._store.put_new(f"{path}/{MANIFEST}", write_manifest(version))
        except (FileExistsError, FileNotFoundError):  # missing: another writer has removed what it found
            self._remove(f"{path}/{writer}/")
            self._lease.check(name)
            if not self._finished_paths(path):
                raise
            # It is ours: its manifest arrived after all. What is in this folder may be newer: it is the next version.
            return self.save(name, folder, number=number, score=score)
        if self._version(path) != version:  # not what was sent
            self._remove(f"{path}/{MANIFEST}")  # if it stays and is unreadable, it is skipped
            self._remove(f"{path}/{writer}/")
            raise OSError(f"{self.config.address}/{path}/{MANIFEST}: {_NOT_KEPT}")
        self._prune_or_warn(name, path)
        return version

    def _send(self, folder: Path, place: str) -> dict[str, Digest]:
        """Upload the files of ``folder`` below ``place``, read them back, and return their digests by name."""

        def send(file: str) -> Digest:
            key, digest = f"{place}/{file}", file_digest(folder / file)
            self._store.upload(key, folder / file)
            try:
                is_whole = self._store.digest(key) == digest
            except FileNotFoundError as error:  # another writer may have removed it
                raise FileNotFoundError(f"{self.config.address}/{key}: {_NOT_KEPT}") from error
            except DamagedObjectError:
                is_whole = False
            if not is_whole:
                raise OSError(f"{self.config.address}/{key}: {_NOT_KEPT}")
            return digest

        found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
        files = sorted(file.as_posix() for file in found if not any(part.startswith(".") for part in file.parts))
        try:
            with ThreadPoolExecutor(self.config.threads) as pool:
                return dict(zip(files, pool.map(send, files), strict=True))
        except BaseException:  # only here: once a manifest was sent, it may have arrived whatever the error says
            self._remove(f"{place}/")
            raise

    def _remove(self, prefix: str) -> None:
        """Remove what a save that failed has sent; if the storage is unavailable, a later save removes it."""
        with suppress(OSError):
            self._store.delete(self._store.keys(prefix))

    # Loading

    def load(
        self,
        version: CheckpointVersion,
        folder: Path,
        aside: Path | None = None,
        *,
        files: Collection[str] | None = None,
    ) -> None:
        """Make ``folder`` what this version is; DamagedVersionError, with ``folder`` as it was, if it is damaged.

        ``aside``: where a folder that is replaced is moved, in place of what is there; None: it is removed.
        ``files``: load only these, as far as the version has them; None: all.
        """

        def fetch(file: str) -> None:
            path, key = new / file, version.key(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._store.download(key, path)
            except (DamagedObjectError, FileNotFoundError) as error:
                raise DamagedVersionError(str(error)) from error
            if file_digest(path) != version.files[file]:
                raise DamagedVersionError(f"{key} is not what its manifest says")

        new = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        try:
            with ThreadPoolExecutor(self.config.threads) as pool:
                list(pool.map(fetch, version.files if files is None else version.files.keys() & files))
            for place, _, names in os.walk(new):  # before it has the name of a folder that is whole
                for each in (*(Path(place, name) for name in names), Path(place)):
                    sync(each)
            if folder.exists():
                if aside is not None:
                    shutil.rmtree(aside, ignore_errors=True)
                    folder.rename(aside)
                else:
                    shutil.rmtree(folder)
            new.rename(folder)
            sync(folder.parent)
        finally:
            shutil.rmtree(new, ignore_errors=True)

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

    def load_newest(self, name: str, folder: Path, *, files: Collection[str] | None = None) -> CheckpointVersion | None:
        """Load the newest version that is not damaged; return None, having done nothing, if there is none.

        ``files``: as for ``load``. Versions that another process removes meanwhile are replaced by newer ones;
        FileNotFoundError if that happens again and again.
        """
        tried: set[str] = set()
        for _ in range(_MAX_LISTINGS):
            versions = [version for version in self.versions(name)[::-1] if version.path not in tried]
            found = self.load_first(versions, folder, files=files)
            if found is not None or not versions:
                return found
            tried |= {version.path for version in versions}
        raise FileNotFoundError(
            f"{self.config.address}/{name}: its versions are removed before they are fetched: raise storage.keep_last "
            "of the run that saves them, or wait until it has ended"
        )

    def read(self, version: CheckpointVersion, file: str) -> bytes | None:
        """Return one small file of a version; None if the version does not have it, or has it damaged."""
        if file not in version.files:
            return None
        try:
            data = self._store.get(version.key(file))
        except (DamagedObjectError, FileNotFoundError):
            return None
        return data if (len(data), hashlib.sha256(data).hexdigest()) == version.files[file] else None

    # Which versions there are

    def names(self, prefix: str = "") -> list[str]:
        """Return all names that have a finished version and begin with ``prefix``, sorted."""
        return sorted({path.rpartition("/")[0] for path in self._all_finished_paths(prefix)})

    def has_any(self, name: str) -> bool:
        """Tell whether there is any object of ``name``: a version, a part of one, or the mark of a writer."""
        return bool(self._store.keys(f"{name}/"))

    def versions(self, name: str) -> list[CheckpointVersion]:
        """Return the finished versions of ``name``, ascending; those with an unreadable manifest are left out."""
        return [version for path in self._finished_paths(f"{name}/") if (version := self._version(path)) is not None]

    def newest_path(self, prefix: str) -> str | None:
        """Return the path of the version below ``prefix`` saved last: of work under way before what is finished.

        A run's recipe and measured nets do not count.
        """
        newest = [
            versions[-1]
            for name in self.names(f"{prefix}/")
            if name.rpartition("/")[2] not in _NO_WORK and (versions := self.versions(name))
        ]
        under_way = [version for version in newest if version.number != FINISHED]
        saved = [(version.saved, version.path) for version in under_way or newest]
        return max(saved)[1] if saved else None

    def _all_finished_paths(self, prefix: str) -> list[str]:
        """Return the paths of all finished versions, of any name, that begin with ``prefix``."""
        paths = [key.removesuffix(f"/{MANIFEST}") for key in self._store.keys(prefix) if key.endswith(f"/{MANIFEST}")]
        return [path for path in paths if _VERSION.fullmatch(path.rpartition("/")[2])]

    def _finished_paths(self, prefix: str) -> list[str]:
        """Return those of the name that ``prefix`` has, not of names below it."""
        return [path for path in self._all_finished_paths(prefix) if path.count("/") == prefix.count("/")]

    def _version(self, path: str) -> CheckpointVersion | None:
        try:
            return read_manifest(path, self._store.get(f"{path}/{MANIFEST}"))
        except (DamagedObjectError, ManifestError, FileNotFoundError) as error:
            _logger.warning("%s/%s has no readable manifest: %s", self.config.address, path, error)
            return None

    # Notes

    def put_note(self, key: str, data: bytes) -> None:
        """Write a small object that belongs to no version; FileExistsError if there is another one of this name."""
        self._store.put_new(key, data)

    def notes(self, prefix: str) -> dict[str, bytes]:
        """Return key -> content of the small objects whose keys begin with ``prefix``."""
        return {key: self._store.get(key) for key in self._store.keys(prefix)}

    # Removing

    def delete(self, name: str) -> None:
        """Remove all versions of ``name`` and what interrupted saves left; names below it stay.

        Uploads in parts that were never finished are aborted; if that is refused, it costs a warning.
        """
        keys = [key for key in self._store.keys(f"{name}/") if _path_of(key, name)]
        self._store.delete(sorted(keys, key=_is_content))
        try:
            self._store.delete_unfinished(f"{name}/", lambda key: bool(_path_of(key, name)))
        except OSError as error:
            address = f"{self.config.address}/{name}"
            _logger.warning("%s is deleted, but incomplete uploads may be left: %s", address, error)
        self._lease.forget(name)

    def delete_under_way(self, name: str) -> None:
        """Remove the files of work on ``name`` that were no versions yet."""
        self._store.delete(self._store.keys(f"{name}/{UNDER_WAY}/"))

    def _prune_or_warn(self, name: str, saved: str) -> None:
        """Prune; a failure is logged, and that the keys do not allow it only once as a warning."""
        try:
            self._prune(name, saved)
        except OSError as error:
            is_known = isinstance(error, PermissionError) and self._may_not_remove
            self._may_not_remove |= isinstance(error, PermissionError)
            level, address = logging.DEBUG if is_known else logging.WARNING, self.config.address
            _logger.log(level, "%s/%s is stored, but old versions are not removed: %s", address, saved, error)

    def _prune(self, name: str, saved: str) -> None:
        """Remove all versions but those that are kept, and what killed writers left up to the newest one.

        The version at the path ``saved`` stays, also beside damaged ones with higher numbers. Versions that cannot be
        read stay: they may be those of a later version of this program.
        """
        finished = self._finished_paths(f"{name}/")
        versions = [version for path in finished if (version := self._version(path)) is not None]
        if not versions:  # another process has removed them all
            return
        kept = {saved, *(version.path for version in _kept_versions(versions, self.config))}
        dropped = {version.path for version in versions} - kept
        old = [key for key in self._store.keys(f"{name}/") if _path_of(key, name) in dropped]
        # Manifests first: a version that is being removed must not look finished.
        self._store.delete(sorted(old, key=_is_content))

        owned = tuple(start for v in versions for start in (f"{v.path}/{MANIFEST}", v.key("")))
        owned += tuple(f"{path}/" for path in set(finished) - {version.path for version in versions})

        def is_left(key: str) -> bool:
            path = _path_of(key, name)
            return bool(path) and path <= versions[-1].path and not key.startswith(owned)

        self._store.delete([key for key in self._store.keys(f"{name}/", _GRACE_SECONDS) if is_left(key)])
        try:
            self._store.delete_unfinished(f"{name}/", is_left, _GRACE_SECONDS)
        except PermissionError as error:
            _logger.debug("incomplete uploads may be left: %s", error)


def _kept_versions(versions: Sequence[CheckpointVersion], config: StorageConfig) -> list[CheckpointVersion]:
    """Return those of ``versions`` (ascending) that a save keeps: the last, the best, and one of every ``keep_every``.

    The regular ones are the first in each stretch of numbers, so that a later save never makes another choice.
    """
    scored = sorted((v for v in versions if v.score is not None), key=lambda v: v.score or 0.0)
    kept = [*versions[-config.keep_last :], *scored[max(0, len(scored) - config.keep_best) :]]
    if config.keep_every:
        stretches: dict[int, CheckpointVersion] = {}
        for version in versions:
            if version.number not in (0, FINISHED):
                stretches.setdefault(version.number // config.keep_every, version)
        kept += [version for stretch, version in stretches.items() if stretch > 0]
    return kept


def _path_of(key: str, name: str) -> str:
    """Return the path of the version of ``name`` that an object belongs to, finished or not; empty if to none."""
    part = key.removeprefix(f"{name}/").partition("/")[0]
    return f"{name}/{part}" if _VERSION.fullmatch(part) else ""


def _is_content(key: str) -> bool:
    return not key.endswith(f"/{MANIFEST}")
