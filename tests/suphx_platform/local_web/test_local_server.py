"""The server of one person: no request passes without the token, from another website, or for another host."""

from __future__ import annotations

import http.client
import logging
import socket
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from suphx_platform.local_web import HOST, MAX_MESSAGE_BYTES, LocalServer, LoopbackGuard
from tests.suphx_platform.local_web.running_server import running_server


async def page(_: Request) -> PlainTextResponse:
    return PlainTextResponse("the page")


async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(await websocket.receive_text())


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with running_server(Starlette(routes=[Route("/", page), WebSocketRoute("/echo", echo)])) as server:
        yield server


def get(server: LocalServer, path: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(HOST, server.port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    status, text = answer.status, answer.read().decode()
    connection.close()
    return status, text


def test_the_page_is_for_whoever_has_the_link_and_the_token_is_in_no_log(
    server: LocalServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    assert server.link() == f"http://127.0.0.1:{server.port}/?token={server.token}"
    assert get(server, f"/?token={server.token}") == (200, "the page")
    printed = capfd.readouterr()
    assert server.token not in f"{caplog.text} {printed.out} {printed.err}"


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=x", "/?token=%C3%A9", "/none", "/?other=1"])
def test_a_request_without_the_token_is_refused(server: LocalServer, path: str) -> None:
    refused = "Refused: the token is missing or wrong: use the link that the command printed\n"
    assert get(server, path) == (403, refused)


@pytest.mark.parametrize(
    ("header", "value", "reason"),
    [
        *(("Host", host, "another host") for host in ("evil.example", "evil.example:80", "127.0.0.1", "localhost")),
        *(("Origin", origin, "another website") for origin in ("http://evil.example", "null", "http://localhost:1")),
    ],
)
def test_a_request_for_another_host_or_from_another_website_is_refused(
    server: LocalServer, header: str, value: str, reason: str
) -> None:
    status, text = get(server, f"/?token={server.token}", **{header: value})
    assert (status, reason in text) == (403, True)


@pytest.mark.parametrize(
    ("port", "host", "origin", "reason"),
    [
        *((80, host, f"http://{host}", "") for host in ("127.0.0.1", "localhost", "127.0.0.1:80")),  # as browsers do
        (80, "127.0.0.1", "http://evil.example", "another website"),
        *((8000, host, f"http://{host}", "another host") for host in ("127.0.0.1", "localhost", "127.0.0.1:80")),
        (8000, "127.0.0.1:8000", "http://127.0.0.1:8000", ""),
    ],
)
def test_browsers_leave_out_port_80(port: int, host: str, origin: str, reason: str) -> None:
    headers = [(b"host", host.encode()), (b"origin", origin.encode())]
    guard = LoopbackGuard(Starlette(), token="secret", port=port)
    found = guard._refusal({"type": "websocket", "headers": headers, "query_string": b"token=secret"})
    assert (reason in found, bool(found)) == (True, bool(reason))


@pytest.mark.parametrize(
    ("origin", "token"), [(None, None), ("http://evil.example", None), ("null", None), ("own", ""), ("own", "wrong")]
)
def test_other_websockets_are_refused(server: LocalServer, origin: str | None, token: str | None) -> None:
    own = Origin(f"http://127.0.0.1:{server.port}" if origin == "own" else origin) if origin else None
    address = f"ws://127.0.0.1:{server.port}/echo?token={server.token if token is None else token}"
    with pytest.raises(InvalidStatus, match="403"), connect(address, origin=own):
        pass


def test_a_message_longer_than_any_of_the_page_ends_the_connection(server: LocalServer) -> None:
    address = f"ws://127.0.0.1:{server.port}/echo?token={server.token}"
    origin, longest = Origin(f"http://127.0.0.1:{server.port}"), "x" * MAX_MESSAGE_BYTES
    with connect(address, origin=origin) as websocket:
        websocket.send(longest)
        assert websocket.recv(timeout=10) == longest
    with connect(address, origin=origin) as websocket:
        websocket.send(longest + "x")
        with pytest.raises(ConnectionClosedError, match="1009"):
            websocket.recv(timeout=10)


def test_the_server_listens_on_loopback_only_and_a_port_in_use_is_named(server: LocalServer) -> None:
    assert (server._socket.getsockname()[0], server._socket.family) == ("127.0.0.1", socket.AF_INET)
    with pytest.raises(ValueError, match=rf"port {server.port} on 127.0.0.1 cannot be used .*--port"):
        LocalServer(Starlette(), port=server.port)
