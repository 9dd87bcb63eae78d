from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from suphx.games.registry import GAMES, load_game
from suphx.games.riichi import shanten
from suphx.kernel.jit import cache_folder
from suphx.training.warmup import GAME_GROUPS, KERNEL_GROUPS, mark_compiled, missing_groups, run_groups
from suphx_platform.console.console import Console
from suphx_platform.kernels.kernel_warmup import KernelWarmup, compile_kernels


@contextmanager
def pool_at_work(cache: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A pool with an empty cache and the ids of its workers."""
    command = [sys.executable, "-m", "suphx_platform.kernels.compile_pool", "engine"]
    environment = {**os.environ, "SUPHX_CACHE": str(cache)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as pool:
        while not (workers := Path(f"/proc/{pool.pid}/task/{pool.pid}/children").read_text().split()):
            assert pool.poll() is None
            time.sleep(0.05)
        yield pool, [int(worker) for worker in workers]


def test_the_pool_and_its_workers_end_when_its_stdin_is_closed(tmp_path: Path) -> None:
    with pool_at_work(tmp_path) as (pool, workers):
        assert workers
        _, messages = pool.communicate(timeout=300)  # to the end of the workers, which write there too
        assert pool.returncode == 1
        assert messages == ""
        assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def test_workers_end_when_their_pool_is_killed(tmp_path: Path) -> None:
    with pool_at_work(tmp_path) as (pool, workers):
        assert workers
        pool.kill()
        assert pool.stdout is not None
        pool.stdout.read()  # to the end of the workers


def test_a_killed_worker_is_an_error_that_names_its_group(tmp_path: Path) -> None:
    with pool_at_work(tmp_path) as (pool, workers):
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        assert pool.wait(300) == 1
        assert pool.stderr is not None
        assert pool.stderr.read() == "the process that compiled the kernels of engine ended with SIGKILL\n"


DEADLINE_SECONDS = 300


@contextmanager
def warmup(cache: Path) -> Iterator[subprocess.Popen[str]]:
    """A ``suphx warmup`` with an empty or half-filled cache, in a session of its own."""
    command = [sys.executable, "-m", "suphx_cli.cli", "warmup"]
    environment = {**os.environ, "SUPHX_CACHE": str(cache)}
    with subprocess.Popen(
        command, env=environment, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def compiled(cache: Path) -> dict[str, int]:
    """Return the time of writing of every compiled kernel in the cache."""
    return {path.name: path.stat().st_mtime_ns for path in (cache / "kernels").rglob("*.nbc")}


def wait_for_kernels(cache: Path, process: subprocess.Popen[str], num_kernels: int) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(compiled(cache)) < num_kernels:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, f"only {len(compiled(cache))} kernels"
        time.sleep(0.1)


def living_processes(session: int) -> list[int]:
    living = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                living.append(process.pid)
    return living


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_warmup_is_tidy_and_continues_where_it_was(tmp_path: Path, number: signal.Signals) -> None:
    with warmup(tmp_path) as process:
        wait_for_kernels(tmp_path, process, 5)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # a terminal sends Ctrl-C to all processes
        else:
            process.send_signal(number)
        _, messages = process.communicate(timeout=300)
    assert process.returncode == 130
    assert messages.splitlines()[-1] == "suphx: stopped"
    assert "Traceback" not in messages
    assert "Exception" not in messages
    deadline = time.monotonic() + 30
    while living_processes(process.pid):
        assert time.monotonic() < deadline, "processes outlive the command"
        time.sleep(0.05)
    before = compiled(tmp_path)
    with warmup(tmp_path) as process:
        wait_for_kernels(tmp_path, process, len(before) + 3)
    after = compiled(tmp_path)
    assert {name: after[name] for name in before} == before  # loaded, not compiled again


def test_what_is_compiled_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    (tmp_path / "tables").mkdir()
    assert missing_groups(KERNEL_GROUPS) == list(KERNEL_GROUPS)
    for group in KERNEL_GROUPS:
        mark_compiled(group)
    assert missing_groups(KERNEL_GROUPS) == []
    assert compile_kernels(Console()).groups == {}


@pytest.mark.parametrize("name", list(GAMES))
def test_what_a_game_needs_is_in_groups(name: str) -> None:
    groups = set(load_game(name).kernel_groups)
    assert groups <= set(KERNEL_GROUPS)
    if groups:
        first, every = run_groups(name, plays_itself=True, has_records=False)
        assert set(first) <= groups | {"hands"}
        assert groups | set(first) <= set(every) <= set(KERNEL_GROUPS)


@pytest.mark.parametrize("name", sorted(set(GAME_GROUPS.values())))
def test_the_groups_of_a_game_run(name: str) -> None:
    for group in load_game(name).kernel_groups:
        KERNEL_GROUPS[group]()


def test_a_mark_names_the_kernels_of_its_own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for cache in (tmp_path / "full", tmp_path / "empty"):
        monkeypatch.setenv("SUPHX_CACHE", str(cache))
        (cache / "tables").mkdir(parents=True)
        if cache.name == "full":
            cache_folder("suphx.games.riichi.shanten", Path(shanten.__file__)).mkdir(parents=True)
        mark_compiled("engine")
        assert missing_groups(["engine"]) == []


def test_an_unknown_group_is_an_error() -> None:
    with pytest.raises(ValueError, match="no kernel group engin: use engine, hands"):
        KernelWarmup(Console(), ["engin"])


def test_a_pool_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        KernelWarmup(Console(), ["engine"]) as kernels,
        pytest.raises(ChildProcessError, match="compiling kernels ended with exit code 1"),
    ):
        kernels.wait_for("engine")


def test_where_the_cache_cannot_be_written_kernels_are_compiled_when_they_are_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    compile_kernels(Console(), "engine")
    assert f"{tmp_path} cannot be written: kernels are compiled when they are needed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
