"""The names that the package suphx.games.riichi offers to the layers above."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from suphx.games import riichi
from tests.games.game_interface import LAYERS
from tests.repository import REPOSITORY

ABOVE = (*LAYERS.values(), "examples")
NAMES = dir(riichi)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_can_be_loaded(name: str) -> None:
    assert getattr(riichi, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Chess"):
        _ = riichi.Chess  # type: ignore[attr-defined]


def test_every_name_is_used_above() -> None:
    sources = [path.read_text(encoding="utf-8") for folder in ABOVE for path in (REPOSITORY / folder).rglob("*.py")]
    sources.append((REPOSITORY / "suphx" / "__init__.pyi").read_text(encoding="utf-8"))
    imported = re.findall(r"from (?:suphx)?\.games\.riichi import (\([^)]*\)|[^\n]*)", "\n".join(sources))
    used = set(re.findall(r"\w+", " ".join(imported)))
    assert sorted(set(NAMES) - used) == []


def test_the_package_alone_loads_no_kernels() -> None:
    program = "import sys, suphx.games.riichi as riichi; riichi.HEAD_NAMES; print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
