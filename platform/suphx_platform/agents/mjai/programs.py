"""External programs at the seats of games: child processes with pipes, their lines, and those of all running games.

As on mjai.app, a line that a program gets is JSON, and it answers every line with one JSON object. Its seat (0 to 3) is
``id`` of ``start_game``, and its last argument.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from suphx.json_text import parse_json
from suphx.printable_text import shortened

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
_LAUNCHER = Path(__file__).with_name("program_launcher.py")
_PROBE_SECONDS = 10.0
_END_SECONDS = 5.0
_SET_DUMPABLE = 4


def start_process(words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a program in its own session, with pipes to its standard input, output and error."""
    return subprocess.Popen(
        [*_launcher(), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        start_new_session=True,
    )


def _launcher() -> tuple[str, ...]:
    """Return the words before a command that limit it: Linux only."""
    if sys.platform != "linux":
        return ()
    around = sandbox()
    if not around:  # let no process of this user read the environment or memory of this one
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0)
    return (sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), "1" if around else "0", *around)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with all that it has started (other systems than Linux: in its session), and close its pipes."""
    try:
        if sys.platform == "linux":
            process.terminate()  # the launcher, which kills the others
            process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:  # the program has stopped it
        pass
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@cache
def warn_without_sandbox() -> None:
    """Warn, once, if programs run without bubblewrap and nobody has turned it off."""
    if os.environ.get(SWITCH) != "0" and not sandbox():
        why = "is not installed" if shutil.which("bwrap") is None else "may not create namespaces here"
        remedy = "Install bubblewrap for programs that you do not trust"
        if sys.platform != "linux":
            why, remedy = "exists for Linux only", "Use Linux for programs that you do not trust"
        _logger.warning(
            "bubblewrap %s: external programs run without a sandbox and can read the files of your user and use the "
            "network. %s, or set %s=0 for those that you trust",
            why,
            remedy,
            SWITCH,
        )


def sandbox() -> tuple[str, ...]:
    """Return the words before a command that put it into bubblewrap; none where that does not work or is off."""
    program = shutil.which("bwrap")
    if program is None or os.environ.get(SWITCH) == "0" or not _is_allowed(program):
        return ()
    return _bubblewrap(program)


@cache
def _is_allowed(program: str) -> bool:
    """Tell whether bubblewrap may create namespaces here."""
    words = [*_bubblewrap(program), "/bin/true"]
    try:
        return subprocess.run(words, capture_output=True, timeout=_PROBE_SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _bubblewrap(program: str) -> tuple[str, ...]:
    """Return the words for the folders that are there now: those of sockets come and go, and a missing one ends it."""
    hidden = [folder for name in _CREDENTIALS if (folder := Path.home() / name).is_dir()]
    sockets = [folder for name in _SOCKETS for folder in Path("/").glob(name)]
    hidden += [folder for folder in sockets if folder.is_dir() and not folder.is_symlink()]  # /var/run is a link
    return (
        *(program, "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"),
        *(word for folder in hidden for word in ("--tmpfs", str(folder))),
        *("--ro-bind-try", _NIX_SYSTEM, _NIX_SYSTEM),
        *("--size", str(_SCRATCH_SIZE), "--tmpfs", _SCRATCH, "--setenv", "TMPDIR", _SCRATCH),
        *("--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent", "--"),
    )


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A program of this machine: a process for each seat of each game."""

    command: str
    form: str = "mjai"
    """How agents' addresses begin."""

    def __str__(self) -> str:
        return f"{self.form}:{self.command}"

    def check(self) -> None:
        """Raise ValueError if there is no such program here, or if this system cannot run one."""
        if sys.platform == "win32":
            raise ValueError("external programs need Linux or macOS: on Windows, install suphx in WSL")
        words = shlex.split(self.command)
        if not words or shutil.which(words[0]) is None:
            raise ValueError(f"there is no program {words[0] if words else ''!r}: give a command, or its path")


