"""The notebooks run as scripts with small numbers, and the files for Jupyter are made from them."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jupytext
import pytest
import torch

from tests.documents.notebook_files import NOTEBOOKS, notebook_path, notebook_text

SOURCES = sorted(NOTEBOOKS.glob("*.py"))


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(NOTEBOOKS / name), run_name="__main__")
    return capsys.readouterr().out


def test_first_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run("first_game.py", monkeypatch=monkeypatch, capsys=capsys)
    assert "ukeire is better than tsumogiri" in shown
    assert re.search(r"^0 +100%$", shown, re.MULTILINE), "seat 0 is ukeire itself"


def test_learn_from_records(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run("learn_from_records.py", monkeypatch=monkeypatch, capsys=capsys)
    match = re.search(r"test accuracy (\S+)%; a random legal discard is right in (\S+)%", shown)
    assert match is not None, shown
    accuracy, chance = map(float, match.groups())
    assert accuracy > 1.5 * chance


def test_self_play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    threads = torch.get_num_threads()
    shown = run("self_play.py", "1", "2", monkeypatch=monkeypatch, capsys=capsys)
    torch.set_num_threads(threads)
    match = re.search(r"mean place against three random players: (\S+) before, (\S+) after", shown)
    assert match is not None, shown
    assert all(1 <= float(place) <= 4 for place in match.groups())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_notebook_is_in_step_with_its_python_file(path: Path) -> None:
    expected = notebook_text(path.read_text(encoding="utf-8"))
    assert notebook_path(path).read_text(encoding="utf-8") == expected, "run make golden"


@pytest.mark.parametrize(("name", "expected"), [("self_play", {"ROUNDS": 30, "GAMES": 64}), ("learn_from_records", {})])
def test_the_first_cell_ignores_the_command_line_of_jupyter(
    name: str, expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ipykernel_launcher.py", "-f", "kernel.json"])
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    notebook = jupytext.read(NOTEBOOKS / f"{name}.ipynb")
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
    names: dict[str, Any] = {}
    exec(cell.source, names)
    assert {key: names[key] for key in expected} == expected
