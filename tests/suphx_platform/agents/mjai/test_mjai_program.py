"""What an external program may do to the process that plays with it."""

from __future__ import annotations

import os
import resource
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from suphx_platform.agents.agent_forms import check_agent
from suphx_platform.agents.mjai import programs as channel
from suphx_platform.agents.mjai.programs import CommandLine, MjaiProgram

EVENTS = [{"type": "start_game"}]
NONE = 'print(\'{"type": "none"}\', flush=True)'


@pytest.fixture(autouse=True)
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(channel.SWITCH, "0")
    monkeypatch.setattr(channel, "START_SECONDS", 20.0)


Start = Callable[..., MjaiProgram]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def start(stack: ExitStack) -> Start:
    """Start a program that runs Python code."""

    def started(code: str, seconds: float = 20.0) -> MjaiProgram:
        command = f"{sys.executable} -S -c {shlex.quote(f'import json, os, signal, sys, time; {code}')}"
        program = MjaiProgram(CommandLine(command), 0, seconds)
        stack.callback(program.close)
        program.send(EVENTS)
        return program

    return started


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def ends_soon(process: int) -> bool:
    limit = time.monotonic() + 10
    while is_alive(process) and time.monotonic() < limit:
        time.sleep(0.01)
    return not is_alive(process)


@pytest.mark.parametrize("session", ["pass", "child or os.setsid()"], ids=["in its session", "in a session of its own"])
def test_children_and_programs_that_ignore_sigterm_end_with_the_game(
    start: Start, tmp_path: Path, session: str
) -> None:
    note = tmp_path / "child"
    code = (
        f"signal.signal(signal.SIGTERM, signal.SIG_IGN); child = os.fork(); {session}; "
        f"child and open({str(note)!r}, 'w').write(str(child)); child and {NONE}; time.sleep(600)"
    )
    program = start(code)
    assert program.receive() == {"type": "none"}
    child = int(note.read_text())
    assert is_alive(child)
    program.close()
    assert not is_alive(child)


def test_a_child_that_outlives_its_parent_ends_too(start: Start, tmp_path: Path) -> None:
    note = tmp_path / "child"
    code = f"child = os.fork(); child and open({str(note)!r}, 'w').write(str(child)); child or time.sleep(600)"
    program = start(code, seconds=0.5)
    program._limit = 5.0
    limit = time.monotonic() + 20
    while not (note.exists() and note.read_text()) and time.monotonic() < limit:
        time.sleep(0.01)
    child = int(note.read_text())
    program.close()
    assert ends_soon(child)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('[' * 100_000, flush=True)", r"its answer is not JSON: b'\[\[.*nested too deeply"),
        ("print('{\"type\": ' + '{\"a\":' * 100_000, flush=True)", r"its answer is not JSON: .*nested too deeply"),
        ("print('9' * 100_000, flush=True)", "its answer is not JSON"),
        ("print('[]', flush=True)", "its answer is not a JSON object"),
        ("os.write(1, bytes([255, 254, 10]))", "its answer is not JSON"),
        ("[os.write(1, b'x' * 65536) for _ in range(10_000)]", "its answer has no end"),
        ("bytearray(9 << 30)", "it has ended; it says: MemoryError"),
        ("[os.open('/dev/null', 0) for _ in range(2_000)]", "it has ended; it says: OSError.*Too many open files"),
        ("sys.stdin.close(); os.close(1)", "it has ended"),
    ],
)
def test_a_hostile_program_costs_an_error_that_names_it(start: Start, code: str, message: str) -> None:
    # A program that has ended before it is asked is told as that, whatever it wrote.
    waits = code if message.startswith("it has ended") else f"{code}; time.sleep(600)"
    with pytest.raises(ValueError, match=rf"(?s)^mjai:.*\(seat 0\): {message}"):
        start(waits).receive()


def test_300_mb_on_standard_error_cost_no_memory(start: Start) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    program = start(f"[os.write(2, b'x' * (1 << 20)) for _ in range(300)]; {NONE}; time.sleep(600)")
    assert program.receive() == {"type": "none"}
    assert len(program._said) <= 4096
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 << 10  # KiB


def test_a_program_that_never_reads_does_not_hold_the_match(start: Start) -> None:
    program = start(f"{NONE}; time.sleep(600)", seconds=0.3)
    program.receive()
    for _ in range(20):
        program.send([{"type": "x" * 10_000}])  # a pipe takes 64 KiB
    with pytest.raises(ValueError, match=r"no answer in 0\.3 s"):
        program.receive()


