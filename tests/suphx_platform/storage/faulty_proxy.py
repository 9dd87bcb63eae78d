"""A TCP proxy on loopback that does what networks do: it holds messages back and cuts connections."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_CHUNK = 1 << 16
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: a close that sends RST."""
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class FaultyProxy:
    """Passes bytes on in both directions, until it is told otherwise."""

    def __init__(self, target_port: int) -> None:
        self._target = ("127.0.0.1", target_port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._cuts: list[tuple[bytes, int]] = []
        self._lock = threading.Lock()
        self.is_open = threading.Event()
        """While it is not set nothing is passed on."""
        self.is_open.set()
        self.is_busy = threading.Event()
        """While it is set every request is answered with 503 by the proxy itself, and its connection closed."""
        self.refusal: bytes | None = None
        """What the proxy itself answers every request with, as ``refusal`` makes it; the connection is closed."""
        self.tampering: Callable[[bytes], bytes] | None = None
        """Changes each piece of a request before the server gets it."""
        self.is_resetting = threading.Event()
        """While it is set every connection is reset as soon as it sends something."""
        self.max_answer: int | None = None
        """Bytes after which every answer is cut off."""
        self.num_cut = 0
        """Connections that were cut."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def cut(self, request: bytes, num_bytes: int, times: int = 1) -> None:
        """Cut the connection after ``num_bytes`` of the answer to a request that begins with ``request``."""
        with self._lock:
            self._cuts += [(request, num_bytes)] * times

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(self._target) as server:
            allowed: list[int] = []  # bytes of the next answer, once a cut is due
            threading.Thread(target=self._answer, args=(server, client, allowed), daemon=True).start()
            while data := client.recv(_CHUNK):
                self.is_open.wait()
                if self.is_resetting.is_set():
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                    return
                refusal = _BUSY if self.is_busy.is_set() else self.refusal
                if refusal is not None:
                    client.sendall(refusal)
                    return
                self._look(data, allowed)
                if self.max_answer is not None and not allowed:
                    allowed.append(self.max_answer)
                tampering = self.tampering
                server.sendall(data if tampering is None else tampering(data))

    def _look(self, data: bytes, allowed: list[int]) -> None:
        with self._lock:
            for cut in self._cuts:
                if data.startswith(cut[0]):
                    self._cuts.remove(cut)
                    allowed.append(cut[1])
                    return

    def _answer(self, server: socket.socket, client: socket.socket, allowed: list[int]) -> None:
        with suppress(OSError):
            while data := server.recv(_CHUNK):
                if allowed:
                    client.sendall(data[: allowed[0]])
                    allowed[0] -= len(data)
                    if allowed[0] <= 0:
                        self.num_cut += 1
                        break
                else:
                    client.sendall(data)
            for end in (client, server):
                end.shutdown(socket.SHUT_RDWR)


def refusal(status: int, code: str) -> bytes:
    """Return an answer of S3 that refuses a request."""
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
    head = f"HTTP/1.1 {status} {code}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


@contextmanager
def faulty_proxy(target_port: int) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(target_port)
    try:
        yield proxy
    finally:
        proxy.close()
