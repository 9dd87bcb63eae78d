"""Users, passwords and keys: they belong in environment variables, and are never printed or stored."""

from __future__ import annotations

import os
import re

_USER = re.compile(r"(?<=://)[^/?#\s\"'<>]*@")
"""What stands between ``://`` and the host: a user, with a password or without."""
_SECRET = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL", re.IGNORECASE)
"""In the name of an environment variable whose value is a secret."""
_MIN_SECRET_LENGTH = 6
"""Shorter values are words such as ``true``."""


def without_credentials(text: str) -> str:
    """Return ``text`` without the users and passwords of the addresses in it."""
    return _USER.sub("", text)


def without_secrets(text: str) -> str:
    """Return ``text`` without credentials in addresses, and without the values of secret environment variables."""
    for name, value in os.environ.items():
        if len(value) >= _MIN_SECRET_LENGTH and _SECRET.search(name):
            text = text.replace(value, "***")
    return without_credentials(text)


def is_unclear(address: str) -> bool:
    """Tell whether an ``@`` behind the host of a server's address may end a password with characters such as ``/``."""
    _, _, rest = without_credentials(address).partition("://")
    return "@" in rest


def has_credentials(address: str) -> bool:
    """Tell whether an address contains a user or a password."""
    return _USER.search(address) is not None
