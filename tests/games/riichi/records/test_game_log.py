from __future__ import annotations

from pathlib import Path

import pytest

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.game_log import GameLog, does_tenpai_end_game
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.table import EXHAUSTIVE_DRAW
from tests.games.riichi.builders.games import drawn_game, shuffled_wall

LAST_KYOKU = 7  # South 4, dealer seat 3


def game(game_id: str, *, goes_on: bool) -> GameLog:
    """Return a game in whose last planned kyoku the dealer, ahead, is tenpai at a draw."""
    log = drawn_game(shuffled_wall(1), *([shuffled_wall(2)] if goes_on else []))
    log.id = game_id
    log.kyokus[0].kyoku = LAST_KYOKU
    log.kyokus[0].result["tenpai"] = (0, 0, 0, 1)
    if goes_on:
        log.kyokus[1].kyoku, log.kyokus[1].scores = LAST_KYOKU, (20_000, 20_000, 20_000, 40_000)
    assert log.kyokus[0].result["result"] == EXHAUSTIVE_DRAW
    return log


@pytest.mark.parametrize(
    ("hour", "goes_on", "ends"),
    [
        ("2010050611", True, False),
        ("2010060106", True, False),
        ("2010060107", True, False),
        ("2010060107", False, True),
        ("2010061313", True, False),
        ("2010061314", True, True),
        ("2010061314", False, True),
        ("2009042221", False, False),
    ],
)
def test_the_date_decides_and_between_two_records_the_game_itself(hour: str, goes_on: bool, ends: bool) -> None:
    assert does_tenpai_end_game(game(f"{hour}gm-00a9-0000-00000000", goes_on=goes_on)) == ends


@pytest.mark.parametrize("other", ["my game", "11866455710-0", "1999123100"])
def test_ids_without_an_hour_follow_the_newer_rule(other: str) -> None:
    assert does_tenpai_end_game(game(other, goes_on=True))


@pytest.mark.records
@pytest.mark.slow
def test_real_games_around_the_change_agree(records: Path) -> None:
    replayer = Replayer()
    num_games = 0
    for log in iter_records([records / "careers-hanchan"], quarantine=Quarantine()):
        if "2010050611" <= log.id[:10] <= "2010061399":
            num_games += 1
            assert replayer.replay(log) == []
    assert num_games > 0
