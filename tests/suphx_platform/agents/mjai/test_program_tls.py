"""A program over TLS, with real sockets and certificates: whom it may be, and what errors say."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from suphx_platform.agents.agent_forms import split_program
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.mjai.programs import CA_FILE, MjaiProgram, TlsAddress
from tests.suphx_platform.agents.mjai.certificates import Authority

ANSWER = {"type": "none", "note": "x" * 100_000}
"""Longer than a record of TLS, which has at most 16 KiB."""
Peer = Callable[[socket.socket], object]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that is trusted."""
    authority = Authority(tmp_path)
    monkeypatch.setenv(CA_FILE, str(authority.file))
    return authority


def listen(stack: ExitStack, peer: Peer, tls: ssl.SSLContext | None) -> int:
    """Return the port of ``peer``, which gets each connection in a thread, encrypted if there is ``tls``."""
    server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

    def serve() -> None:
        with suppress(OSError):  # the client leaves when it does not accept the certificate
            connection, _ = server.accept()
            with connection if tls is None else tls.wrap_socket(connection, server_side=True) as channel:
                peer(channel)

    threading.Thread(target=serve, daemon=True).start()
    return int(server.getsockname()[1])


def connect(stack: ExitStack, port: int, host: str = "127.0.0.1", seconds: float = 20.0) -> MjaiProgram:
    program = MjaiProgram(TlsAddress(host, port), 3, seconds, start_seconds=seconds)
    stack.callback(program.close)
    return program


def echo_length(connection: socket.socket) -> None:
    with connection.makefile("rwb") as lines:
        for line in lines:
            lines.write(json.dumps({**ANSWER, "length": len(line)}).encode() + b"\n")
            lines.flush()


def test_long_lines_go_both_ways_over_a_verified_connection(stack: ExitStack, authority: Authority) -> None:
    program = connect(stack, listen(stack, echo_length, authority.server("127.0.0.1")))
    for length in (10, 1_000_000, 3):
        events = [{"type": "x" * length}]
        program.send(events)
        assert program.receive() == {**ANSWER, "length": len(json.dumps(events, separators=(",", ":"))) + 1}


def test_a_program_sees_the_end_of_a_game(stack: ExitStack, authority: Authority) -> None:
    ends: list[bytes] = []
    is_over = threading.Event()

    def peer(connection: socket.socket) -> None:
        while data := connection.recv(100):
            ends.append(data)
        ends.append(b"end")
        is_over.set()

    strict = authority.server("127.0.0.1")
    program = connect(stack, listen(stack, peer, strict))
    program.send([])
    program.close()
    assert is_over.wait(10)
    assert ends[-1] == b"end"


def test_a_program_that_leaves_is_noticed(stack: ExitStack, authority: Authority) -> None:
    program = connect(stack, listen(stack, lambda connection: connection.recv(1), authority.server("127.0.0.1")))
    program.send([{"type": "start_game"}])
    with pytest.raises(ValueError, match=r"^mjai-tls:127\.0\.0\.1:\d+ \(seat 3\): it has closed the connection"):
        program.receive()


def test_a_program_that_never_answers_is_told_the_form_with_seconds(stack: ExitStack, authority: Authority) -> None:
    is_over = threading.Event()
    stack.callback(is_over.set)
    port = listen(stack, lambda connection: is_over.wait(60), authority.server("127.0.0.1"))
    program = MjaiProgram(TlsAddress("127.0.0.1", port), 3, 0.2, start_seconds=5)
    stack.callback(program.close)
    program._limit = 0.2
    program.send([{"type": "start_game"}])
    with pytest.raises(ValueError, match=r"no answer in 0\.2 s: give it more time \(mjai-tls-SECONDS:HOST:PORT\)"):
        program.receive()


def refuse(stack: ExitStack, tls: ssl.SSLContext, told: str, host: str = "127.0.0.1") -> None:
    """See that a certificate is refused with a message."""
    wanted = rf"no connection to {host}:\d+: its certificate is not accepted \({told}.*\): set SUPHX_MJAI_CA to a file"
    with pytest.raises(ValueError, match=wanted):
        connect(stack, listen(stack, echo_length, tls), host)


def test_an_unknown_authority_is_refused(stack: ExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CA_FILE, raising=False)
    refuse(stack, Authority(tmp_path).server("127.0.0.1"), "unable to get local issuer certificate")


def test_another_name_is_refused(stack: ExitStack, authority: Authority) -> None:
    refuse(stack, authority.server("bots.example.org"), "IP address mismatch")
    refuse(stack, authority.server("127.0.0.1"), "Hostname mismatch", "localhost")


def test_a_certificate_of_yesterday_is_refused(stack: ExitStack, authority: Authority) -> None:
    refuse(stack, authority.server("127.0.0.1", timedelta(days=2)), "certificate has expired")


def test_a_program_without_tls_is_named(stack: ExitStack, authority: Authority) -> None:
    port = listen(stack, lambda connection: connection.sendall(b'{"type": "none"}\n'), None)
    with pytest.raises(ValueError, match=r"TLS failed \(.*\): check that the program listens with TLS there"):
        connect(stack, port)


def test_a_silent_program_does_not_hold_the_match(stack: ExitStack, authority: Authority) -> None:
    is_over = threading.Event()
    stack.callback(is_over.set)
    port = listen(stack, lambda connection: is_over.wait(60), None)
    began = time.monotonic()
    with pytest.raises(ValueError, match=r"no connection to 127\.0\.0\.1:\d+ in 0\.3 s: check the address"):
        connect(stack, port, seconds=0.3)
    assert time.monotonic() - began < 30  # half of how long the program is silent


@pytest.mark.parametrize(("content", "told"), [(None, "No such file"), ("no certificate", "it has no certificates")])
def test_a_wrong_file_of_authorities_is_named_before_any_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, told: str
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv(CA_FILE, str(file))
    with pytest.raises(ValueError, match=rf"SUPHX_MJAI_CA is '{file}': {told}.*: name a PEM file"):
        load_any_agent("mjai-tls:127.0.0.1:7001")


def test_addresses() -> None:
    assert split_program("mjai-tls:bots.example.org:7001") == (TlsAddress("bots.example.org", 7001), None)
    assert split_program("mjai-tls-2.5:[::1]:7001") == (TlsAddress("::1", 7001), 2.5)
    assert str(TlsAddress("::1", 7001)) == "mjai-tls:[::1]:7001"
    with pytest.raises(ValueError, match="is not HOST:PORT"):
        split_program("mjai-tls:bots.example.org")
