from __future__ import annotations

import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suphx_platform.tracking.server_probe import main
from tests.certificates import Authority
from tests.free_port import free_port


class Health(http.server.BaseHTTPRequestHandler):
    """Answers as MLflow does; ``status``: to ``/health``."""

    status = 200

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(self.status if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(context: ssl.SSLContext, status: int = 200) -> Iterator[str]:
    """Listen while the block runs; yields the port."""
    handler = type("Handler", (Health,), {"status": status})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield str(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    return tmp_path / "server.pem"


def test_a_renewed_certificate_fails_the_probe_until_the_server_has_read_it(
    tmp_path: Path, mounted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authority = Authority(tmp_path)
    with served(authority.server("suphx-mlflow")) as port:
        assert main([str(mounted), port]) == 0
        mounted.write_text(mounted.read_text() + authority.file.read_text())
        assert main([str(mounted), port]) == 0, "the first certificate is the server's own"
        authority.server("suphx-mlflow")
        assert main([str(mounted), port]) == 1
        assert "was renewed after the server had read it" in capsys.readouterr().err
        mounted.write_text("")
        assert main([str(mounted), port]) == 0, "the server would not start with it"
    renewed = authority.server("suphx-mlflow")
    with served(renewed) as port:
        assert main([str(mounted), port]) == 0


def test_a_server_that_does_not_serve_fails_the_probe(
    tmp_path: Path, mounted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(Authority(tmp_path).server("suphx-mlflow"), status=503) as port:
        assert main([str(mounted), port]) == 1
    assert "/health returned status 503" in capsys.readouterr().err
    assert main([str(mounted), str(free_port())]) == 1
    assert "the server does not answer" in capsys.readouterr().err
