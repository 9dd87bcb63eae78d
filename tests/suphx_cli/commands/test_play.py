"""``suphx play``: mistakes are one line before anything starts; the real command serves its page until Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx.selfplay.agents.agent import load_agent
from suphx_cli import cli
from suphx_cli.commands import play
from tests.repository import REPOSITORY


@pytest.mark.slow
def test_the_command_serves_until_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "suphx_cli.cli", "play", "--json", "--language", "de"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert '"language":"de"' in answer.read().decode()
        os.kill(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == cli.STOPPED
    assert error.splitlines()[-1] == "suphx: stopped"
    assert "Traceback" not in error


def test_the_default_agent_is_the_nets_of_the_repository_where_they_and_torch_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = REPOSITORY / "examples/agents/self_play"
    assert play.default_agent() == str(shipped)
    load_agent(play.default_agent())
    monkeypatch.setattr(play, "find_spec", {"torch": None}.get)
    assert play.default_agent() == "ukeire"
    monkeypatch.undo()
    monkeypatch.setattr(play, "_NETS", tmp_path / "a package")
    assert play.default_agent() == "ukeire"


@pytest.mark.slow
def test_a_game_is_played_in_a_real_terminal(tmp_path: Path) -> None:
    def answer(rest: str) -> str:
        """Let every tile pass and discard what was drawn."""
        prompt = rest.splitlines()[-1]
        return "0" if prompt.startswith("number") else "d" if prompt.startswith("tile") else ""

    shown = played(tmp_path, answer, "--terminal", "--length", "tonpuu", "--seed", "5")
    assert "Final places: 1. " in shown
    assert "\x1b[" in shown  # tiles in colours
    (record,) = (tmp_path / "games").iterdir()
    assert f"games/{record.name}" in shown


@pytest.mark.slow
def test_deals_of_another_game_are_played_in_a_real_terminal(tmp_path: Path) -> None:
    deals = 0

    def answer(rest: str) -> str:
        """List the legal moves and play the first one, for two deals."""
        nonlocal deals
        if "next deal" in rest.splitlines()[-1]:
            deals += 1
            return "quit" if deals == 2 else ""
        listed = [line.split(": ")[1] for line in rest.splitlines() if line.startswith("  ") and ": " in line]
        return listed[0].split()[0] if rest.startswith("l\r") else "l"

    shown = played(tmp_path, answer, "--game", "doudizhu", "--agent", "random", "--seed", "5")
    assert "2 deals won so far." in shown
    (record,) = (tmp_path / "games" / "doudizhu").iterdir()
    assert len(record.read_text().splitlines()) == 2
    assert f"suphx view games/doudizhu/{record.name}" in shown


def played(folder: Path, answer: Callable[[str], str], *arguments: str) -> str:
    """Run ``suphx play`` in a terminal; return all that it showed. ``answer``: to what was shown since the last one."""
    terminal, inside = pty.openpty()
    command = [sys.executable, "-m", "suphx_cli.cli", "play", *arguments]
    shown, rest = "", ""
    with subprocess.Popen(command, cwd=folder, stdin=inside, stdout=inside, stderr=inside) as process:
        os.close(inside)
        while True:
            try:
                part = os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the command has ended
                break
            shown, rest = shown + part, rest + part
            if rest.endswith("> "):
                typed, rest = answer(rest), ""
                os.write(terminal, f"{typed}\n".encode())
    assert process.returncode == 0
    return shown
