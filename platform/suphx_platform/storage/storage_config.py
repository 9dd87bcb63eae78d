"""Where the results of a run are kept, and for how long: the settings of a ``Storage``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from suphx.credentials import has_credentials, is_unclear
from suphx.number_range import Range, Steps, check_ranges

AddressingStyle = Literal["path", "virtual"]
Checksums = Literal["when_required", "when_supported"]
STORAGE_SCHEMES: tuple[str, ...] = ("s3://",)
"""How the address of a storage begins that is not a folder."""


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
    threads: Annotated[int, Range(1, 256)] = 8
    """Parts that are uploaded or downloaded at once."""
    max_attempts: Annotated[int, Range(1, 1000)] = 8
    """Attempts per request; 8 attempts take up to three minutes when a server does not answer."""
    keep_last: Annotated[int, Range(1, 1_000_000)] = 2
    """Number of newest versions of an unfinished training that are kept."""
    keep_every: Steps = 0
    """Updates (steps, in supervised learning) of an unfinished training after which one more version is kept
    permanently; 0: none."""
    keep_best: Annotated[int, Range(0, 1_000_000)] = 1
    """Number of versions with the best scores that are kept in addition. Nets of self-play have one when a match
    during training has measured them (``<run>/<stage>/best``); 0: these are not stored."""
    max_outage_hours: Annotated[float, Range(0, 100_000)] = 6.0
    """How long the storage may fail or not answer before the run ends with an error. Until then the run continues, and
    uploads are tried again."""

    def __post_init__(self) -> None:
        for name in ("address", "endpoint_url"):
            value: str = getattr(self, name)
            bucket = value.removeprefix("s3://").partition("/")[0]
            is_strange = ":" in bucket if value.startswith("s3://") else value.lower().startswith("http")
            if has_credentials(value) or (is_strange and is_unclear(value)):
                raise ValueError(
                    f"{name} contains a user or a password, which everybody could read in the recipe: remove it, set "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                )
        scheme, separator, rest = self.address.partition("://")
        is_address = scheme + separator in STORAGE_SCHEMES and rest.partition("/")[0]
        is_other = self.address.lower().startswith("s3:") or _SCHEME.match(self.address)
        if is_other and not is_address:
            raise ValueError(f"address is {_shown(self.address)}: use s3://bucket/prefix, or a folder")
        if self.endpoint_url and not self.endpoint_url.startswith(("http://", "https://")):
            raise ValueError(f"endpoint_url is {_shown(self.endpoint_url)}: begin with http:// or https://")
        check_ranges(self)

    @property
    def is_folder(self) -> bool:
        """Tell whether the address is that of a folder."""
        return bool(self.address) and not self.address.startswith(STORAGE_SCHEMES)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def _shown(address: str) -> str:
    """Return an address that is wrong as an error shows it: not if it may have a password."""
    return "not shown, as it has an @" if "@" in address else repr(address)
