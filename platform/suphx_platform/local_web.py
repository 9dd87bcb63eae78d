"""Serves an ASGI application on loopback.

>>> with LocalServer(app, port=0) as server:
...     print(server.link())  # http://127.0.0.1:41231/?token=…
...     server.serve()  # until Ctrl-C
"""

from __future__ import annotations

import hmac
import secrets
import socket
from typing import Self
from urllib.parse import quote

import uvicorn
from starlette.datastructures import Headers, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
_HTTP_PORT = 80
POLICY_VIOLATION = 1008
"""Close code of a refused websocket."""


class LoopbackGuard:
    """An ASGI application around another one, which gets only the requests that pass."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        """``token``: what each request has as ``?token=``; ``port``: where the server listens."""
        self._app = app
        self._token = token.encode()
        self._hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        if port == _HTTP_PORT:
            self._hosts |= {HOST, "localhost"}  # as browsers write them

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 403."""
        reason = self._refusal(scope) if scope["type"] in ("http", "websocket") else ""
        if not reason:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason})
        else:
            await PlainTextResponse(f"Refused: {reason}\n", status_code=403)(scope, receive, send)

    def _refusal(self, scope: Scope) -> str:
        """Return why a request is refused, or ""."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts:
            return "the request is for another host: use the link that the command printed"
        if origin != f"http://{host}" and (origin is not None or scope["type"] == "websocket"):
            return "the request comes from another website"
        token = QueryParams(scope["query_string"]).get("token", "")
        if not hmac.compare_digest(token.encode(), self._token):
            return "the token is missing or wrong: use the link that the command printed"
        return ""


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
        self.token = secrets.token_urlsafe(32)
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
