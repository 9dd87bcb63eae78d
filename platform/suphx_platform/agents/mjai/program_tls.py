"""An outside program that listens with TLS: the same connection, encrypted, and the program's certificate verified.

The trust store of the system decides which certificates are accepted, and ``SUPHX_MJAI_CA`` may name a file with more.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from suphx_platform.agents.mjai.program_channel import (
    CONNECT_SECONDS,
    ProgramChannel,
    TcpAddress,
    channel_of,
    close_connection,
)

CA_FILE = "SUPHX_MJAI_CA"
"""Environment variable: a PEM file with certificates of authorities that are trusted besides the system's."""


@dataclass(frozen=True, slots=True)
class TlsAddress(TcpAddress):
    """A program that listens elsewhere with TLS; its certificate must be valid for ``host``."""

    slower_form = "mjai-tls-SECONDS:HOST:PORT"

    def __str__(self) -> str:
        return f"mjai-tls:{self.place}"

    def check(self) -> None:
        """Raise ValueError if the file of ``SUPHX_MJAI_CA`` cannot be used."""
        try:
            _context()
        except OSError as error:
            raise ValueError(str(error)) from error

    def open(self, seat: int, seconds: float) -> ProgramChannel:
        """Connect to it; OSError if that takes longer than ``seconds`` (at most ``CONNECT_SECONDS``) or fails."""
        limit = min(seconds, CONNECT_SECONDS)
        context = _context()
        connection = self.connect(limit)
        try:
            encrypted = context.wrap_socket(connection, server_hostname=self.host)
        except ssl.SSLCertVerificationError as error:
            hint = f"set {CA_FILE} to a file with the certificate of its authority, or use a name that it is valid for"
            why = f"its certificate is not accepted ({error.verify_message.rstrip('.')}): {hint}"
            raise OSError(f"no connection to {self.place}: {why}") from error
        except TimeoutError as error:
            raise self.late(limit) from error
        except OSError as error:  # an ssl.SSLError is one
            reason = getattr(error, "reason", None) or error.strerror or error
            raise OSError(
                f"no connection to {self.place}: TLS failed ({reason}): check that the program listens with TLS there"
            ) from error
        finally:
            connection.close()  # after an error; TLS has taken the socket out of it otherwise
        return _channel(encrypted)


def _context() -> ssl.SSLContext:
    """Return what verifies certificates and the names in them; OSError names a file that cannot be used."""
    context = ssl.create_default_context()
    context.options |= ssl.OP_NO_RENEGOTIATION
    if file := os.environ.get(CA_FILE):
        try:
            context.load_verify_locations(cafile=file)
        except OSError as error:
            why = error.strerror if isinstance(error, FileNotFoundError | PermissionError) else "it has no certificates"
            raise OSError(f"{CA_FILE} is {file!r}: {why}: name a PEM file with certificates, or unset it") from error
    return context


def _channel(connection: ssl.SSLSocket) -> ProgramChannel:
    """Return the channel of an encrypted connection.

    A call of ``recv`` returns a whole record of TLS (at most 16 KiB), and the next one stays in the socket: so polling
    the socket misses nothing.
    """
    plain = channel_of(connection)

    def read(size: int) -> bytes:
        with _as_of_tcp():
            return connection.recv(size)

    def write(data: bytes) -> int:
        with _as_of_tcp():
            return connection.send(data)

    def close() -> None:
        with suppress(OSError, ValueError):  # it waits for no answer
            connection.unwrap()
        close_connection(connection)

    return replace(plain, read=read, write=write, close=close)


@contextmanager
def _as_of_tcp() -> Iterator[None]:
    """Turn errors of TLS into those of a plain connection."""
    try:
        yield
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
        raise BlockingIOError from error
    except ssl.SSLError as error:
        raise ConnectionAbortedError(str(error)) from error
