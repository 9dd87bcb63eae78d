"""The command ``suphx mjai`` and the bot of the zip as processes in an outside arena: whole hanchans, every message."""

from __future__ import annotations

import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from suphx_platform.agents.bot_archive import write_bot
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.line_program import LineProgram, line_program
from tests.suphx_platform.agents.mjai.riichienv_arena import play_hanchan

SEEDS = (2, 4, 7)
"""Games that show all of these together."""
EVENTS = {
    *("start_game", "start_kyoku", "tsumo", "dahai", "reach", "reach_accepted", "chi", "pon", "daiminkan", "ankan"),
    *("kakan", "dora", "hora", "ryukyoku", "end_kyoku", "end_game"),
}
ANSWERS = {
    *("none", "dahai", "dahai red", "reach", "chi", "chi red", "pon", "pon red", "daiminkan", "ankan", "kakan"),
    *("hora by tsumo", "hora by ron"),
}
Start = Callable[[int], AbstractContextManager[LineProgram]]
"""Starts a program at a seat."""


def command(address: str, *, is_single: bool) -> Start:
    words = [sys.executable, "-m", "suphx_cli.cli", "mjai", "--agent", address]
    return lambda seat: line_program([*words, str(seat)], is_single=is_single)


def bot(folder: Path, *, is_single: bool) -> Start:
    return lambda seat: line_program([sys.executable, "bot.py", str(seat)], folder, is_single=is_single)


def unpacked(address: str, folder: Path) -> Path:
    """Return the folder of the bot as an arena that it was sent to has it."""
    folder.mkdir()
    write_bot(address, folder / "bot.zip")
    zipfile.ZipFile(folder / "bot.zip").extractall(folder / "bot")
    return folder / "bot"


@pytest.fixture
def programs(tmp_path: Path) -> list[Start]:
    nets = save_random(tmp_path / "nets")
    bots = unpacked("random", tmp_path / "random"), unpacked(str(nets), tmp_path / "of_nets")
    nets.rename(tmp_path / "elsewhere")  # a bot has its own nets
    return [
        command("random", is_single=False),
        command("ukeire", is_single=True),
        bot(bots[0], is_single=False),
        bot(bots[1], is_single=True),
    ]


@pytest.mark.slow
def test_command_and_bot_play_whole_hanchans_with_every_message_in_an_outside_arena(programs: list[Start]) -> None:
    events: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for seed in SEEDS:
        with ExitStack() as stack:
            seated = [stack.enter_context(programs[(seed + seat) % 4](seat)) for seat in range(4)]
            game = play_hanchan(seated, seed)
            for program in seated:
                program.end()
        events += game.events
        answers += game.answers
    assert set(events) >= EVENTS
    assert set(answers) >= ANSWERS
