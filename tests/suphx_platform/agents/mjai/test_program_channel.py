"""A program over TCP, with real sockets: what it may do to a match, and which addresses there are."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from suphx_platform.agents.mjai.programs import MjaiProgram, TcpAddress

Peer = Callable[[socket.socket], object]
ANSWER = b'{"type": "none"}\n'


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, peer: Peer, seconds: float = 20.0) -> MjaiProgram:
    """Return a program that is connected to ``peer``, which gets the other end of the connection in a thread."""
    server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            peer(connection)

    threading.Thread(target=serve, daemon=True).start()
    program = MjaiProgram(TcpAddress(*server.getsockname()), 3, seconds, start_seconds=seconds)
    stack.callback(program.close)
    program.send([{"type": "start_game"}])
    return program


def leave_after_an_answer(connection: socket.socket) -> None:
    connection.recv(1)
    connection.sendall(ANSWER)


def test_answers_may_come_in_pieces(stack: ExitStack) -> None:
    def peer(connection: socket.socket) -> None:
        for byte in ANSWER:
            connection.sendall(bytes([byte]))
            time.sleep(0.001)
        while connection.recv(100):  # to close with unread bytes would reset the connection
            pass

    assert start(stack, peer).receive() == {"type": "none"}


def test_a_connection_that_ends_between_two_answers_is_noticed(stack: ExitStack) -> None:
    program = start(stack, leave_after_an_answer)
    program.receive()
    with pytest.raises(ValueError, match="it has closed the connection"):  # noqa: PT012 - either may notice
        program.send([{"type": "x"}])
        program.receive()


def test_a_connection_has_a_deadline(stack: ExitStack) -> None:
    server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
    for _ in range(4):  # more than the queue has room for, and nobody accepts
        waiting = stack.enter_context(socket.socket())
        waiting.setblocking(False)
        waiting.connect_ex(server.getsockname())
    began = time.monotonic()
    with pytest.raises(ValueError, match=r"no connection to .* in 0\.2 s: check the address, and that no firewall"):
        MjaiProgram(TcpAddress(*server.getsockname()), 0, 10, start_seconds=0.2)
    assert time.monotonic() - began < 30  # half of what it waits unless told otherwise


def test_closing_wakes_the_thread_that_waits_for_an_answer(stack: ExitStack) -> None:
    """As Ctrl-C does in suphx play, while an agent thinks."""
    hold = threading.Event()
    program = start(stack, lambda connection: hold.wait(60.0) and None, seconds=600.0)
    errors: list[Exception] = []

    def receive() -> None:
        try:
            program.receive()
        except (OSError, ValueError) as error:
            errors.append(error)

    waiting = threading.Thread(target=receive, daemon=True)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    program.close()
    waiting.join(30.0)
    hold.set()
    assert len(errors) == 1
