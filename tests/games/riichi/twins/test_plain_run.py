from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from suphx.games.mahjong.shanten import load_suits
from tests.repository import REPOSITORY


def run(num_decisions: int, **environment: str) -> str:
    """Run plain_run.py in a process of its own, warnings as errors; return what it printed."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.games.riichi.twins.plain_run", str(num_decisions)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_engine_does_the_same_without_the_compiler() -> None:
    load_suits()  # building it without the compiler would take very long
    assert run(2000, NUMBA_DISABLE_JIT="1") == run(2000)


@pytest.mark.slow
def test_no_kernel_reads_outside_its_arrays(tmp_path: Path) -> None:
    # A cache folder of its own: numba does not notice that compiled kernels lack the checks.
    assert run(2000, NUMBA_BOUNDSCHECK="1", SUPHX_CACHE=str(tmp_path)) == run(2000)
