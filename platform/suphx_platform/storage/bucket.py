"""Objects (see objects.py) in a bucket of Amazon S3 or an S3-compatible server, and how the bucket is reached.

boto3, and pyarrow, which Ray Train uses, get the same settings. Keys come from the environment or the machine's role,
as each library finds them; both look in the same places.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from boto3.s3.transfer import TransferConfig, create_transfer_manager
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
)
from s3transfer.exceptions import RetriesExceededError

from suphx.credentials import without_credentials
from suphx_platform.storage.objects import (
    DamagedObjectError,
    Digest,
    ExpiredKeysError,
    check_small,
    room_for,
)
from suphx_platform.storage.storage_config import StorageConfig

PART_BYTES = 16 * 2**20
"""Of a file that is sent or fetched in parts."""
CONNECT_SECONDS = 10
READ_SECONDS = 20
"""Without a byte of an answer."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_BODY_ATTEMPTS = 5
_CONFLICT_ATTEMPTS, _CONFLICT_SECONDS = 5, 0.2
_WRONG_KEYS = "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they may do in this bucket"
_EXPIRED_KEYS = "get new temporary keys, and set AWS_SESSION_TOKEN with them"
_REMEDIES = {
    "NoSuchBucket": "make the bucket first, or correct its name in storage.address",
    "QuotaExceeded": "free space in the bucket, or raise its quota",
    "RequestTimeTooSkewed": "set the clock of this machine",
}


class ConflictError(OSError):
    """Another request to write the same object, perhaps a retry of ours, is still under way."""


class BucketStore:
    """Objects below ``s3://bucket/prefix``; boto3's transfer manager sends and fetches files, large ones in parts."""

    def __init__(self, config: StorageConfig) -> None:
        self._bucket, _, prefix = config.address.removeprefix("s3://").partition("/")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._client = s3_client(config)
        transfers = TransferConfig(
            multipart_threshold=PART_BYTES,
            multipart_chunksize=PART_BYTES,
            max_concurrency=config.threads,
            num_download_attempts=_BODY_ATTEMPTS,
            preferred_transfer_client="classic",  # the same on all machines, with the settings of our client
        )
        self._transfers = create_transfer_manager(self._client, transfers)  # one, so that all files share its threads

    def reach(self) -> None:
        """Ask for the first key."""
        with self._explained(""):
            self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)

    def put_new(self, key: str, data: bytes) -> None:
        """Write a small object; FileExistsError if there is another one already.

        An object with the same bytes counts as ours: if the answer to a request is lost, boto3 sends it again. One that
        is gone when it is read was another writer's, who has removed it since.
        """
        for attempt in range(_CONFLICT_ATTEMPTS):
            try:
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
        with self._explained(key):
            answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)
            with closing(answer["Body"]) as body:
                check_small(key, answer["ContentLength"])
                return bytes(body.read())

    def upload(self, key: str, path: Path) -> None:
        """Send a file, in parts if it is large."""
        self._transfer(key, self._transfers.upload, str(path), self._bucket, self._prefix + key)

    def download(self, key: str, path: Path) -> None:
        """Fetch an object, in ranges if it is large."""
        with room_for(path):
            self._transfer(key, self._transfers.download, self._bucket, self._prefix + key, str(path))

    def digest(self, key: str) -> Digest:
        """Read an object back, in ranges if it is large; nothing of it is kept."""
        found = _HashingStream()
        self._transfer(key, self._transfers.download, self._bucket, self._prefix + key, found)
        return found.size, found.hash.hexdigest()

    def keys(self, prefix: str, min_age: float = 0.0) -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        found = self._listed("list_objects_v2", "Contents", prefix)
        return sorted(
            entry["Key"].removeprefix(self._prefix) for entry in found if _is_aged(entry["LastModified"], min_age)
        )

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects one by one: some servers want checksums for lists that others do not know."""
        for key in keys:
            self._call("delete_object", key)

    def delete_unfinished(self, prefix: str, is_old: Callable[[str], bool], min_age: float = 0.0) -> None:
        """Abort multipart uploads, whose parts would be stored, and paid for, for ever."""
        for entry in self._listed("list_multipart_uploads", "Uploads", prefix):
            key = entry["Key"].removeprefix(self._prefix)
            if is_old(key) and _is_aged(entry["Initiated"], min_age):
                with suppress(FileNotFoundError):
                    self._call("abort_multipart_upload", key, UploadId=entry["UploadId"])

    def _holds(self, key: str, data: bytes) -> bool:
        with suppress(FileNotFoundError, DamagedObjectError):
            return self.get(key) == data
        return False

    def _call(self, operation: str, key: str, **options: Any) -> None:
        with self._explained(key):
            getattr(self._client, operation)(Bucket=self._bucket, Key=self._prefix + key, **options)

    def _listed(self, operation: str, what: str, prefix: str) -> list[dict[str, Any]]:
        with self._explained(prefix):
            pages = self._client.get_paginator(operation).paginate(Bucket=self._bucket, Prefix=self._prefix + prefix)
            return [entry for page in pages for entry in page.get(what, [])]

    def _transfer(self, key: str, begin: Callable[..., Any], *arguments: object) -> None:
        with self._explained(key):
            transfer = begin(*arguments)
            try:
                transfer.result()
            except RetriesExceededError as error:
                raise error.last_exception from error
            except BaseException:
                transfer.cancel()  # the manager removes the parts that it has sent
                raise

    @contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        """Turn the errors of boto3 into our own, which say which object, what, and what to do."""
        address = f"s3://{self._bucket}/{self._prefix}{key}"
        try:
            yield
        except ClientError as error:
            raise _error(address, str(error.response.get("Error", {}).get("Code"))) from error
        except NoCredentialsError as error:
            raise PermissionError(f"{address}: no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") from error
        except (ConnectionError, HTTPClientError) as error:
            text = "check that the server is up, and storage.endpoint_url (or AWS_ENDPOINT_URL_S3)"
            raise OSError(f"{address}: no answer ({without_credentials(str(error))}): {text}") from error
        except KeyError as error:  # boto3 takes the rest of an answer of XML that was cut off for the whole
            text = "the answer was cut off on its way, or is a proxy's; look at the network and at proxies"
            raise OSError(f"{address}: the server's answer lacks {error}: {text}") from error
        except BotoCoreError as error:
            reason = without_credentials(str(error))
            raise OSError(f"{address}: {reason}: check the settings that begin with AWS_, and storage") from error


class _HashingStream:
    """Hashes what is written to it, in its order."""

    def __init__(self) -> None:
        self.hash, self.size = hashlib.sha256(), 0

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        self.hash.update(data)
        self.size += len(data)


def s3_client(config: StorageConfig) -> Any:
    """Return a client of boto3."""
    # A session of its own: boto3's default one keeps the keys that it saw first.
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=config.endpoint_url or None,
        config=Config(
            s3={"addressing_style": config.addressing_style},
            request_checksum_calculation=config.checksums,
            response_checksum_validation=config.checksums,
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": config.max_attempts},
            max_pool_connections=2 * config.threads,  # those of the transfer manager, and the small objects
        ),
    )
    client.meta.events.register_first("needs-retry.s3", partial(_refuse_redirect, client.meta.endpoint_url))
    return client


def s3_file_system(config: StorageConfig) -> Any:
    """Return a file system of pyarrow, which may be pickled; ``s3_environment`` must be set where it is used."""
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    endpoint = config.endpoint_url or next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    scheme, _, host = endpoint.rpartition("://")
    options: dict[str, Any] = {"endpoint_override": host, "scheme": scheme or "https"} if endpoint else {}
    region = boto3.session.Session().region_name
    return S3FileSystem(
        force_virtual_addressing=config.addressing_style == "virtual",
        connect_timeout=CONNECT_SECONDS,
        request_timeout=READ_SECONDS,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=config.max_attempts),
        **options | ({"region": region} if region else {}),
    )


def s3_environment(config: StorageConfig) -> Mapping[str, str]:
    """Return the variables from which Amazon's C++ library, below pyarrow, reads when it sends checksums."""
    return {"AWS_REQUEST_CHECKSUM_CALCULATION": config.checksums, "AWS_RESPONSE_CHECKSUM_VALIDATION": config.checksums}


