"""Which versions a storage has: those of a name, the newest one, those that stay; and removing the others."""

from __future__ import annotations

import hashlib
import logging
import re
import uuid
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from suphx_platform.storage.manifest import MANIFEST, CheckpointVersion, ManifestError, read_manifest
from suphx_platform.storage.objects.folder_store import FolderStore
from suphx_platform.storage.objects.object_store import DamagedObjectError, ObjectStore, read_parsed
from suphx_platform.storage.storage_config import StorageConfig, s3_connection

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
_PINNED = ".pinned"
"""Folder below a name: a small object for each version that must stay and each reason for it."""
_OUTLIVED = ".outlived"
"""Folder below a name: a small object for each version that saves would have removed but for its pins."""
_REASON = "-"
"""Between the number of a pinned version and the digest of the reason."""
_PROBE = ".probe-"
"""First part of the key of an object that only shows that objects can be written."""
_VERSION = re.compile(rf"\d{{{_DIGITS}}}\.\d{{3}}")

_logger = logging.getLogger(__name__)


class StoredVersions:
    """The names and versions below one address, without their files. Every call may raise OSError that says what to do.

    Only finished versions count: those that have a manifest.
    """

    def __init__(self, config: StorageConfig) -> None:
        """Reach no server yet; ValueError without an address."""
        self.config = config
        self._store = _open(config)
        self._probe = f"{_PROBE}{uuid.uuid4().hex}"
        self._manifests: dict[str, CheckpointVersion] = {}
        """By path: of versions that this process keeps or has looked through to remove others."""

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

    def names(self) -> list[str]:
        """Return all names that have a finished version, sorted."""
        keys = (key.removesuffix(f"/{MANIFEST}") for key in self._store.keys("") if key.endswith(f"/{MANIFEST}"))
        paths = (key.rpartition("/") for key in keys)
        return sorted({name for name, _, version in paths if _VERSION.fullmatch(version)})

    def has_any(self, name: str) -> bool:
        """Tell whether there is any object of ``name``: a version, a part of one, or the mark of a writer."""
        return bool(self._store.keys(f"{name}/"))

    def put_note(self, key: str, data: bytes) -> None:
        """Write a small object that belongs to no version; FileExistsError if there is another one of this name."""
        self._store.put_new(key, data)

    def notes(self, prefix: str) -> dict[str, bytes]:
        """Return key -> content of the small objects whose keys begin with ``prefix``."""
        return {key: self._store.get(key) for key in self._store.keys(prefix)}

    def versions(self, name: str) -> list[CheckpointVersion]:
        """Return the finished versions of ``name``, ascending; those with an unreadable manifest are left out."""
        found = (self._version(path) for path in self._finished_paths(f"{name}/"))
        return [version for version in found if version is not None]

    def _versions_of_writer(self, name: str) -> list[CheckpointVersion]:
        """Return what ``versions`` does; each manifest is fetched once, as only this process works on the name."""
        found = []
        for path in self._finished_paths(f"{name}/"):
            version = self._manifests.get(path) or self._version(path)
            if version is not None:
                self._manifests[path] = version
                found.append(version)
        known = {version.path for version in found}
        self._forget(name, known)
        return found

    def _forget(self, name: str, known: Collection[str] = ()) -> None:
        """Forget the manifests of ``name`` but those of the paths ``known``; another thread may note some meanwhile."""
        for path in list(self._manifests):
            if path.rpartition("/")[0] == name and path not in known:
                self._manifests.pop(path, None)

    def newest_path(self, prefix: str) -> str | None:
        """Return the path of the newest version below ``prefix``: of work under way before what is finished.

        The newest of several names is the one that was saved last. A run's recipe and measured nets do not count.
        """
        paths: dict[str, list[str]] = {}
        for key in self._store.keys(f"{prefix}/"):
            name, _, version = key.removesuffix(f"/{MANIFEST}").rpartition("/")
            if key.endswith(f"/{MANIFEST}") and _VERSION.fullmatch(version) and name.rpartition("/")[2] not in _NO_WORK:
                paths.setdefault(name, []).append(f"{name}/{version}")
        finished = f"/{FINISHED:0{_DIGITS}}."
        under_way = {name: own for name, own in paths.items() if not any(finished in path for path in own)}
        found = (self._newest_readable(own) for own in (under_way or paths).values())
        newest = max(filter(None, found), key=lambda version: (version.saved, version.path), default=None)
        return None if newest is None else newest.path

    def _newest_readable(self, paths: Sequence[str]) -> CheckpointVersion | None:
        versions = (self._version(path) for path in sorted(paths, reverse=True))
        return next((version for version in versions if version is not None), None)

    def pin(self, path: str, reason: str) -> None:
        """Have no save remove the version at ``path``, because something refers to it; ``delete`` still does.

        ``reason``: what refers to it, such as ``models:/suphx/3``. Each reason is a pin of its own. FileNotFoundError,
        with no pin left, if there is no such version.
        """
        with suppress(FileExistsError):  # it is pinned already
            self._store.put_new(_pin_key(path, reason), reason.encode())
        if not self._store.keys(f"{path}/{MANIFEST}"):  # asked last: no save that begins now removes it
            self._store.delete([_pin_key(path, reason)])
            raise FileNotFoundError(f"{self.config.address}/{path} has been removed: newer versions have replaced it")

    def pin_only(self, path: str, reason: str) -> None:
        """Pin the version at ``path``, and unpin all others of its name that are pinned for the same ``reason``."""
        self.pin(path, reason)
        name, ending = path.rpartition("/")[0], _pin_key(path, reason).rpartition(_REASON)[2]
        for other in sorted(self._marked(name, _PINNED, ending) - {path}):
            self.unpin(other, reason)

    def unpin(self, path: str, reason: str) -> None:
        """Remove the pin for ``reason``; without a pin left, remove the version too if saves keep it no more.

        The same call again does the rest after a kill, and otherwise nothing.
        """
        name = path.rpartition("/")[0]
        self._store.delete([_pin_key(path, reason)])
        if path in self._marked(name, _PINNED) or path not in self._marked(name, _OUTLIVED):
            return
        self._store.delete(sorted(self._store.keys(f"{path}/"), key=_is_content))
        self._store.delete([_mark_key(path, _OUTLIVED)])

    def delete(self, name: str) -> None:
        """Remove all versions of ``name``, also pinned ones and what interrupted saves left; names below it stay.

        Uploads in parts that were never finished are aborted; if that is refused, it costs a warning.
        """
        self._forget(name)
        for marks in (_PINNED, _OUTLIVED):
            self._store.delete(self._store.keys(f"{name}/{marks}/"))
        keys = [key for key in self._store.keys(f"{name}/") if _version_of(key, name)]
        self._store.delete(sorted(keys, key=_is_content))
        try:
            self._store.delete_unfinished(f"{name}/", lambda key: bool(_version_of(key, name)))
        except OSError as error:
            address = f"{self.config.address}/{name}"
            _logger.warning("%s is deleted, but uploads that were cut off may be left: %s", address, error)

    def delete_under_way(self, name: str) -> None:
        """Remove the files of work on ``name`` that were no versions yet."""
        self._store.delete(self._store.keys(f"{name}/{UNDER_WAY}/"))

    def _marked(self, name: str, marks: str, ending: str = "") -> set[str]:
        """Return the paths of the versions that have an object with this ``ending`` in one of the folders of marks."""
        prefix = f"{name}/{marks}/"
        found = (key.removeprefix(prefix) for key in self._store.keys(prefix) if key.endswith(ending))
        return {f"{name}/{mark.partition(_REASON)[0]}" for mark in found}

    def _note_outlived(self, name: str, paths: set[str]) -> None:
        """Note for ``unpin`` that only their pins keep these versions of ``name``, and no others."""
        noted = self._marked(name, _OUTLIVED)
        for path in sorted(paths - noted):
            with suppress(FileExistsError):
                self._store.put_new(_mark_key(path, _OUTLIVED), b"")
        self._store.delete([_mark_key(path, _OUTLIVED) for path in sorted(noted - paths)])

    def _next_path(self, name: str, number: int) -> str:
        """Return the first path of ``number`` that nobody has finished."""
        finished = self._finished_paths(f"{name}/{number:0{_DIGITS}}.")
        attempt = 1 + max((int(path.rpartition(".")[2]) for path in finished), default=0)
        if attempt > _MAX_ATTEMPTS:
            raise FileExistsError(
                f"{self.config.address}/{name} has {attempt - 1} attempts at version {number}: delete it"
            )
        return f"{name}/{number:0{_DIGITS}}.{attempt:03}"

    def _finished_paths(self, prefix: str) -> list[str]:
        paths = [key.removesuffix(f"/{MANIFEST}") for key in self._store.keys(prefix) if key.endswith(f"/{MANIFEST}")]
        return [
            path
            for path in paths
            if _VERSION.fullmatch(path.rpartition("/")[2]) and path.count("/") == prefix.count("/")
        ]

    def _version(self, path: str) -> CheckpointVersion | None:
        try:
            return read_parsed(self._store, f"{path}/{MANIFEST}", partial(read_manifest, path))
        except (DamagedObjectError, ManifestError, FileNotFoundError) as error:
            _logger.warning("%s/%s has no readable manifest: %s", self.config.address, path, error)
            return None

    def _has_manifest(self, path: str) -> bool:
        try:
            self._store.get(f"{path}/{MANIFEST}")
        except FileNotFoundError:
            return False
        except DamagedObjectError:
            pass
        return True

    def _prune(self, name: str, saved: str) -> None:
        """Remove all versions but those that are kept or pinned, and what killed writers left up to the newest one.

        The one at the path ``saved`` stays, also beside damaged ones with higher numbers. Versions that cannot be read
        stay: they may be those of a later version of this program.
        """
        versions = self._versions_of_writer(name)
        if not versions:  # another process has removed them all
            return
        kept_paths = {saved, *(version.path for version in kept_versions(versions, self.config))}
        pinned = self._marked(name, _PINNED)
        outdated = [version for version in versions if version.path not in kept_paths]
        if pinned:
            self._note_outlived(name, {version.path for version in outdated if version.path in pinned})
        dropped = [version for version in outdated if version.path not in pinned]
        unreadable = set(self._finished_paths(f"{name}/")) - {version.path for version in versions}
        owned = tuple(start for v in versions for start in _starts(v)) + tuple(f"{path}/" for path in unreadable)
        newest = versions[-1].path

        def is_left(key: str) -> bool:
            version = _version_of(key, name)
            return bool(version) and f"{name}/{version}" <= newest and not key.startswith(owned)

        starts = tuple(start for version in dropped for start in _starts(version))
        old = [key for key in self._store.keys(f"{name}/") if starts and key.startswith(starts)]
        for version in dropped:
            self._manifests.pop(version.path, None)
        # Manifests first: a version that is being removed must not look finished.
        self._store.delete(sorted(old, key=_is_content))
        left = [key for key in self._store.keys(f"{name}/", _GRACE_SECONDS) if is_left(key)]
        paths = {f"{name}/{_version_of(key, name)}" for key in left} - {version.path for version in versions}
        hidden = tuple(f"{path}/" for path in paths if self._has_manifest(path))  # a listing may lack a manifest
        self._store.delete([key for key in left if not key.startswith(hidden)])
        try:
            self._store.delete_unfinished(f"{name}/", is_left, _GRACE_SECONDS)
        except PermissionError as error:
            _logger.debug("uploads that were cut off may be left: %s", error)


