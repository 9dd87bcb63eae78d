"""The names that the package suphx.games.doudizhu offers to the layers above."""

from __future__ import annotations

import subprocess
import sys

import pytest

from suphx.games import doudizhu


@pytest.mark.parametrize("name", dir(doudizhu))
def test_a_name_can_be_loaded(name: str) -> None:
    assert getattr(doudizhu, name) is not None


def test_the_package_alone_loads_no_kernels() -> None:
    program = "import sys, suphx.games.doudizhu as doudizhu; doudizhu.Rules; print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
