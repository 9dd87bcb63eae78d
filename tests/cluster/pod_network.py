"""Hosts of their own on one machine: network namespaces on a bridge, with addresses and names, as pods have them.

Needs root and Debian's iproute2.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

SUBNET = "10.77.0"
BRIDGE = "suphx0"
PREFIX = "suphx-"
LINK_PREFIX = "sx"
GATEWAY = f"{SUBNET}.1"
"""This machine itself, as pods see it: servers of the tests listen here."""


def missing() -> str:
    """Return what keeps this machine from having hosts of its own; empty if nothing does."""
    if os.geteuid() != 0:
        return "needs root for network namespaces: run make cluster-test as root"
    absent = [name for name in ("ip", "unshare") if shutil.which(name) is None]
    if absent:
        return f"needs {', '.join(absent)}: apt-get install iproute2 util-linux"
    if subprocess.run(["ip", "link", "add", f"{BRIDGE}t", "type", "bridge"], capture_output=True).returncode:
        return "this machine lets nobody make a bridge: give the container CAP_NET_ADMIN"
    subprocess.run(["ip", "link", "del", f"{BRIDGE}t"], check=True)
    return ""


class PodNetwork:
    """Usage::

    with pod_network() as network:
        head = network.add("head")  # its address
        network.cut("head")
        network.join("head")
    """

    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}

    def add(self, name: str) -> str:
        """Make a host; return its address."""
        number = 10 + len(self.addresses)
        address, space, link = f"{SUBNET}.{number}", PREFIX + name, f"{LINK_PREFIX}{number}"
        _ip("netns", "add", space)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", link, "master", BRIDGE, "up")
        _ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", space, "link", "set", "eth0", "up")
        _ip("-n", space, "link", "set", "lo", "up")
        _ip("-n", space, "route", "add", "default", "via", GATEWAY)
        self.addresses[name] = address
        return address

    def is_empty(self, name: str) -> bool:
        """Return whether no process is left on a host."""
        command = ["ip", "netns", "pids", PREFIX + name]
        return not subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def cut(self, name: str) -> None:
        """Let nothing through to a host, nor from it."""
        _ip("link", "set", self._link(name), "down")

    def join(self, name: str) -> None:
        """Let everything through again."""
        _ip("link", "set", self._link(name), "up")

    def hosts(self) -> str:
        """Return what belongs into /etc/hosts of every host."""
        return "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self.addresses.items())

    def _link(self, name: str) -> str:
        return f"{LINK_PREFIX}{self.addresses[name].rpartition('.')[2]}"


@contextmanager
def pod_network() -> Iterator[PodNetwork]:
    """Have a bridge while the block runs; all hosts on it go with it."""
    _remove()
    _ip("link", "add", BRIDGE, "type", "bridge")
    _ip("addr", "add", f"{GATEWAY}/24", "dev", BRIDGE)
    _ip("link", "set", BRIDGE, "up")
    try:
        yield PodNetwork()
    finally:
        _remove()


def _remove() -> None:
    """Remove what this test, or one that was killed, has left."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        if line.startswith(PREFIX):
            _ip("netns", "del", line.split()[0])
    links = subprocess.run(["ip", "-br", "link", "show", "type", "veth"], capture_output=True, text=True, check=True)
    for line in links.stdout.splitlines():  # a namespace lasts, with its end of a link, until its last process is gone
        link = line.partition("@")[0]
        if link.startswith(LINK_PREFIX):
            subprocess.run(["ip", "link", "del", link], capture_output=True)
    subprocess.run(["ip", "link", "del", BRIDGE], capture_output=True)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
