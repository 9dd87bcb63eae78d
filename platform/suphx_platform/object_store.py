"""Files by name in a folder or in a bucket of an S3-compatible server: the few verbs that storage.py needs.

What is relied on is safe on every such server: whole single puts, puts of small objects that must not exist yet
(``If-None-Match: *``), multipart uploads that appear whole or not at all, ranged reads.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

PART_BYTES = 16 * 2**20
_MAX_ATTEMPTS = 8
_MISSING = {"404", "NoSuchKey", "NotFound"}
_EXISTS = {"412", "PreconditionFailed", "ConditionalRequestConflict"}


class ObjectStore(Protocol):
    """Keys are paths with slashes; every object appears whole or not at all. All verbs raise OSError on failure."""

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object; FileExistsError if there is one already, whoever else may be writing."""
        ...

    def get(self, key: str) -> bytes:
        """Return a small object; FileNotFoundError if there is none."""
        ...

    def upload(self, key: str, path: Path) -> None:
        """Write the file ``path`` as an object, over one that may be there."""
        ...

    def download(self, key: str, path: Path, size: int) -> None:
        """Write an object of ``size`` bytes as the file ``path``; FileNotFoundError if there is none."""
        ...

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; those that are not there are no error."""
        ...


class FolderStore:
    """Objects are files below ``root``."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object that must not exist."""
        path = self._path(key)
        with self._partial(path) as partial:
            partial.write_bytes(data)
            _sync(partial)
            os.link(partial, path)  # unlike a rename it never replaces what is there

    def get(self, key: str) -> bytes:
        """Return a small object."""
        return (self._root / key).read_bytes()

    def upload(self, key: str, path: Path) -> None:
        """Copy a file in."""
        target = self._path(key)
        with self._partial(target) as partial:
            shutil.copyfile(path, partial)
            _sync(partial)
            partial.replace(target)

    def download(self, key: str, path: Path, size: int) -> None:
        """Copy a file out."""
        shutil.copyfile(self._root / key, path)

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        below = self._root / prefix.rpartition("/")[0]
        found = (p for p in below.rglob("*") if p.is_file() and not p.name.startswith("."))
        keys = (p.relative_to(self._root).as_posix() for p in found)
        return sorted(key for key in keys if key.startswith(prefix))

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects, and folders that are empty then."""
        for key in keys:
            path = self._root / key
            path.unlink(missing_ok=True)
            with suppress(OSError):  # not empty yet, or another process was faster
                path.parent.rmdir()

    def _path(self, key: str) -> Path:
        path = self._root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @contextmanager
    def _partial(self, path: Path) -> Iterator[Path]:
        partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


class BucketStore:
    """Objects in a bucket, below ``prefix``; large ones go and come in parts, several at a time."""

    def __init__(self, bucket: str, prefix: str, *, endpoint_url: str, threads: int) -> None:
        """``endpoint_url``: of the server; empty for what AWS_ENDPOINT_URL_S3 says, or Amazon's own."""
        import boto3
        from botocore.config import Config

        self._bucket = bucket
        self._prefix = prefix
        self._threads = threads
        # A session of its own: boto3's default one keeps the keys that it saw first.
        self._client: Any = boto3.session.Session().client(
            "s3",
            endpoint_url=endpoint_url or None,
            config=Config(
                s3={"addressing_style": "path"},  # no name service knows the buckets of most servers
                request_checksum_calculation="when_required",  # many servers know no other checksums
                response_checksum_validation="when_required",
                retries={"mode": "standard", "max_attempts": _MAX_ATTEMPTS},
                max_pool_connections=threads,
            ),
        )

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object that must not exist."""
        with self._told(key):
            self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=data, IfNoneMatch="*")

    def get(self, key: str) -> bytes:
        """Return a small object."""
        with self._told(key):
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)["Body"].read()
            return body

    def upload(self, key: str, path: Path) -> None:
        """Send a file, in parts if it is large."""
        with self._told(key):
            if path.stat().st_size <= PART_BYTES:
                self._client.put_object(Bucket=self._bucket, Key=self._prefix + key, Body=path.read_bytes())
            else:
                self._upload_parts(self._prefix + key, path)

    def download(self, key: str, path: Path, size: int) -> None:
        """Fetch an object, in ranges if it is large."""

        def fetch(first: int) -> None:
            last = min(first + PART_BYTES, size) - 1
            answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key, Range=f"bytes={first}-{last}")
            os.pwrite(file.fileno(), answer["Body"].read(), first)

        with self._told(key), path.open("wb") as file, ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(fetch, range(0, size, PART_BYTES)))

    def keys(self, prefix: str) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        with self._told(prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix + prefix
            )
            found = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return sorted(key.removeprefix(self._prefix) for key in found)

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects one by one: some servers want checksums for lists that others do not know."""
        for key in keys:
            with self._told(key):
                self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)

    def _upload_parts(self, key: str, path: Path) -> None:
        place = {"Bucket": self._bucket, "Key": key}
        place["UploadId"] = self._client.create_multipart_upload(**place)["UploadId"]

        def send(number: int) -> dict[str, Any]:
            data = os.pread(file.fileno(), PART_BYTES, (number - 1) * PART_BYTES)
            answer = self._client.upload_part(**place, PartNumber=number, Body=data)
            return {"PartNumber": number, "ETag": answer["ETag"]}

        try:
            with path.open("rb") as file, ThreadPoolExecutor(self._threads) as pool:
                parts = list(pool.map(send, range(1, 1 + -(-path.stat().st_size // PART_BYTES))))
            self._client.complete_multipart_upload(**place, MultipartUpload={"Parts": parts})
        except BaseException:
            self._client.abort_multipart_upload(**place)  # or its parts would be stored, and paid for, for ever
            raise

    @contextmanager
    def _told(self, key: str) -> Iterator[None]:
        """Turn the errors of boto3 into OSError that says which object, what, and what to do."""
        from botocore.exceptions import BotoCoreError, ClientError

        address = f"s3://{self._bucket}/{self._prefix}{key}"
        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code"))
            if code in _EXISTS:
                raise FileExistsError(f"{address} exists already") from error
            if code in _MISSING:
                raise FileNotFoundError(f"{address} does not exist") from error
            raise OSError(f"{address}: the server says {code}: {_remedy(code)}") from error
        except BotoCoreError as error:
            text = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and storage.endpoint_url (or AWS_ENDPOINT_URL_S3)"
            raise OSError(f"{address}: {error}: {text}") from error


def _remedy(code: str) -> str:
    if code == "NoSuchBucket":
        return "make the bucket first, or mend its name in storage.address"
    if code in ("403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"):
        return "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they may do in this bucket"
    return "look into the server's log"
