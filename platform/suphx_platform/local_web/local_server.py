"""Serves an ASGI application on loopback.

>>> with LocalServer(app, port=0) as server:
...     print(server.link())  # http://127.0.0.1:41231/?token=…
...     server.serve()  # until Ctrl-C
"""

from __future__ import annotations

import socket
from typing import Self
from urllib.parse import quote

import uvicorn
from starlette.types import ASGIApp

from suphx_platform.local_web.loopback_guard import HOST, LoopbackGuard, new_token

MAX_MESSAGE_BYTES = 4096
"""Of one message from a browser."""
_SECONDS_TO_CLOSE = 1


class LocalServer:
    """A server whose port is open from the start and whose token is its own."""

    def __init__(self, app: ASGIApp, *, port: int) -> None:
        """Open ``port`` on loopback, 0 for any free one; ValueError if it cannot be used."""
        try:
            self._socket = socket.create_server((HOST, port))
        except OSError as error:
            raise ValueError(
                f"port {port} on {HOST} cannot be used ({error.strerror}): choose another with --port"
            ) from error
        self.port: int = self._socket.getsockname()[1]
        self.token = new_token()
        config = uvicorn.Config(
            LoopbackGuard(app, token=self.token, port=self.port),
            http="h11",
            ws="websockets-sansio",
            ws_max_size=MAX_MESSAGE_BYTES,
            lifespan="on",
            log_level="warning",
            access_log=False,  # it would contain the token
            server_header=False,
            timeout_graceful_shutdown=_SECONDS_TO_CLOSE,
        )
        self._server = uvicorn.Server(config)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def link(self, path: str = "/") -> str:
        """Return the address of a page, with the token."""
        return f"http://{HOST}:{self.port}{quote(path)}?token={self.token}"

    def serve(self) -> None:
        """Serve until Ctrl-C, which is raised as KeyboardInterrupt, or until ``stop``."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let ``serve`` return; may be called from another thread."""
        self._server.should_exit = True
