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
import math
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from suphx.credentials import has_credentials
from suphx_platform.storage.folder_store import FolderStore
from suphx_platform.storage.folder_sync import sync, sync_tree
from suphx_platform.storage.manifest import (
    MANIFEST,
    CheckpointVersion,
    ManifestError,
    read_manifest,
    write_manifest,
)
from suphx_platform.storage.object_store import DamagedObjectError, ObjectStore
from suphx_platform.storage.s3_connection import S3Connection
from suphx_platform.storage.writer_lease import WriterLease

_DIGITS = 12
FINISHED = 10**_DIGITS - 1
"""Number of the version that something finished leaves: above all steps."""
BEST = "best"
"""Last part of the name of nets that matches have measured: ``<run>/<stage>/best``."""
ORIGIN = "origin"
"""Name below a run of its recipe and provenance."""
_MAX_ATTEMPTS = 999
_GRACE_SECONDS = 6 * 3600.0
"""How long files without a manifest stay: another writer may still be sending them."""
_PINNED = ".pinned"
"""Folder below a name: a small object for each version that must stay."""
_NOTHING = "nothing/"
"""A prefix of no object."""
_VERSION = re.compile(rf"\d{{{_DIGITS}}}\.\d{{3}}")

AddressingStyle = Literal["path", "virtual"]
Checksums = Literal["when_required", "when_supported"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageConfig:
    """Where the results of a run are kept besides the folder of runs, so that another machine can continue it."""

    address: str = ""
    """``s3://bucket/prefix`` or a folder, such as one on a shared disk; empty = none. Credentials come from the
    environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or the machine's role."""
    endpoint_url: str = ""
    """Address of an S3-compatible server; empty: AWS_ENDPOINT_URL_S3 if set, else Amazon S3."""
    addressing_style: AddressingStyle = "path"
    """Place of the bucket in the URL: ``path``, or ``virtual`` for servers that expect it in the host name."""
    checksums: Checksums = "when_required"
    """When Amazon's checksums are sent: ``when_required``, or ``when_supported``, which many other servers reject."""
    threads: int = 8
    """Parts that are uploaded or downloaded at once."""
    max_attempts: int = 8
    """Attempts per request; 8 attempts take up to three minutes when a server does not answer."""
    keep_last: int = 2
    """Number of newest versions of an unfinished training that are kept."""
    keep_every: int = 0
    """Updates (steps, in supervised learning) of an unfinished training after which one more version is kept for good;
    0: none."""
    keep_best: int = 1
    """Number of versions with the best scores that are kept in addition. Nets of self-play have one when a match
    during training has measured them (``<run>/<stage>/best``); 0: these are not stored."""
    max_waiting: int = 2
    """Saves of one training that may wait while another is being uploaded; beyond that, older ones are skipped."""
    max_outage_hours: float = 6.0
    """How long the storage may fail or not answer before the run ends with an error. Until then the run goes on, and
    uploads are tried again."""

    def __post_init__(self) -> None:
        for name in ("address", "endpoint_url"):
            if has_credentials(getattr(self, name)):
                raise ValueError(
                    f"{name} contains a user or a password, which everybody could read in the recipe: remove it, set "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                )
        if self.address.startswith("s3:") and not self.address.removeprefix("s3://").partition("/")[0]:
            raise ValueError(f"address is {self.address!r}: use s3://bucket/prefix, or a folder")
        if self.endpoint_url and not self.endpoint_url.startswith(("http://", "https://")):
            raise ValueError(f"endpoint_url is {self.endpoint_url!r}: begin with http:// or https://")
        for name, choices in (("addressing_style", get_args(AddressingStyle)), ("checksums", get_args(Checksums))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is {getattr(self, name)!r}: use {' or '.join(choices)}")
        least = {"threads": 1, "max_attempts": 1, "keep_last": 1, "keep_every": 0, "keep_best": 0, "max_waiting": 1}
        if not 0 <= self.max_outage_hours < math.inf:
            raise ValueError(f"max_outage_hours is {self.max_outage_hours}: use 0 hours or more")
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {smallest}")

    @property
    def is_bucket(self) -> bool:
        """Tell whether the address is that of a bucket."""
        return self.address.startswith("s3://")


class DamagedVersionError(Exception):
    """A version's files are not what its manifest says."""


class Storage:
    """All names and versions below one address. Every call may raise OSError that says what to do."""

    def __init__(self, config: StorageConfig) -> None:
        """Reach no server yet; ValueError without an address."""
        self.config = config
        self._store = _open(config)
        self._lease = WriterLease(self._store, config.address)

    def reach(self) -> None:
        """Check that the storage answers: PermissionError if it refuses the keys, another OSError otherwise."""
        self._store.keys(_NOTHING)

    def save(self, name: str, folder: Path, *, number: int, score: float | None = None) -> CheckpointVersion:
        """Keep the files of ``folder`` as version ``number`` of ``name``; then remove what need not be kept.

        Files and folders whose name begins with a dot are left out. An equal number again makes another version, which
        counts as newer. Raises FileExistsError if another writer has finished this version meanwhile, or has begun to
        work on this name. After any error the versions before are as they were.
        """
        self._lease.take(name)
        path = self._next_path(name, number)
        writer = uuid.uuid4().hex
        files = _files(folder)
        try:
            with ThreadPoolExecutor(self.config.threads) as pool:
                uploads = pool.map(lambda file: self._store.upload(f"{path}/{writer}/{file}", folder / file), files)
                version = CheckpointVersion(
                    path, number, score, writer, dict(zip(files, uploads, strict=True)), time.time()
                )
            self._check_writer(version)
            self._store.put_new(f"{path}/{MANIFEST}", write_manifest(version))
        except (FileExistsError, FileNotFoundError) as error:  # missing: the other one has removed what it found
            if not self._finished_paths(path):
                raise
            self._store.delete([f"{path}/{writer}/{file}" for file in files])
            text = f"{self.config.address}/{path} was finished by another writer while this one was sending it"
            raise FileExistsError(f"{text}: let only one of them work on {name}") from error
        self._prune(name)
        return version

    def names(self) -> list[str]:
        """Return all names that have a finished version, sorted."""
        keys = (key.removesuffix(f"/{MANIFEST}") for key in self._store.keys("") if key.endswith(f"/{MANIFEST}"))
        paths = (key.rpartition("/") for key in keys)
        return sorted({name for name, _, version in paths if _VERSION.fullmatch(version)})

    def versions(self, name: str) -> list[CheckpointVersion]:
        """Return the finished versions of ``name``, ascending; those with an unreadable manifest are left out."""
        found = (self._version(path) for path in self._finished_paths(f"{name}/"))
        return [version for version in found if version is not None]

    def newest_path(self, prefix: str) -> str | None:
        """Return the path of the newest version below ``prefix``: of work under way before what is finished."""
        paths = [key.removesuffix(f"/{MANIFEST}") for key in self._store.keys(f"{prefix}/") if key.endswith(MANIFEST)]
        versions = [path for path in paths if _VERSION.fullmatch(path.rpartition("/")[2]) and f"/{BEST}/" not in path]
        under_way = [path for path in versions if f"/{FINISHED:0{_DIGITS}}." not in path]
        return max(under_way or versions, key=lambda path: path.rpartition("/")[2], default=None)

    def load(self, version: CheckpointVersion, folder: Path, aside: Path | None = None) -> None:
        """Make ``folder`` what this version is; DamagedVersionError, with ``folder`` as it was, if it is damaged.

        ``aside``: where a folder that is replaced is moved, in the place of what is there; None: it is removed.
        """
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        try:
            self._fetch(version, partial)
            sync_tree(partial)  # before it has the name of a folder that is whole
            if folder.exists():
                _put_away(folder, aside)
            partial.rename(folder)
            sync(folder.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def load_newest(self, name: str, folder: Path) -> CheckpointVersion | None:
        """Load the newest version that is not damaged; return None, having done nothing, if there is none."""
        return self.load_first(reversed(self.versions(name)), folder)

    def read(self, version: CheckpointVersion, file: str) -> bytes | None:
        """Return one small file of a version, unchecked; None if the version does not have it."""
        try:
            return self._store.get(version.key(file)) if file in version.files else None
        except (DamagedObjectError, FileNotFoundError):
            return None

    def pin(self, path: str, reason: str) -> None:
        """Have no save remove the version at ``path``, because something refers to it; ``delete`` still does.

        ``reason``: what refers to it, such as ``models:/suphx/3``.
        """
        name, _, number = path.rpartition("/")
        with suppress(FileExistsError):  # it is pinned already
            self._store.put_new(f"{name}/{_PINNED}/{number}", reason.encode())

    def delete(self, name: str) -> None:
        """Remove all versions of ``name``, also those that are pinned; names below it stay."""
        self._store.delete(self._store.keys(f"{name}/{_PINNED}/"))
        paths = tuple(f"{path}/" for path in self._finished_paths(f"{name}/"))
        keys = [key for key in self._store.keys(f"{name}/") if key.startswith(paths)]
        self._store.delete(sorted(keys, key=_is_content))
        self._lease.forget(name)

    def load_best(self, name: str, folder: Path) -> CheckpointVersion | None:
        """Load the version with the best score that is not damaged; return None, having done nothing, without one."""
        scored = [version for version in self.versions(name) if version.score is not None]
        return self.load_first(sorted(scored, key=lambda version: -(version.score or 0.0)), folder)

    def load_first(
        self, versions: Iterable[CheckpointVersion], folder: Path, aside: Path | None = None
    ) -> CheckpointVersion | None:
        """Load, as ``load`` does, the first version that is not damaged; None, having done nothing, without one."""
        for version in versions:
            try:
                self.load(version, folder, aside)
            except DamagedVersionError as error:
                _log.warning("%s/%s is skipped: %s", self.config.address, version.path, error)
            else:
                return version
        return None

    def _fetch(self, version: CheckpointVersion, folder: Path) -> None:
        def fetch(file: str) -> None:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            self._store.download(version.key(file), path, version.files[file])

        folder.mkdir(parents=True)
        try:
            with ThreadPoolExecutor(self.config.threads) as pool:
                list(pool.map(fetch, version.files))
        except (DamagedObjectError, FileNotFoundError) as error:
            raise DamagedVersionError(str(error)) from error

    def _pinned_paths(self, name: str) -> set[str]:
        prefix = f"{name}/{_PINNED}/"
        return {f"{name}/{key.removeprefix(prefix)}" for key in self._store.keys(prefix)}

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
            return read_manifest(path, self._store.get(f"{path}/{MANIFEST}"))
        except (DamagedObjectError, ManifestError, FileNotFoundError) as error:
            _log.warning("%s/%s has no readable manifest: %s", self.config.address, path, error)
            return None

    def _check_writer(self, version: CheckpointVersion) -> None:
        """FileExistsError, with this version's files removed, if another process works on the name now."""
        try:
            self._lease.check(version.path.rpartition("/")[0])
        except FileExistsError:
            self._store.delete([version.key(file) for file in version.files])
            raise

    def _prune(self, name: str) -> None:
        """Remove all versions but those that are kept or pinned, and what killed writers left up to the newest one.

        Versions that cannot be read stay: they may be those of a later version of this program.
        """
        versions = self.versions(name)
        if not versions:  # another process has removed them all
            return
        kept_paths = {version.path for version in kept_versions(versions, self.config)} | self._pinned_paths(name)
        dropped = [version for version in versions if version.path not in kept_paths]
        unreadable = set(self._finished_paths(f"{name}/")) - {version.path for version in versions}
        owned = tuple(start for v in versions for start in _starts(v)) + tuple(f"{path}/" for path in unreadable)
        newest = versions[-1].path

        def is_left(key: str) -> bool:
            version = key.removeprefix(f"{name}/").partition("/")[0]
            is_version = _VERSION.fullmatch(version) is not None
            return is_version and f"{name}/{version}" <= newest and not key.startswith(owned)

        starts = tuple(start for version in dropped for start in _starts(version))
        old = [key for key in self._store.keys(f"{name}/") if starts and key.startswith(starts)]
        # Manifests first: a version that is being removed must not look finished.
        self._store.delete(sorted(old, key=_is_content))
        self._store.delete([key for key in self._store.keys(f"{name}/", _GRACE_SECONDS) if is_left(key)])
        self._store.delete_unfinished(f"{name}/", is_left, _GRACE_SECONDS)


def kept_versions(versions: Sequence[CheckpointVersion], config: StorageConfig) -> list[CheckpointVersion]:
    """Return those of ``versions`` (ascending) that a save keeps: the last, the best, and one of every ``keep_every``.

    The regular ones are the first in each stretch of numbers, so that a later save never makes another choice.
    """
    scored = sorted((v for v in versions if v.score is not None), key=lambda v: v.score or 0.0)
    kept = [*versions[-config.keep_last :], *scored[len(scored) - config.keep_best :]]
    if config.keep_every:
        stretches: dict[int, CheckpointVersion] = {}
        for version in versions:
            if version.number not in (0, FINISHED):
                stretches.setdefault(version.number // config.keep_every, version)
        kept += [version for stretch, version in stretches.items() if stretch > 0]
    return kept


def _starts(version: CheckpointVersion) -> tuple[str, str]:
    """Return how the keys of a version begin."""
    return f"{version.path}/{MANIFEST}", version.key("")


def _open(config: StorageConfig) -> ObjectStore:
    if not config.address:
        raise ValueError("storage.address is empty: use s3://bucket/prefix, or a folder")
    if not config.is_bucket:
        return FolderStore(Path(config.address))
    from suphx_platform.storage.bucket_store import BucketStore  # boto3: only when somebody needs it

    bucket, _, prefix = config.address.removeprefix("s3://").partition("/")
    prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    return BucketStore(bucket, prefix, s3_connection(config))


def s3_connection(config: StorageConfig) -> S3Connection:
    """Return how the server of a bucket is reached."""
    return S3Connection(
        endpoint_url=config.endpoint_url,
        threads=config.threads,
        max_attempts=config.max_attempts,
        addressing_style=config.addressing_style,
        checksums=config.checksums,
    )


def _put_away(folder: Path, aside: Path | None) -> None:
    if aside is None:
        shutil.rmtree(folder)
    else:
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)


def _is_content(key: str) -> bool:
    return not key.endswith(f"/{MANIFEST}")


def _files(folder: Path) -> list[str]:
    """Return the paths of the files below a folder, without what begins with a dot."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))
