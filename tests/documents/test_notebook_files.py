"""The notebooks for Jupyter are those of the Python files, and begin as well there as they do as scripts."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jupytext
import pytest

from tests.documents.notebook_files import NOTEBOOKS, notebook_path, notebook_text

SOURCES = sorted(NOTEBOOKS.glob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_notebook_is_in_step_with_its_python_file(path: Path) -> None:
    assert notebook_path(path).read_text(encoding="utf-8") == notebook_text(path.read_text(encoding="utf-8")), (
        "run make golden"
    )


@pytest.mark.parametrize(("name", "expected"), [("self_play", {"ROUNDS": 30, "GAMES": 64}), ("learn_from_records", {})])
def test_the_first_cell_runs_in_jupyter_whose_command_line_is_not_the_notebooks(
    name: str, expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    notebook = jupytext.read(NOTEBOOKS / f"{name}.ipynb")
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
    names: dict[str, Any] = {}
    exec(cell.source, names)
    assert {key: names[key] for key in expected} == expected
