"""mjai_bot.py as a program that listens on this machine: an outside agent over TCP, with real sockets."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.suphx_platform.agents.mjai.mjai_bot import play


class BotServer(socketserver.ThreadingTCPServer):
    """Plays in every connection; a broken one resets it, as a machine does whose program has died."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, way: str) -> None:
        super().__init__(("127.0.0.1", 0), _Game)
        self.way = way
        self.num_connections = 0
        self.num_open = 0
        self.changed = threading.Condition()

    def agent(self, seconds: str = "-120") -> str:
        """Return the agent's address; ``seconds``: a minus sign and how long a move may take."""
        return f"mjai-tcp{seconds}:127.0.0.1:{self.server_address[1]}"

    def has_served(self, num_connections: int) -> bool:
        """Tell whether so many connections come, and all have ended, soon."""
        with self.changed:
            return self.changed.wait_for(
                lambda: self.num_connections == num_connections and self.num_open == 0, timeout=10
            )


class _Game(socketserver.StreamRequestHandler):
    server: BotServer

    def handle(self) -> None:
        with self.server.changed:
            self.server.num_connections += 1
            self.server.num_open += 1
        try:
            play(self.server.way, (line.decode() for line in self.rfile), self._say)
        except RuntimeError:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except ConnectionError:  # the game is over
            pass
        finally:
            with self.server.changed:
                self.server.num_open -= 1
                self.server.changed.notify_all()

    def _say(self, text: str) -> None:
        self.wfile.write(text.encode() + b"\n")


@contextmanager
def serving(way: str) -> Iterator[BotServer]:
    """Serve a bot while the block runs."""
    with BotServer(way) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
