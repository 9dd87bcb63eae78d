"""The ways to an outside program: a child process with pipes, or a TCP connection to one that listens elsewhere.

Both give a ``ProgramChannel``, which mjai_program.py polls, reads and writes. With TLS: program_tls.py.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import urlsplit

from suphx_platform.agents.mjai import program_launcher
from suphx_platform.agents.mjai.program_launcher import landlock_version

_logger = logging.getLogger(__name__)
_VARIABLES = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
)  # fmt: skip
_CREDENTIALS = (".aws", ".azure", ".config", ".docker", ".gnupg", ".kube", ".mlflow", ".ssh")
"""Folders below the home folder that are empty for a program in bubblewrap."""
_SOCKETS = ("run", "var/run", "tmp/.X11-unix", "tmp/ray", "tmp/ssh-*", "tmp/tmux-*")
"""Folders of sockets, which are empty for it too: neither a read-only file system nor a missing network closes them."""
_NIX_SYSTEM = "/run/current-system"
"""The programs of NixOS."""
_SCRATCH = "/dev/shm"
_SCRATCH_SIZE = 1 << 30
SWITCH = "SUPHX_BUBBLEWRAP"
"""The environment variable that turns bubblewrap off: 0."""
_PROBE_SECONDS = 10.0
_END_SECONDS = 5.0
_SET_DUMPABLE = 4


def start_process(words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a program with pipes to its standard input, output and error, by way of program_launcher.py."""
    around = sandbox()
    launcher = (sys.executable, "-I", "-S", program_launcher.__file__, str(os.getpid()), "1" if around else "0")
    if not around and not landlock_version():
        _hide_from_programs()
    return subprocess.Popen(
        [*launcher, *around, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        start_new_session=True,
    )


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with all that it has started, and close its pipes."""
    process.terminate()  # the launcher, which kills the others
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:  # the program has stopped it
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _hide_from_programs() -> None:
    """Let no process of this user read the environment or memory of this one: for kernels without Landlock."""
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0)


@cache
def warn_without_sandbox() -> None:
    """Warn, once, if programs run without bubblewrap and nobody has turned it off."""
    if os.environ.get(SWITCH) != "0" and not sandbox():
        why = "is not installed" if shutil.which("bwrap") is None else "may not create namespaces here"
        _logger.warning(
            "bubblewrap %s: external programs run without a sandbox and can read the files of your user and use the "
            "network. Install bubblewrap for programs that you do not trust, or set %s=0 for those that you trust",
            why,
            SWITCH,
        )


def sandbox() -> tuple[str, ...]:
    """Return the words before a command that put it into bubblewrap; none where that does not work or is off."""
    program = shutil.which("bwrap")
    return () if program is None or os.environ.get(SWITCH) == "0" else _bubblewrap(program)


def _is_own_folder(folder: Path) -> bool:
    """Tell whether it is a folder and no link to one (``/var/run``)."""
    return folder.is_dir() and not folder.is_symlink()


@cache
def _bubblewrap(program: str) -> tuple[str, ...]:
    """Return the words, or none where ``program`` may not create namespaces."""
    hidden = [folder for name in _CREDENTIALS if (folder := Path.home() / name).is_dir()]
    hidden += [folder for name in _SOCKETS for folder in Path("/").glob(name) if _is_own_folder(folder)]
    words = (
        *(program, "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"),
        *(word for folder in hidden for word in ("--tmpfs", str(folder))),
        *("--ro-bind-try", _NIX_SYSTEM, _NIX_SYSTEM),
        *("--size", str(_SCRATCH_SIZE), "--tmpfs", _SCRATCH, "--setenv", "TMPDIR", _SCRATCH),
        *("--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent", "--"),
    )
    try:
        works = subprocess.run([*words, "/bin/true"], capture_output=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return words if works.returncode == 0 else ()


CONNECT_SECONDS = 10.0
"""The longest time that a TCP connection may take, TLS included."""
_LEAST_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class ProgramChannel:
    """The way to one program at one seat: non-blocking file descriptors; the first two may be the same."""

    input: int
    """Can be written when ``write`` would take bytes."""
    output: int
    """Can be read when there is something for ``read``."""
    read: Callable[[int], bytes]
    """Returns at most so many bytes of what the program writes, none at its end. BlockingIOError: nothing now."""
    write: Callable[[bytes], int]
    """Returns how many bytes it has taken for the program. BlockingIOError: none now."""
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
            read=partial(os.read, stdout.fileno()),
            write=partial(os.write, stdin.fileno()),
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
    def parse(cls, text: str) -> Self:
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
        return f"mjai-tcp:{self.place}"

    @property
    def place(self) -> str:
        """``HOST:PORT`` or ``[IPV6]:PORT``."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def check(self) -> None:
        """Accept every address: whether somebody listens is known when a game begins."""

    def open(self, seat: int, seconds: float) -> ProgramChannel:
        """Connect to it; OSError if that takes longer than ``seconds`` (at most ``CONNECT_SECONDS``) or fails."""
        return channel_of(self.connect(min(seconds, CONNECT_SECONDS)))

    def connect(self, seconds: float) -> socket.socket:
        """Return a connection, with what is left of the ``seconds`` as its timeout; OSError says what to do."""
        began = time.monotonic()
        try:
            connection = socket.create_connection((self.host, self.port), seconds)
        except TimeoutError as error:
            raise self.late(seconds) from error
        except OSError as error:
            why = f"{error.strerror or error}: check that the program listens there"
            raise OSError(f"no connection to {self.place}: {why}") from error
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(max(seconds - (time.monotonic() - began), _LEAST_SECONDS))
        return connection

    def late(self, seconds: float) -> OSError:
        """Return the error for a connection that took longer than ``seconds``."""
        hint = "check the address, and that no firewall is between"
        return OSError(f"no connection to {self.place} in {seconds:g} s: {hint}")


def channel_of(connection: socket.socket) -> ProgramChannel:
    """Return the channel to the program at the other end of a connection."""
    connection.setblocking(False)
    return ProgramChannel(
        input=connection.fileno(),
        output=connection.fileno(),
        read=connection.recv,
        write=connection.send,
        complaints=None,
        ended="it has closed the connection",
        close=partial(close_connection, connection),
    )


def close_connection(connection: socket.socket) -> None:
    """Close it, and wake a thread that waits for it."""
    with suppress(OSError):  # the other end may have closed it
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