def test_a_program_sees_no_credentials(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted")
    monkeypatch.setenv("SUPHX_MJAI_TOKEN", "planted")
    program = start("print(json.dumps(dict(os.environ)), flush=True); time.sleep(600)")
    seen = program.receive()
    assert "planted" not in seen.values()
    assert seen["PATH"] == os.environ["PATH"]


def test_a_program_cannot_look_into_the_process_that_plays(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted")
    code = """
seen = []
for process in (PLAYER, os.getppid()):
    try:
        seen.append("planted" in open(f"/proc/{process}/environ").read())
    except OSError as error:
        seen.append(error.strerror)
print(json.dumps({"seen": seen}), flush=True)
time.sleep(600)
"""
    player, launcher = start(code.replace("PLAYER", str(os.getpid()))).receive()["seen"]
    assert player == "Permission denied"
    assert launcher in (False, "Permission denied"), "its environment has no secrets"


def test_processes_have_a_limit_and_files_may_move(start: Start, tmp_path: Path) -> None:
    code = f"""
import resource
os.chdir({str(tmp_path)!r})
os.mkdir("a"), os.mkdir("b"), open("a/x", "w").close(), os.rename("a/x", "b/x")
print(json.dumps({{"limits": resource.getrlimit(resource.RLIMIT_NPROC)}}), flush=True)
time.sleep(600)
"""
    soft, hard = start(code).receive()["limits"]
    assert 0 < soft == hard < 1 << 20
    assert (tmp_path / "b" / "x").exists()


def test_a_missing_sandbox_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    warn = channel.warn_without_sandbox
    monkeypatch.setenv("PATH", "")
    warn.cache_clear()
    check_agent("mjai:python bot.py", "riichi")
    assert caplog.messages == [], "somebody has turned it off"
    monkeypatch.delenv(channel.SWITCH)
    warn.cache_clear()
    for address in ("mjai:python bot.py", "mjai:python other.py"):
        check_agent(address, "riichi")
    (message,) = caplog.messages
    assert message.startswith("bubblewrap is not installed: external programs run without a sandbox")
    warn.cache_clear()


def test_bubblewrap_that_does_not_work_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv(channel.SWITCH)
    assert channel.sandbox() == ()


@pytest.fixture
def open_socket() -> Iterator[Path]:
    """A socket where tmux has those over which it accepts commands."""
    with tempfile.TemporaryDirectory(prefix="tmux-", dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as server:
        path = Path(folder, "default")
        server.bind(str(path))
        server.listen()
        yield path


def test_bubblewrap_hides_network_files_sockets_and_processes(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_socket: Path
) -> None:
    secret = tmp_path / ".aws" / "credentials"
    secret.parent.mkdir()
    secret.write_text("planted")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(channel.SWITCH)
    if not channel.sandbox():
        pytest.skip("bubblewrap is not installed, or may not create namespaces")
    code = """
import socket, tempfile
from pathlib import Path
facts = {"secret": os.path.exists(SECRET), "network": [name for _, name in socket.if_nameindex()]}
facts["processes"] = sum(name.isdigit() for name in os.listdir("/proc"))
try:
    open(NOTE, "w")
except OSError as error:
    facts["write"] = error.strerror
try:
    socket.socket(socket.AF_UNIX).connect(SOCKET)
except OSError as error:
    facts["socket"] = error.strerror
facts["run"] = [name for name in os.listdir("/run") if name != "current-system"]
tempfile.TemporaryFile().write(b"x")
child = os.fork()
child and print(json.dumps(facts), flush=True)
time.sleep(600)
"""
    for name, path in (("SECRET", secret), ("NOTE", tmp_path / "note"), ("SOCKET", open_socket)):
        code = code.replace(name, repr(str(path)))
    program = start(code)
    facts = program.receive()
    away = "No such file or directory"
    assert (facts.pop("socket"), facts.pop("run")) == (away, [])
    assert facts == {"secret": False, "network": ["lo"], "processes": 2, "write": "Read-only file system"}
    inside = [inner for each in children(os.getpid()) for outer in children(each) for inner in children(outer)]
    program.close()
    assert inside
    assert all(ends_soon(process) for process in inside)


def test_a_program_ends_with_the_process_that_started_it_even_if_that_is_killed(tmp_path: Path) -> None:
    """With its child, which has begun a session of its own."""
    note = tmp_path / "processes"
    program = (
        "import os, time; child = os.fork(); child or os.setsid(); "
        f"child and open({str(note)!r}, 'w').write(f'{{os.getppid()}} {{os.getpid()}} {{child}}\\n'); time.sleep(600)"
    )
    code = (
        "import sys, time; from suphx_platform.agents.mjai.programs import start_process; "
        f"start_process([sys.executable, '-S', '-c', {program!r}]); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as parent:
        while not (note.exists() and note.read_text().endswith("\n")):
            assert parent.poll() is None
            time.sleep(0.01)
        processes = [int(process) for process in note.read_text().split()]
        assert all(map(is_alive, processes))
        parent.kill()
    assert all(map(ends_soon, processes))


def test_closing_wakes_the_thread_that_waits_for_an_answer(start: Start) -> None:
    """As Ctrl-C does in suphx play, while an agent thinks."""
    program = start("time.sleep(600)", seconds=600.0)
    program._limit = 600.0
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
    assert len(errors) == 1
