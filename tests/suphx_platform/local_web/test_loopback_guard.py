from __future__ import annotations

import pytest
from starlette.applications import Starlette

from suphx_platform.local_web.loopback_guard import LoopbackGuard


def refusal(port: int, host: str, origin: str) -> str:
    """Return why a server on ``port`` refuses the websocket of a page that has the token; empty if it does not."""
    headers = [(b"host", host.encode()), (b"origin", origin.encode())]
    guard = LoopbackGuard(Starlette(), token="secret", port=port)
    return guard._refusal({"type": "websocket", "headers": headers, "query_string": b"token=secret"})


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.1:80"])
def test_browsers_leave_out_port_80(host: str) -> None:
    assert refusal(80, host, f"http://{host}") == ""
    assert "another website" in refusal(80, host, "http://evil.example")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.1:80"])
def test_another_port_is_another_host(host: str) -> None:
    assert "another host" in refusal(8000, host, f"http://{host}")
    assert refusal(8000, "127.0.0.1:8000", "http://127.0.0.1:8000") == ""


def test_no_other_host_is_let_in_on_port_80() -> None:
    assert "another host" in refusal(80, "evil.example", "http://evil.example")
