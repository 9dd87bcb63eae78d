"""A real server on loopback for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from suphx_platform.local_web import LocalServer


@contextmanager
def running_server(app: ASGIApp) -> Iterator[LocalServer]:
    """Serve ``app`` in a thread while the block runs."""
    with LocalServer(app, port=0) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join()
