"""The core plays, evaluates and shows games without the packages of any extra (suphx/extras.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from suphx.extras import EXTRA_OF
from tests.core_program import CORE

BLOCK = f"""
import sys

sys.modules.update(dict.fromkeys({list(EXTRA_OF)}))  # as if they were not installed
"""


def run_core(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, input="", capture_output=True, text=True, check=False
    )


def test_the_core_needs_no_extra(tmp_path: Path) -> None:
    done = run_core(BLOCK + CORE, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "game.html").exists()


@pytest.mark.parametrize(
    ("call", "module"),
    [
        ("main(['run', 'laptop'])", "mlflow"),
        ("main(['ui'])", "mlflow"),
        ("main(['play', '--agent', 'models:/suphx@champion'])", "torch"),
        ("main(['jobs'])", "kubernetes"),
        ("suphx.load_agent('.')", "torch"),
        ("suphx.games_table([])", "pyarrow"),
    ],
)
def test_a_missing_extra_is_named(call: str, module: str, tmp_path: Path) -> None:
    program = f"{BLOCK}\nimport suphx\nfrom suphx_cli.cli import main\nsys.exit({call})"
    done = run_core(program, tmp_path)
    assert f"needs {module}: pip install 'suphx[{EXTRA_OF[module]}]'" in done.stderr
    assert done.returncode == (2 if call.startswith("main") else 1)
