from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suphx.games.riichi import shanten
from suphx.kernel import jit
from suphx.kernel.jit import cache_folder
from suphx.training.warmup import KERNEL_GROUPS, mark_compiled, missing_costs, missing_groups
from suphx_platform.console.console import Console
from suphx_platform.console.progress import Progress
from suphx_platform.kernels.kernel_warmup import KernelWarmup, RunKernels, compile_kernels

_REPORTERS = """
import os
from suphx_platform.kernels.compile_pool import send
names = "abcd"
for name in names:
    if os.fork() == 0:
        for number in range(300):
            send("compiled", name, number)
        os._exit(0)
for _ in names:
    os.wait()
"""


def test_events_of_several_processes_are_a_line_each() -> None:
    done = subprocess.run([sys.executable, "-c", _REPORTERS], stdout=subprocess.PIPE, check=True, text=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(events) == 4 * 300
    assert sorted(event["seconds"] for event in events if event["name"] == "a") == list(range(300))


@contextmanager
def pool_at_work(cache: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A pool with an empty cache and the ids of its workers, one of which compiles its first kernel."""
    command = [sys.executable, "-m", "suphx_platform.kernels.compile_pool", "engine"]
    environment = {**os.environ, "SUPHX_CACHE": str(cache)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as pool:
        assert pool.stdout is not None
        assert json.loads(pool.stdout.readline())["event"] == "begins"
        workers = Path(f"/proc/{pool.pid}/task/{pool.pid}/children").read_text().split()
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
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, its_session = entry.joinpath("stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(its_session) == session and state != "Z":
                living.append(int(entry.name))
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


def test_a_mark_names_the_kernels_of_its_own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for cache in (tmp_path / "full", tmp_path / "empty"):
        monkeypatch.setenv("SUPHX_CACHE", str(cache))
        (cache / "tables").mkdir(parents=True)
        if cache.name == "full":
            cache_folder("suphx.games.riichi.shanten", Path(shanten.__file__)).mkdir(parents=True)
        mark_compiled("engine")
        assert missing_groups(["engine"]) == []


def test_the_share_that_is_compiled_counts_costs_and_only_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    costs = missing_costs(["engine"])
    assert {"suphx.games.riichi.kyoku.step", "suphx.games.riichi.simulator._advance"} <= set(costs)
    kernels = KernelWarmup(Console(), ["engine"])
    kernels.times.kernels["suphx.games.riichi.kyoku.step"] = 1.0
    progress = Progress("%")
    kernels.show(progress, costs)
    share = 100 * costs["suphx.games.riichi.kyoku.step"] / sum(costs.values())
    assert progress.done == pytest.approx(share)
    kernels.times.kernels["suphx.games.riichi.features.samples._encode"] = 1.0  # not of this group
    kernels.show(progress, costs)
    assert progress.done == pytest.approx(share)
    kernels.times.kernels |= dict.fromkeys(costs, 1.0)
    kernels.show(progress, costs)
    assert progress.done == 99  # the group itself is not finished


def test_a_kernel_in_the_cache_has_no_cost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    costs = missing_costs(["engine"])
    folder = cache_folder("suphx.games.riichi.shanten", Path(shanten.__file__))
    folder.mkdir(parents=True)
    (folder / "shanten.shanten-28.py311.nbi").touch()
    assert set(missing_costs(["engine"])) == set(costs) - {"suphx.games.riichi.shanten.shanten"}


_COMMAND = """
import subprocess, sys
worker = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
subprocess.run([sys.executable, "-c", worker, "suphx_platform.kernels.compile_pool"])
"""


def test_who_compiles_is_named_by_the_command_that_a_person_has_started(tmp_path: Path) -> None:
    program = tmp_path / "suphx"
    program.write_text(_COMMAND)
    pipe = subprocess.PIPE
    with (
        KernelWarmup(Console(), ["engine"]) as kernels,
        subprocess.Popen(
            [sys.executable, program, "mjai", "wss://me:secret@arena/1"], stdin=pipe, stdout=pipe, text=True
        ) as command,
    ):
        assert command.stdin is not None
        assert command.stdout is not None
        worker = int(command.stdout.readline())
        assert kernels.command_of(worker) == f"suphx mjai wss://arena/1 (process {command.pid})"
        command.stdin.close()
        assert command.wait() == 0
        assert kernels.command_of(worker) == kernels.command_of(0) == "another command"


@pytest.mark.slow
def test_a_command_that_waits_for_another_one_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))

    def stop_when_it_waits(progress: Progress, done: float, note: str = "") -> None:
        seen.append(note)
        if note.startswith("waiting for "):
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "reach", stop_when_it_waits)
    with pool_at_work(tmp_path) as (pool, _), KernelWarmup(Console(), ["engine"]) as kernels:
        with pytest.raises(KeyboardInterrupt):
            kernels.wait_for("engine")
        pool.kill()
    assert seen[-1].endswith(f"(process {os.getpid()})")


def test_kernels_that_others_have_compiled_count() -> None:
    with KernelWarmup(Console(), ["engine"]) as kernels:
        progress = Progress("%")
        kernels.show(progress, {"a": 1.0, "b": 3.0}, by_others={"b"})
        assert progress.done == 75


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


def test_a_run_says_once_that_it_waits_for_a_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUPHX_CACHE", str(tmp_path))
    (tmp_path / "tables").mkdir()
    for group in KERNEL_GROUPS:
        mark_compiled(group)
    with RunKernels(Console(), plays_itself=True, has_records=False) as kernels:
        kernels.wait()
        for name in ("suphx.models.packed._pad", "suphx.games.riichi.features.samples._encode"):
            for watch in list(jit.watchers):
                watch(name, os.getppid())
    assert re.fullmatch(
        rf"waiting for kernels that are being compiled by .*\(process {os.getppid()}\): models\.packed\._pad\n",
        capsys.readouterr().err,
    )
    assert jit.watchers == []
