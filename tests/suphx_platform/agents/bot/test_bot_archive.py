"""The zip for arenas: its bot plays from a clean folder, with its own code and nets."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from suphx.games.game import Agent
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.rules import tonpuu
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx_platform.agents import bot_archive
from suphx_platform.agents.bot_archive import write_bot
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.agents.mjai.programs import CommandLine
from tests.selfplay.small_policy_set import save_random


def played(agent: Agent) -> str:
    agents = [agent, load_agent("tsumogiri")]
    (game,) = play_games(agents, np.array([[1, 1, 0, 1]]), [3], tonpuu(), names=["A", "tsumogiri"])
    return write_mjai(game)


def test_the_bot_plays_from_a_clean_folder_what_the_agent_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nets = save_random(tmp_path / "nets")
    archive, folder = tmp_path / "bot.zip", tmp_path / "clean"
    names = write_bot(f"{nets}:matched", archive, "riichi").names
    assert {"bot.py", "agent.txt", "requirements.txt", "suphx/__init__.py", "nets/discard.safetensors"} <= set(names)
    zipfile.ZipFile(archive).extractall(folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(folder)
    (tmp_path / "nets").rename(tmp_path / "elsewhere")
    origin = "import suphx, suphx_platform; print(suphx.__file__, suphx_platform.__file__)"
    found = subprocess.run([sys.executable, "-c", origin], capture_output=True, text=True, check=True).stdout.split()
    assert [Path(each).parent.parent for each in found] == [folder, folder]
    bot = MjaiAgent("A", CommandLine(f"{sys.executable} -u bot.py"), move_seconds=120)
    assert played(bot) == played(load_agent(f"{tmp_path / 'elsewhere'}:matched"))


def test_equal_agents_give_equal_archives_and_scripted_agents_need_no_nets(tmp_path: Path) -> None:
    names = [write_bot("ukeire", tmp_path / name, "riichi").names for name in ("a.zip", "b.zip")]
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert not [name for name in names[0] if name.startswith("nets/")]
    assert not [name for name in names[0] if name.endswith(".pyc")]


def test_an_archive_that_no_arena_takes_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_archive, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"would have [\d,]+ bytes, but arenas take 1,000: use smaller nets"):
        write_bot("ukeire", tmp_path / "a.zip", "riichi")
    assert list(tmp_path.iterdir()) == []