def _refuse_redirect(endpoint_url: str, response: Any, **_: object) -> None:
    """OSError for an answer that leads to another address: boto3 would ask for the bucket's region there, without end.

    What leads to another region of Amazon's names it, and is left to boto3.
    """
    if response is None:
        return
    answer, _ = response
    if 300 <= answer.status_code < 400 and "x-amz-bucket-region" not in answer.headers:
        to = urlsplit(answer.headers.get("Location", ""))
        where = f"{to.scheme}://{to.netloc.rpartition('@')[2]}" if to.netloc else "another address"
        raise OSError(
            f"{endpoint_url} redirects to {where}: set storage.endpoint_url (or AWS_ENDPOINT_URL_S3) to the address "
            "that answers itself"
        )


def _is_aged(when: datetime, min_age: float) -> bool:
    return min_age <= 0 or (datetime.now(UTC) - when).total_seconds() >= min_age


def _error(address: str, code: str) -> Exception:
    match code:
        case "412" | "PreconditionFailed":
            return FileExistsError(f"{address} exists already")
        case "409" | "ConditionalRequestConflict":
            return ConflictError(f"{address}: the server says {code}: another request to write it is under way")
        case "404" | "NoSuchKey" | "NotFound" | "NoSuchUpload":
            return FileNotFoundError(f"{address} does not exist")
        case "416" | "InvalidRange":
            return DamagedObjectError(f"{address} is shorter than its manifest says")
        case "403" | "AccessDenied" | "InvalidAccessKeyId" | "SignatureDoesNotMatch":
            return PermissionError(f"{address}: the server says {code}: {_WRONG_KEYS}")
        case "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired":  # temporary keys that are no longer valid
            return ExpiredKeysError(f"{address}: the server says {code}: {_EXPIRED_KEYS}")
        case _:
            return OSError(f"{address}: the server says {code}: {_REMEDIES.get(code, 'look into its log')}")
