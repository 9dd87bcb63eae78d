"""The ways to an outside program: a child process with pipes, or a TCP connection to one that listens elsewhere.

Both give a ``ProgramChannel``, of which mjai_program.py only reads and writes file descriptors.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from suphx_platform.agents.mjai.program_process import end_process, start_process

CONNECT_SECONDS = 10.0
"""The longest time that a TCP connection may take."""


@dataclass(frozen=True, slots=True)
class ProgramChannel:
    """Non-blocking file descriptors of one program at one seat; the first two may be the same."""

    input: int
    """What is written here, the program reads."""
    output: int
    complaints: int | None
    """Its standard error, if that comes here."""
    ended: str
    """What it means when ``output`` ends, for errors: "it has ended"."""
    close: Callable[[], None]
    """Ends the program, or its connection."""


class ProgramAddress(Protocol):
    """Where a program is; as text it is an agent's address without seconds, such as ``mjai:python bot.py``."""

    @property
    def slower_form(self) -> str:
        """The form of an agent's address that gives it another time for a move."""
        ...

    def check(self) -> None:
        """Raise ValueError if there can be no program, as far as can be told without starting one."""
        ...

    def open(self, seat: int, seconds: float) -> ProgramChannel:
        """Have it begin a game at ``seat`` (0 to 3); OSError says why it cannot, and what to do, after ``seconds``."""
        ...


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A program of this machine: a process for each seat of each game."""

    command: str
    slower_form = "mjai-SECONDS:COMMAND"

    def __str__(self) -> str:
        return f"mjai:{self.command}"

    def check(self) -> None:
        """Raise ValueError if there is no such program here."""
        words = shlex.split(self.command)
        if not words or shutil.which(words[0]) is None:
            raise ValueError(f"there is no program {words[0] if words else ''!r}: give a command, or its path")

    def open(self, seat: int, seconds: float) -> ProgramChannel:
        """Start it with the seat as its last argument; OSError if there is no shell."""
        try:
            process = start_process([*shlex.split(self.command), str(seat)])
        except OSError as error:
            raise OSError(f"it cannot be started: {error.strerror}: {error.filename}") from error
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        for pipe in (stdin, stdout, stderr):
            os.set_blocking(pipe.fileno(), False)
        return ProgramChannel(
            input=stdin.fileno(),
            output=stdout.fileno(),
            complaints=stderr.fileno(),
            ended="it has ended",
            close=lambda: end_process(process),
        )


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A program that listens elsewhere: a connection for each seat of each game."""

    host: str
    port: int
    slower_form = "mjai-tcp-SECONDS:HOST:PORT"

    @classmethod
    def parse(cls, text: str) -> TcpAddress:
        """Return the address of ``HOST:PORT`` or ``[IPV6]:PORT``; ValueError for anything else."""
        try:
            parts = urlsplit(f"//{text}")
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ValueError(f"{text!r} is not HOST:PORT: {error}") from error
        if not host or not port or parts.netloc != text or "@" in text:
            raise ValueError(f"{text!r} is not HOST:PORT: name the machine and the port where the program listens")
        return cls(host, port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"mjai-tcp:{host}:{self.port}"

    def check(self) -> None:
        """Accept every address: whether somebody listens is known when a game begins."""

    def open(self, seat: int, seconds: float) -> ProgramChannel:
        """Connect to it; OSError if that takes longer than ``seconds`` (at most ``CONNECT_SECONDS``) or fails."""
        limit = min(seconds, CONNECT_SECONDS)
        try:
            connection = socket.create_connection((self.host, self.port), limit)
        except TimeoutError as error:
            hint = "check the address, and that no firewall is between"
            raise OSError(f"no connection to {self.host}:{self.port} in {limit:g} s: {hint}") from error
        except OSError as error:
            why = f"{error.strerror or error}: check that the program listens there"
            raise OSError(f"no connection to {self.host}:{self.port}: {why}") from error
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        return ProgramChannel(
            input=connection.fileno(),
            output=connection.fileno(),
            complaints=None,
            ended="it has closed the connection",
            close=connection.close,
        )