def kept_versions(versions: Sequence[CheckpointVersion], config: StorageConfig) -> list[CheckpointVersion]:
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


def _version_of(key: str, name: str) -> str:
    """Return the version of ``name`` that an object belongs to, finished or not; empty if to none."""
    part = key.removeprefix(f"{name}/").partition("/")[0]
    return part if _VERSION.fullmatch(part) else ""


def _mark_key(path: str, marks: str) -> str:
    """Return the key of the object in a folder of marks for the version at ``path``."""
    name, _, number = path.rpartition("/")
    return f"{name}/{marks}/{number}"


def _pin_key(path: str, reason: str) -> str:
    return f"{_mark_key(path, _PINNED)}{_REASON}{hashlib.sha256(reason.encode()).hexdigest()[:16]}"


def _starts(version: CheckpointVersion) -> tuple[str, str]:
    """Return how the keys of a version begin."""
    return f"{version.path}/{MANIFEST}", version.key("")


def _open(config: StorageConfig) -> ObjectStore:
    if not config.address:
        raise ValueError("storage.address is empty: use s3://bucket/prefix, or a folder")
    if not config.is_bucket:
        return FolderStore(Path(config.address))
    from suphx_platform.storage.objects.bucket_store import BucketStore  # boto3: only when somebody needs it

    bucket, _, prefix = config.address.removeprefix("s3://").partition("/")
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return BucketStore(bucket, prefix, s3_connection(config))


def _is_content(key: str) -> bool:
    return not key.endswith(f"/{MANIFEST}")
