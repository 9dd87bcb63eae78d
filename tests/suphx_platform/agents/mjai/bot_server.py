"""mjai_bot.py as a program that listens on this machine: an outside agent over TCP, with real sockets."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.suphx_platform.agents.mjai.mjai_bot import play


class BotServer(socketserver.ThreadingTCPServer):
    """Plays in every connection; a broken one resets it, as a machine does whose program has died."""

    request_queue_size = 64
    num_connections = 0

    def verify_request(self, *_: object) -> bool:
        self.num_connections += 1
        return True

    def agent(self, seconds: str = "-120") -> str:
        """Return the agent's address; ``seconds``: a minus sign and how long a move may take."""
        return f"mjai-tcp{seconds}:127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(way: str) -> Iterator[BotServer]:
    """Serve a bot while the block runs, and until all its connections have ended."""

    class Game(socketserver.StreamRequestHandler):
        timeout = 60

        def handle(self) -> None:
            try:
                with suppress(ConnectionError):  # the game is over
                    play(way, (line.decode() for line in self.rfile), self._say)
            except RuntimeError:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        def _say(self, text: str) -> None:
            self.wfile.write(text.encode() + b"\n")

    with BotServer(("127.0.0.1", 0), Game) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
