"""``suphx bot``: the zip of an agent for arenas."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from suphx_cli import cli


@pytest.mark.parametrize(
    ("words", "program"), [(["--agent", "ukeire"], "bot.py"), (["--game", "mcr", "--agent", "shanten"], "__main__.py")]
)
def test_an_agent_is_packed_for_an_arena_of_its_game(
    words: list[str], program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "bot.zip"
    assert cli.main(["bot", *words, str(archive), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    names = zipfile.ZipFile(archive).namelist()
    assert program in names
    assert result == {"archive": str(archive), "files": len(names), "bytes": archive.stat().st_size, "data": []}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--agent", "ukeire", "bot.tar"], "OUT is bot.tar: name a file that ends in .zip"),
        (["--game", "dazhong", "--agent", "ukeire", "bot.zip"], "no arena is known that runs bots of Dazhong mahjong"),
    ],
)
def test_mistakes_are_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bot", *words]) != 0
    assert message in capsys.readouterr().err
