"""An S3 server on loopback that keeps objects in memory, and lies when a test says so: it checks no keys.

What a server must do is tested with a real one (s3_server.py); this one answers as no real one can be made to.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

Answer = tuple[int, bytes]


class MemoryS3(ThreadingHTTPServer):
    """``objects`` has the bodies by bucket and key: ``/bucket/key``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.kept: Callable[[str, bytes], bytes] = lambda _, body: body
        """Returns what is kept of the body that is sent for a key."""
        self.lie: Callable[[str, str, Answer], Answer] = lambda _, __, answer: answer
        """Returns what is answered to a method and a key, or the prefix of a listing, instead of the true answer."""
        self.location = ""
        """Where answers with a status of 300 and more lead."""
        self.requests: list[tuple[str, str]] = []
        """Method and key of each."""

    @property
    def endpoint_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True
    server: MemoryS3

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        key = unquote(url.path)
        if query:  # a listing
            key = f"{key.rstrip('/')}/{query.get('prefix', [''])[0]}"
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.command, key))
        self._send(*self.server.lie(self.command, key, self._answer(key, body, "list-type" in query, bool(query))))

    do_PUT = do_HEAD = do_DELETE = do_POST = do_GET  # noqa: N815 - names of BaseHTTPRequestHandler

    def _answer(self, key: str, body: bytes, is_listing: bool, is_query: bool) -> Answer:
        objects = self.server.objects
        match self.command:
            case "PUT" if self.headers.get("If-None-Match") == "*" and key in objects:
                return 412, b"<Error><Code>PreconditionFailed</Code></Error>"
            case "PUT":
                objects[key] = self.server.kept(key, body)
                return 200, b""
            case "DELETE":
                objects.pop(key, None)
                return 204, b""
            case "GET" if is_query:
                found = sorted(each for each in objects if each.startswith(key)) if is_listing else []
                return 200, _listed(found)
            case _ if key in objects:
                return 200, objects[key]
        return 404, b"<Error><Code>NoSuchKey</Code></Error>"

    def _send(self, status: int, body: bytes) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        tag = md5(body, usedforsecurity=False).hexdigest()
        if wanted and status == 200:
            status, body = 206, body[int(wanted[1]) : int(wanted[2] or len(body)) + 1]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{tag}"')
        if status >= 300 and self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _listed(keys: list[str]) -> bytes:
    written = "<LastModified>2026-01-01T00:00:00Z</LastModified>"
    found = "".join(f"<Contents><Key>{escape(key.split('/', 2)[2])}</Key>{written}</Contents>" for key in keys)
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>".encode()


@contextmanager
def memory_s3() -> Iterator[MemoryS3]:
    server = MemoryS3()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
