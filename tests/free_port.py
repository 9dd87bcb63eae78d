"""A TCP port for a server that a test starts."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path

_FIRST = 20_000
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""From these ports the kernel serves connections and servers that ask for any port, perhaps before ours starts."""


def free_port() -> int:
    """Return a port on loopback that nothing uses now, and that the kernel gives to nobody who asks for any port."""
    end = int(_EPHEMERAL.read_text(encoding="utf-8").split()[0])
    for port in random.Random().sample(range(_FIRST, max(end, _FIRST + 1000)), k=100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError(f"none of 100 ports from {_FIRST} on is free")
