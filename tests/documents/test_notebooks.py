"""The notebooks run as scripts, with small numbers, and show what they promise."""

from __future__ import annotations

import re
import runpy
import sys

import pytest
import torch

from tests.repository import REPOSITORY

NOTEBOOKS = REPOSITORY / "examples" / "notebooks"


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(NOTEBOOKS / name), run_name="__main__")
    return capsys.readouterr().out


def test_first_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run("first_game.py", monkeypatch=monkeypatch, capsys=capsys)
    assert "10 games, the first one with " in shown
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
