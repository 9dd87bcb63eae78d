"""Objects (see object_store.py) in a bucket of Amazon S3 or of any server that speaks its language."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from boto3.s3.transfer import TransferConfig, create_transfer_manager
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    ResponseStreamingError,
)
from s3transfer.exceptions import RetriesExceededError

from suphx.credentials import without_credentials
from suphx_platform.storage.objects.hashed_file import HashedBytes, HashedFile
from suphx_platform.storage.objects.object_store import (
    PART_BYTES,
    READS,
    SMALL_BYTES,
    DamagedObjectError,
    ExpiredKeysError,
    Part,
    check_parts,
    check_small,
    named_if_full,
    writable,
)
from suphx_platform.storage.objects.s3_connection import S3Connection
from suphx_platform.storage.objects.time_limit import within

_BODY_ATTEMPTS = 5
_ATTEMPT_SECONDS, _SLOWEST_BYTES_PER_SECOND = 60.0, 64 << 10
"""The limit of a call as a whole: so long for each attempt that it may take, and for what it sends or fetches."""
_LIST_BYTES = 16 << 20
"""More than a listing has."""
_MISSING = {"404", "NoSuchKey", "NotFound"}
_EXISTS = {"412", "PreconditionFailed"}
_UNDER_WAY = {"409", "ConditionalRequestConflict"}
"""Another request to write the object, perhaps ours that was sent again, is not decided yet."""
_CONFLICT_ATTEMPTS, _CONFLICT_SECONDS = 5, 0.2
_BROKEN_BODY = (IncompleteReadError, ResponseStreamingError, HTTPClientError)
_REFUSED = {"403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"}
_EXPIRED = {"ExpiredToken", "InvalidToken", "TokenRefreshRequired"}
"""Codes of servers for temporary keys that are no longer valid."""
_WRONG_KEYS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they may do in this bucket"
_EXPIRED_KEYS = "get new temporary keys, and set AWS_SESSION_TOKEN with them"
_REMEDIES = {
    "NoSuchBucket": "make the bucket first, or mend its name in storage.address",
    "QuotaExceeded": "free space in the bucket, or raise its quota",
    "RequestTimeTooSkewed": "set the clock of this machine",
}


class ConflictError(OSError):
    """Another request to write the same object is under way."""


class BucketStore:
    """Objects in a bucket, below ``prefix``; boto3's transfer manager sends and fetches files, large ones in parts."""

    def __init__(self, bucket: str, prefix: str, connection: S3Connection) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._client = connection.client()
        self._max_attempts = connection.max_attempts
        config = TransferConfig(
            multipart_threshold=PART_BYTES,
            multipart_chunksize=PART_BYTES,
            max_concurrency=connection.threads,
            num_download_attempts=_BODY_ATTEMPTS,
            preferred_transfer_client="classic",  # the same on all machines, with the settings of our client
        )
        self._transfers = create_transfer_manager(self._client, config)  # one, so that all files share its threads
        self._waiting_bytes = 0
        """Of all transfers that the manager has been given and has not finished."""
        self._lock = threading.Lock()

    def reach(self) -> None:
        """Ask for the first key."""
        with self._told(""):
            request = partial(self._client.list_objects_v2, Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)
            _check_listing(within(self._max_seconds(0), request))

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object that must not exist.

        One with these very bytes is taken for ours: the answer to the request may have been lost and the request sent
        again. One that is gone when it is read was another writer's, who has removed it since.
        """
        for attempt in range(_CONFLICT_ATTEMPTS):
            try:
                with self._told(key):
                    self._call("put_object", key, Body=data, IfNoneMatch="*")
                return
            except FileExistsError:
                if not self._holds(key, data):
                    raise
                return
            except ConflictError:
                if attempt + 1 == _CONFLICT_ATTEMPTS:
                    raise
                time.sleep(_CONFLICT_SECONDS * 2**attempt)

    def get(self, key: str) -> bytes:
        """Return a small object."""
        with self._told(key):
            return self._body(key)

    def upload(self, key: str, path: Path) -> list[Part]:
        """Send a file, in parts if it is large."""
        with self._told(key), path.open("rb") as file:
            source = HashedFile(file)
            with self._sharing(path.stat().st_size) as num_bytes:
                self._finish(self._transfers.upload(source, self._bucket, self._prefix + key), num_bytes)
            return source.parts()

    def download(self, key: str, path: Path, parts: Sequence[Part]) -> None:
        """Fetch an object, in ranges if it is large, and compare it with its parts."""
        if not parts:
            with writable(path):
                return
        with self._told(key), named_if_full(path), self._sharing(sum(size for size, _ in parts)) as num_bytes:
            self._finish(self._transfers.download(self._bucket, self._prefix + key, str(path)), num_bytes)
        with path.open("rb") as file:
            check_parts(key, file, parts)

    def check(self, key: str, parts: Sequence[Part]) -> None:
        """Read an object back, in ranges if it is large; nothing of it is kept."""
        found = HashedBytes()
        with self._told(key), self._sharing(sum(size for size, _ in parts)) as num_bytes:
            self._finish(self._transfers.download(self._bucket, self._prefix + key, found), num_bytes)
        if found.parts() != list(parts):
            raise DamagedObjectError(f"{key} is not what was sent")

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        found = self._listed("list_objects_v2", "Contents", prefix)
        return sorted(
            entry["Key"].removeprefix(self._prefix) for entry in found if _is_aged(entry["LastModified"], min_age)
        )

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects one by one: some servers want checksums for lists that others do not know."""
        for key in keys:
            with self._told(key):
                self._call("delete_object", key)

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool], min_age: float = 0.0) -> None:
        """Abort multipart uploads, whose parts would be stored, and paid for, for ever."""
        for entry in self._listed("list_multipart_uploads", "Uploads", prefix):
            key = entry["Key"].removeprefix(self._prefix)
            if is_old(key) and _is_aged(entry["Initiated"], min_age):
                with suppress(FileNotFoundError), self._told(key):
                    self._call("abort_multipart_upload", key, UploadId=entry["UploadId"])

    def _holds(self, key: str, data: bytes) -> bool:
        with suppress(FileNotFoundError, DamagedObjectError):
            return any(self.get(key) == data for _ in range(READS))  # an answer may be damaged on its way
        return False

    def _call(self, operation: str, key: str, **options: Any) -> Any:
        """Return the answer to a request; TimeoutError after ``_max_seconds`` of what it sends."""
        request = partial(getattr(self._client, operation), Bucket=self._bucket, Key=self._prefix + key, **options)
        return within(self._max_seconds(len(options.get("Body", b""))), request)

    def _max_seconds(self, num_bytes: int) -> float:
        """Return the limit of a call that sends or fetches ``num_bytes``."""
        return _ATTEMPT_SECONDS * self._max_attempts + num_bytes / _SLOWEST_BYTES_PER_SECOND

    def _listed(self, operation: str, what: str, prefix: str) -> list[dict[str, Any]]:
        def fetch() -> list[dict[str, Any]]:
            pages = self._client.get_paginator(operation).paginate(Bucket=self._bucket, Prefix=self._prefix + prefix)
            return [entry for page in pages for entry in _check_listing(page).get(what, [])]

        with self._told(prefix):
            return within(self._max_seconds(_LIST_BYTES), fetch)

    @contextmanager
    def _sharing(self, num_bytes: int) -> Iterator[int]:
        """Count a transfer while the block runs; yield the bytes of all, which may be sent or fetched before it."""
        with self._lock:
            self._waiting_bytes += num_bytes
            all_bytes = self._waiting_bytes
        try:
            yield all_bytes
        finally:
            with self._lock:
                self._waiting_bytes -= num_bytes

    def _finish(self, transfer: Any, num_bytes: int) -> None:
        """Wait for a transfer of the manager; TimeoutError, with the transfer cancelled, if it takes too long.

        ``num_bytes``: of this transfer and those that began before it and share the manager's threads.
        """
        try:
            within(self._max_seconds(num_bytes), transfer.result)
        except RetriesExceededError as error:
            raise error.last_exception from error
        except BaseException:
            transfer.cancel()  # the manager removes the parts that it has sent
            raise

    def _body(self, key: str) -> bytes:
        """Return a small object; TimeoutError if it takes too long."""
        return within(self._max_seconds(SMALL_BYTES), partial(self._fetch, key))

    def _fetch(self, key: str) -> bytes:
        """Return what a server sends; boto3 asks again by itself only until the answer has begun."""
        for attempt in range(1, _BODY_ATTEMPTS + 1):
            answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)
            check_small(key, answer["ContentLength"])
            try:
                body: bytes = answer["Body"].read()
            except _BROKEN_BODY:
                if attempt == _BODY_ATTEMPTS:
                    raise
            else:
                break
        return body

    @contextmanager
    def _told(self, key: str) -> Iterator[None]:
        """Turn the errors of boto3 into our own, which say which object, what, and what to do."""
        address = f"s3://{self._bucket}/{self._prefix}{key}"
        try:
            yield
        except ClientError as error:
            raise _error(address, str(error.response.get("Error", {}).get("Code"))) from error
        except NoCredentialsError as error:
            raise PermissionError(f"{address}: no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") from error
        except TimeoutError as error:
            text = "the server is too slow, or sends a byte now and then; look at its load and at the network"
            raise OSError(f"{address}: no whole answer in the time that a call may take: {text}") from error
        except (ConnectionError, HTTPClientError) as error:
            text = "look whether the server is up, and at storage.endpoint_url (or AWS_ENDPOINT_URL_S3)"
            raise OSError(f"{address}: no answer ({without_credentials(str(error))}): {text}") from error
        except KeyError as error:  # boto3 takes the rest of an answer of XML that was cut off for the whole
            text = "the answer was cut off on its way, or is a proxy's; look at the network and at proxies"
            raise OSError(f"{address}: the server's answer lacks {error}: {text}") from error
        except BotoCoreError as error:
            told = without_credentials(str(error))
            raise OSError(f"{address}: {told}: check the settings that begin with AWS_, and storage") from error


def _check_listing(page: dict[str, Any]) -> dict[str, Any]:
    """Return an answer to a listing; KeyError if it is none, such as a proxy's page: boto3 finds no entries in it."""
    page["IsTruncated"]
    return page


def _is_aged(when: datetime, min_age: float) -> bool:
    return min_age <= 0 or (datetime.now(UTC) - when).total_seconds() >= min_age


def _error(address: str, code: str) -> Exception:
    if code in _EXISTS:
        return FileExistsError(f"{address} exists already")
    if code in _UNDER_WAY:
        return ConflictError(f"{address}: the server says {code}: another request to write it is under way")
    if code in _MISSING or code == "NoSuchUpload":
        return FileNotFoundError(f"{address} does not exist")
    if code in ("416", "InvalidRange"):
        return DamagedObjectError(f"{address} is shorter than its manifest says")
    if code in _REFUSED:
        return PermissionError(f"{address}: the server says {code}: {_WRONG_KEYS}")
    if code in _EXPIRED:
        return ExpiredKeysError(f"{address}: the server says {code}: {_EXPIRED_KEYS}")
    return OSError(f"{address}: the server says {code}: {_REMEDIES.get(code, 'look into its log')}")
