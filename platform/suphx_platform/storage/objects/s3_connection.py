"""How an S3-compatible server is reached: one set of settings for boto3 and for pyarrow, which Ray Train uses.

Keys come from the environment or the machine's role, as each library finds them; both look in the same places.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

CONNECT_SECONDS = 10
READ_SECONDS = 20
"""Without a byte of an answer."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""In the order in which boto3 reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Connection:
    """Settings of a server; ``storage_config.s3_connection`` makes them from the storage's config."""

    endpoint_url: str
    """Empty: what AWS_ENDPOINT_URL_S3 says, or Amazon's own."""
    threads: int
    """Parts that are sent or fetched at a time."""
    max_attempts: int
    """Times that a request is tried."""
    addressing_style: str
    """``path`` or ``virtual``."""
    checksums: str
    """``when_required`` or ``when_supported``."""

    def client(self) -> Any:
        """Return a client of boto3."""
        import boto3
        from botocore.config import Config

        # A session of its own: boto3's default one keeps the keys that it saw first.
        client = boto3.session.Session().client(
            "s3",
            endpoint_url=self.endpoint_url or None,
            config=Config(
                s3={"addressing_style": self.addressing_style},
                request_checksum_calculation=self.checksums,
                response_checksum_validation=self.checksums,
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"mode": "standard", "total_max_attempts": self.max_attempts},
                max_pool_connections=2 * self.threads,  # those of the transfer manager, and the small objects
            ),
        )
        refuse = partial(_refuse_redirect, client.meta.endpoint_url)
        client.meta.events.register_first("needs-retry.s3", refuse)
        return client

    def file_system(self) -> Any:
        """Return a file system of pyarrow, which may be pickled; ``environment`` must be set where it is used."""
        import boto3
        from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

        endpoint = self.endpoint_url or next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
        scheme, _, host = endpoint.rpartition("://")
        options: dict[str, Any] = {"endpoint_override": host, "scheme": scheme or "https"} if endpoint else {}
        region = boto3.session.Session().region_name
        return S3FileSystem(
            force_virtual_addressing=self.addressing_style == "virtual",
            connect_timeout=CONNECT_SECONDS,
            request_timeout=READ_SECONDS,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=self.max_attempts),
            **options | ({"region": region} if region else {}),
        )

    def environment(self) -> Mapping[str, str]:
        """Return the variables from which Amazon's C++ library, below pyarrow, reads when it sends checksums."""
        return {
            "AWS_REQUEST_CHECKSUM_CALCULATION": self.checksums,
            "AWS_RESPONSE_CHECKSUM_VALIDATION": self.checksums,
        }


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
