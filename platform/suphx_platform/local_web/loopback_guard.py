"""Refuses every request that does not come from the page of this server: by token, by host and by origin.

The token keeps out other users and programs of the machine, as long as they do not see the command line of the browser
that opens the link (/proc without hidepid shows it). A website in the same browser can send requests to
loopback, too: its ``Origin`` differs, and a name of its own that it lets point here (DNS rebinding) shows in ``Host``.
"""

from __future__ import annotations

import hmac
import secrets

from starlette.datastructures import Headers, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
_HTTP_PORT = 80
POLICY_VIOLATION = 1008
"""Close code of a refused websocket."""


def new_token() -> str:
    """Return a token of 256 random bits that fits a link."""
    return secrets.token_urlsafe(32)


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
