"""Users and passwords in addresses: they belong in environment variables, and are never printed or stored."""

from __future__ import annotations

import re

_USER = re.compile(r"(?<=://)[^/?#\s\"'<>]*@")
"""What stands between ``://`` and the host: a user, with a password or without."""


def without_credentials(text: str) -> str:
    """Return ``text`` without the users and passwords of the addresses in it."""
    return _USER.sub("", text)


def is_unclear(address: str) -> bool:
    """Tell whether an ``@`` behind the host of a server's address may end a password with characters such as ``/``."""
    _, _, rest = without_credentials(address).partition("://")
    return "@" in rest


def has_credentials(address: str) -> bool:
    """Tell whether an address contains a user or a password."""
    return _USER.search(address) is not None
