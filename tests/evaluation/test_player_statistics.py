from __future__ import annotations

import lzma
import math
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from suphx.evaluation.player_statistics import player_statistics
from suphx.games.riichi.records.game_log import GameLog, KyokuLog, empty_result, move
from suphx.games.riichi.records.mjlog import parse_mjlog
from suphx.games.riichi.rules import Rules, tenhou, tonpuu
from suphx.games.riichi.table import (
    ANKAN,
    CHI_RED,
    DISCARD,
    EXHAUSTIVE_DRAW,
    KAKAN,
    LEAVE,
    NAGASHI_MANGAN,
    PON,
    RIICHI,
    TRIPLE_RON_DRAW,
    TSUMOGIRI,
    WIN_RESULT,
)

ANNA, BEN, CLEO, DAN = range(4)
NAMES = ("Anna", "Ben", "Cleo", "Dan")
Wins = Sequence[tuple[int, int, int]]


def result_of(kind: int, wins: Wins = (), tenpai: Sequence[int] = (0, 0, 0, 0)) -> np.void:
    result = empty_result()
    result["result"], result["num_wins"], result["tenpai"] = kind, len(wins), tenpai
    for i, (winner, loser, points) in enumerate(wins):
        result["win_seat"][i], result["win_loser"][i], result["win_points"][i] = winner, loser, points
    return result


def kyoku(
    result: np.void, moves: Sequence[tuple[int, int]] = (), *, honba: int = 0, is_result_complete: bool = True
) -> KyokuLog:
    return KyokuLog(
        kyoku=0,
        honba=honba,
        kyotaku=0,
        scores=(25_000,) * 4,
        wall=np.arange(136, dtype=np.uint8),
        is_wall_from_seed=False,
        moves=np.array([move(seat, action) for seat, action in moves], np.uint16),
        result=result,
        is_result_complete=is_result_complete,
    )


def game(
    *kyokus: KyokuLog,
    final: tuple[int, int, int, int] | None = (40_000, 30_000, 20_000, 10_000),
    names: tuple[str, str, str, str] = NAMES,
    room: str = "",
    rules: Rules | None = None,
) -> GameLog:
    kyoku_logs = list(kyokus)
    return GameLog(id="game", rules=rules or tenhou(), names=names, kyokus=kyoku_logs, final_scores=final, room=room)


DRAW = result_of(EXHAUSTIVE_DRAW)


def test_games_and_placements_are_counted() -> None:
    logs = [game(kyoku(DRAW)), game(kyoku(DRAW), kyoku(DRAW), final=(10_000, 50_000, 20_000, 20_000))]
    found = player_statistics(logs, "Anna")
    assert (found.games, found.kyoku, found.placements) == (2, 3, (1, 0, 0, 1))
    assert found.average_placement == 2.5
    assert player_statistics(logs, "Dan").placements == (0, 0, 1, 1)


def test_a_double_ron_is_two_wins_and_two_deal_ins_of_one_kyoku() -> None:
    log = game(kyoku(result_of(WIN_RESULT, [(BEN, ANNA, 8_000), (CLEO, ANNA, 2_000)]), honba=3), kyoku(DRAW))
    anna, ben, cleo = (player_statistics([log], name) for name in ("Anna", "Ben", "Cleo"))
    assert (anna.deal_in_rate, anna.deal_in_kyoku_rate, anna.average_deal_in) == (1.0, 0.5, 5_000)
    assert (ben.win_rate, ben.average_win, cleo.win_rate, cleo.average_win) == (0.5, 8_000, 0.5, 2_000)
    assert (ben.deal_in_rate, anna.win_rate) == (0, 0)


def test_a_liable_seat_that_did_not_discard_the_tile_does_not_deal_in() -> None:
    result = result_of(WIN_RESULT, [(BEN, CLEO, 32_000)])
    result["win_liable"][0] = ANNA
    log = game(kyoku(result))
    assert player_statistics([log], "Anna").deal_in_rate == 0
    assert player_statistics([log], "Cleo").deal_in_rate == 1


def test_riichi_and_open_calls_are_counted_once_a_kyoku() -> None:
    riichi = kyoku(DRAW, [(ANNA, RIICHI), (ANNA, DISCARD + 3), (BEN, PON), (BEN, DISCARD), (BEN, CHI_RED)])
    closed = kyoku(DRAW, [(BEN, ANKAN + 4), (BEN, LEAVE), (ANNA, DISCARD)])
    log = game(riichi, closed, kyoku(DRAW, [(BEN, PON), (BEN, KAKAN)]))
    anna, ben = (player_statistics([log], name) for name in ("Anna", "Ben"))
    assert (anna.riichi_rate, anna.call_rate) == (1 / 3, 0)
    assert (ben.riichi_rate, ben.call_rate) == (0, 2 / 3)


def test_tenpai_is_counted_at_exhaustive_draws_only() -> None:
    ready = result_of(EXHAUSTIVE_DRAW, tenpai=(1, 0, 0, 1))
    others = [kyoku(result_of(kind, tenpai=(1, 1, 1, 1))) for kind in (TRIPLE_RON_DRAW, NAGASHI_MANGAN)]
    log = game(kyoku(ready), kyoku(DRAW), *others)
    assert player_statistics([log], "Anna").tenpai_at_draw_rate == 0.5
    assert player_statistics([log], "Ben").tenpai_at_draw_rate == 0