START_SECONDS = 60.0
"""For the first answer, in which a program may load its nets."""
_ENDED = "it has ended"
_MAX_LINE = 1 << 20
_PIECE = 1 << 16
_MAX_COMPLAINT = 1 << 12
"""Bytes that are kept of its standard error."""
_LAST_PIECES = 64
"""Of its standard error, that are read before an error is shown: as much as a pipe takes, and a flood ends."""

Event = dict[str, Any]


class MjaiProgram:
    """Usage::

    program = MjaiProgram(CommandLine("python bot.py"), seat=2, move_seconds=10)
    program.send(events)
    reply = program.receive()
    program.close()
    """

    def __init__(
        self, address: CommandLine, seat: int, move_seconds: float, start_seconds: float | None = None
    ) -> None:
        """Start it; ValueError if that fails. ``start_seconds``: for the first answer."""
        self._address = address
        self._name = f"{address} (seat {seat})"
        self._move_seconds = move_seconds
        self._limit = max(START_SECONDS, move_seconds) if start_seconds is None else start_seconds
        self.has_answered = False
        """Whether it has sent an answer in time, sensible or not."""
        self._unsent = self._rest = self._line = self._said = b""
        try:
            self._process = start_process([*shlex.split(address.command), str(seat)])
        except OSError as error:
            raise ValueError(f"{self._name}: it cannot be started: {error.strerror}: {error.filename}") from error
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._input, self._output, self._complaints = stdin.fileno(), stdout.fileno(), stderr.fileno()
        for pipe in (self._input, self._output, self._complaints):
            os.set_blocking(pipe, False)
        self._has_complaints = True

    def send(self, events: Sequence[Event] | Event) -> None:
        """Send a line without waiting, such as what has happened since the last one; ValueError if it has ended."""
        self._unsent += json.dumps(events, separators=(",", ":")).encode() + b"\n"
        self._write()

    def receive(self) -> Event:
        """Return the answer to what was sent last; ValueError if it is late, none, or the program has ended."""
        line = self._line = self._read_line(time.monotonic() + self._limit)
        self._limit = self._move_seconds
        self.has_answered = True
        try:
            reply = parse_json(line)
        except ValueError as error:
            raise self._error(f"its answer is not JSON: {line!r:.200} ({error})") from error
        if not isinstance(reply, dict):
            raise self._error(f"its answer is not a JSON object: {line!r:.200}")
        return reply

    def refuse(self, reason: Exception) -> ValueError:
        """Return the error for an answer that cannot be played: the last one."""
        return self._error(f"its answer {self._line.decode(errors='replace'):.200} cannot be played: {reason}")

    def close(self) -> None:
        """End the program and the processes that it has started."""
        end_process(self._process)

    def _read_line(self, limit: float) -> bytes:
        while b"\n" not in self._rest:
            readable, writable = self._wait(limit - time.monotonic())
            if not readable and not writable:
                form = f"{self._address.form}-SECONDS:COMMAND"
                raise self._error(f"no answer in {self._limit:g} s: give it more time ({form})")
            if self._complaints in readable:
                self._has_complaints = self._read_complaints()
            if writable:
                self._write()
            if self._output in readable:
                piece = os.read(self._output, _PIECE)
                self._rest += piece
                if not piece or len(self._rest) > _MAX_LINE:
                    raise self._error("its answer has no end" if piece else _ENDED)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _wait(self, seconds: float) -> tuple[set[int], set[int]]:
        """Return the descriptors that can be read and written, or have ended; none when the time is over."""
        if seconds <= 0:
            return set(), set()
        poll = select.poll()
        poll.register(self._output, select.POLLIN)
        if self._has_complaints:
            poll.register(self._complaints, select.POLLIN)
        if self._unsent:
            poll.register(self._input, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(1000 * seconds)}
        return ready - {self._input}, ready & {self._input}

    def _write(self) -> None:
        """Send as much as the program takes now."""
        try:
            self._unsent = self._unsent[os.write(self._input, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError as error:
            raise self._error(_ENDED) from error

    def _read_complaints(self) -> bool:
        """Read a piece of its standard error, of which only the end is kept; False if there is no more."""
        try:
            piece = os.read(self._complaints, _PIECE)
        except BlockingIOError:
            return False
        self._said = (self._said + piece)[-_MAX_COMPLAINT:]
        return bool(piece)

    def _error(self, text: str) -> ValueError:
        """Return an error with the last line that the program has written to its standard error."""
        for _ in range(_LAST_PIECES):
            if not self._read_complaints():
                break
        lines = self._said.decode(errors="replace").strip().splitlines()
        said = f"; it says: {shortened(lines[-1], 300)}" if lines else ""
        return ValueError(f"{self._name}: {text}{said}")


MOVE_SECONDS = 10.0
Place: TypeAlias = tuple[int, int]
"""A table, and a seat at it."""


class ProgramAgent:
    """An agent whose moves come from programs; the games of those that cannot go on are forfeits."""

    def __init__(self, name: str, address: CommandLine, move_seconds: float, *, rest: str) -> None:
        """``rest``: what a seat does after its program was ended. ValueError for no such program, or no time for it."""
        try:
            address.check()
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from error
        if move_seconds <= 0:
            raise ValueError(f"{name!r} has {move_seconds:g} s for a move: give it more")
        self.name = name
        self._address = address
        self._move_seconds = move_seconds
        self._rest = rest
        self._programs: dict[Place, MjaiProgram] = {}
        self.reasons: dict[Place, str] = {}
        """Why a program could not play its game to the end."""
        self._has_forfeited = False
        self._start_seconds: float | None = None
        """Less than usual while no program has ever answered: others would not either."""
        self._has_answered = False

    def follow(self, tables: Any) -> None:
        """Begin with new games."""
        self.leave()

    def forfeits(self, index: int) -> dict[int, str]:
        """Return seat -> why, of the seats in the game at table ``index`` that a program did not play to the end."""
        return {seat: reason for (table, seat), reason in self.reasons.items() if table == index}

    def leave(self) -> None:
        """End all programs."""
        for program in self._programs.values():
            program.close()
        self._programs.clear()
        self.reasons.clear()

    def ask(
        self,
        places: Mapping[int, Place],
        question: Callable[[int], Sequence[Event] | Event],
        take: Callable[[int, Event], None],
    ) -> None:
        """Send each program the ``question`` of its decision, then ``take`` all answers, by number of the decision.

        Programs are started where there is none yet, and not asked where one was ended. A ValueError of ``take`` says
        why an answer cannot be played.
        """
        asked = []
        for number, place in places.items():
            if place not in self.reasons:
                with self.forfeiting(place):
                    if place not in self._programs:
                        program = MjaiProgram(self._address, place[1], self._move_seconds, self._start_seconds)
                        self._programs[place] = program
                    self._programs[place].send(question(number))
                    asked.append((number, place))
        for number, place in asked:
            with self.forfeiting(place):
                program = self._programs[place]
                reply = program.receive()
                try:
                    take(number, reply)
                except ValueError as error:
                    raise program.refuse(error) from error

    @contextmanager
    def forfeiting(self, place: Place) -> Iterator[None]:
        """End the program at a place if the block raises ValueError, and note why."""
        try:
            yield
        except ValueError as error:
            if not self._has_forfeited:
                self._has_forfeited = True
                _logger.warning("%s; from now on %s", error, self._rest)
            self.reasons[place] = str(error)
            program = self._programs.pop(place, None)
            if program is not None:
                program.close()
        else:
            program = self._programs.get(place)
        if program is not None and program.has_answered:
            self._has_answered, self._start_seconds = True, None
        elif place in self.reasons and not self._has_answered:
            self._start_seconds = self._move_seconds
