"""Completion as a real bash does it: argcomplete's script runs, and its suggestions are read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from argcomplete.shell_integration import shellcode

from tests.repository import REPOSITORY

ASK = """
source "$1"
COMP_LINE="$2" COMP_POINT=${#2} COMP_TYPE=9
_python_argcomplete suphx
printf '%s\\0' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``register-python-argcomplete suphx`` prints."""
    path = tmp_path_factory.mktemp("completion") / "suphx"
    path.write_text(shellcode(["suphx"]))
    return path


def suggestions(script: Path, line: str, folder: Path = REPOSITORY) -> list[str]:
    """Return what bash offers at the end of ``line``, in ``folder``."""
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    answer = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", script, line],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return [word.strip() for word in answer.stdout.split("\0") if word]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("suphx tour", "tournament"),
        ("suphx run laptop --set net.siz", "net.size="),
        ("suphx run doudizhu --set learning.imit", "learning.imitates="),
        ("suphx launch nightly --set pool.newest_", "pool.newest_from="),
        ("suphx evaluate --hanch", "--hanchans"),
        ("suphx run docs/../pipelines/recipes/lap", "docs/../pipelines/recipes/laptop.toml"),
    ],
)
def test_a_word_is_completed(script: Path, line: str, expected: str) -> None:
    assert suggestions(script, line) == [expected]


def test_runs_are_offered_by_their_ids(script: Path, tmp_path: Path) -> None:
    for name in ("laptop-1", "laptop-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").touch()
    assert suggestions(script, "suphx runs show lap", tmp_path) == ["laptop-1", "laptop-2"]
    assert suggestions(script, "suphx runs show lap") == []
    assert suggestions(script, "suphx evaluate --hanchans ") == [], "a number"
