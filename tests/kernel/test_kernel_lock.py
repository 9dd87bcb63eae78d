from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suphx.kernel import kernel_lock
from suphx.kernel.kernel_lock import sole_compiler

HOLDER = """
import pathlib, sys
from suphx.kernel.kernel_lock import sole_compiler
with sole_compiler(pathlib.Path(sys.argv[1]), "kernel"):
    print("held", flush=True)
    sys.stdin.read()
    pathlib.Path(sys.argv[1]).write_text("code")
"""


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    monkeypatch.setattr(kernel_lock, "watchers", [seen.append])
    return seen


@contextmanager
def process_that_compiles(index: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, str(index)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder


def test_a_process_waits_for_the_one_that_compiles_and_says_so(tmp_path: Path, waits: list[str]) -> None:
    index = tmp_path / "game.step-1.nbi"
    with process_that_compiles(index) as holder:

        def end(name: str) -> None:
            assert holder.stdin is not None
            holder.stdin.close()

        kernel_lock.watchers.append(end)
        with sole_compiler(index, "game.step"):
            assert index.read_text() == "code"  # the other process has finished
    assert holder.returncode == 0
    assert waits == ["game.step"]


def test_a_killed_holder_leaves_no_lock(tmp_path: Path, waits: list[str]) -> None:
    index = tmp_path / "game.step-1.nbi"
    with process_that_compiles(index) as holder:
        holder.kill()
        holder.wait()
        with sole_compiler(index, "game.step"):
            assert not index.exists()
    assert waits == []


def test_a_recursive_kernel_does_not_wait_for_itself(tmp_path: Path, waits: list[str]) -> None:
    index = tmp_path / "game.step-1.nbi"
    with sole_compiler(index, "game.step"), sole_compiler(index, "game.step"):
        pass
    assert waits == []


def test_a_compiled_kernel_needs_no_lock(tmp_path: Path, waits: list[str]) -> None:
    index = tmp_path / "game.step-1.nbi"
    index.write_text("code")
    with sole_compiler(index, "game.step"):
        assert [path.name for path in tmp_path.iterdir()] == [index.name]
    assert waits == []