def test_the_turn_of_a_win_counts_own_discards() -> None:
    moves = [(ANNA, TSUMOGIRI), (BEN, DISCARD), (ANNA, DISCARD + 36), (BEN, RIICHI), (BEN, DISCARD)]
    ron = kyoku(result_of(WIN_RESULT, [(ANNA, BEN, 1_000)]), moves)
    tsumo = kyoku(result_of(WIN_RESULT, [(ANNA, ANNA, 1_000)]), moves)
    assert player_statistics([game(ron)], "Anna").average_win_turn == 2
    assert player_statistics([game(ron, tsumo)], "Anna").average_win_turn == 2.5


def test_wins_without_known_points_are_in_the_rates_but_not_in_the_averages() -> None:
    known = kyoku(result_of(WIN_RESULT, [(ANNA, BEN, 3_900)]))
    unknown = kyoku(result_of(WIN_RESULT, [(ANNA, BEN, 0)]), is_result_complete=False)
    anna, ben = (player_statistics([game(known, unknown)], name) for name in ("Anna", "Ben"))
    assert (anna.win_rate, anna.average_win) == (1, 3_900)
    assert (ben.deal_in_rate, ben.average_deal_in) == (1, 3_900)


def test_a_name_at_two_seats_is_one_player_who_played_twice() -> None:
    log = game(kyoku(result_of(WIN_RESULT, [(CLEO, ANNA, 1_000)])), names=("bot", "Ben", "bot", "Dan"))
    found = player_statistics([log], "bot")
    assert (found.games, found.kyoku, found.placements) == (2, 2, (1, 0, 1, 0))
    assert (found.win_rate, found.deal_in_rate) == (0.5, 0.5)


def test_intervals_hold_the_numbers_and_come_from_whole_games() -> None:
    win, lost = kyoku(result_of(WIN_RESULT, [(ANNA, BEN, 1_000)])), kyoku(DRAW)
    logs = [game(*[win if i % 3 == 0 else lost] * 10, final=(1 + i % 4, 2, 3, 4)) for i in range(60)]
    found = player_statistics(logs, "Anna")
    interval = found.intervals["win_rate"]
    assert interval.low < found.win_rate < interval.high
    # Ten equal kyoku a game are one observation: the half width is that of 60, not of 600.
    assert (interval.high - interval.low) / 2 == pytest.approx(1.96 * math.sqrt(2 / 9 / 60), rel=0.15)
    assert player_statistics(logs, "Anna").to_json() == found.to_json()


def games_of_room(room: str, rules: Rules | None = None) -> list[GameLog]:
    """One game in which Anna comes first, and one in which she comes fourth."""
    return [game(kyoku(DRAW), final=final, room=room, rules=rules) for final in ((4, 3, 2, 1), (0, 1, 2, 3))]


@pytest.mark.parametrize(
    ("logs", "rank", "rooms"),
    [
        (games_of_room("phoenix"), 4, {"phoenix": 2}),
        (games_of_room("expert"), 3, {"expert": 2}),
        # 90 + 75 points won, 15 lost in each of two games for every dan and two more
        (games_of_room("phoenix") + games_of_room("expert"), 3.5, {"expert": 2, "phoenix": 2}),
        # An East-only game moves two thirds: 90 + 50 points won, 15 + 10 lost
        (games_of_room("phoenix") + games_of_room("expert", tonpuu()), 3.6, {"expert": 2, "phoenix": 2}),
        (games_of_room("expert") + games_of_room("") * 9, 3, {"expert": 2}),
    ],
)
def test_the_stable_rank_is_that_of_the_rooms_of_the_games(
    logs: list[GameLog], rank: float, rooms: dict[str, int]
) -> None:
    found = player_statistics(logs, "Anna")
    assert found.tenhou is not None
    assert found.tenhou.stable_rank == pytest.approx(rank)
    assert found.tenhou.rooms == found.to_json()["rooms"] == rooms
    assert found.tenhou.interval.low <= rank <= found.tenhou.interval.high


def suphx_games(records: Path, limit: int | None) -> list[GameLog]:
    with lzma.open(records / "suphx-tokujo-hanchan" / "games.tsv.xz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in islice(file, limit)]
    return [parse_mjlog(text, game_id) for game_id, _, text in lines]


@pytest.mark.records
def test_the_first_real_games_of_suphx_give_what_their_text_says(records: Path) -> None:
    # Counted by searching the XML for owari, AGARI, REACH, N and RYUUKYOKU, without this project's parser.
    found = player_statistics(suphx_games(records, 200), "ⓝSuphx")
    assert (found.games, found.kyoku, found.placements) == (200, 2_102, (59, 58, 52, 31))
    counts = {"win_rate": 500, "deal_in_rate": 205, "riichi_rate": 409, "call_rate": 679}
    rates = found.to_json()
    assert {name: rates[name] for name in counts} == {name: count / 2_102 for name, count in counts.items()}
    assert found.tenpai_at_draw_rate == 133 / 294
    assert (found.average_win, found.average_deal_in) == (3_034_100 / 500, 1_034_100 / 205)


@pytest.mark.records
@pytest.mark.slow
def test_all_real_games_of_suphx_give_the_known_figures(records: Path) -> None:
    found = player_statistics(suphx_games(records, None), "ⓝSuphx")
    assert (found.games, found.kyoku, found.placements) == (2_830, 30_070, (769, 810, 737, 514))
    assert found.average_placement == pytest.approx(2.352, abs=0.0005)
    assert found.tenhou is not None
    assert found.tenhou.rooms == {"expert": 2_830}
    assert found.tenhou.stable_rank == pytest.approx(8.63, abs=0.005)
    assert found.tenhou.interval.low == pytest.approx(7.6, abs=0.15)
    assert found.tenhou.interval.high == pytest.approx(9.9, abs=0.15)
    assert found.win_rate == pytest.approx(0.2196, abs=0.00005)
    assert found.deal_in_rate == pytest.approx(0.0998, abs=0.00005)
