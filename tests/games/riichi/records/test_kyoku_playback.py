from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from suphx.games.riichi.records.game_log import KyokuLog, empty_result, move
from suphx.games.riichi.records.kyoku_playback import (
    Called,
    CameBack,
    DeclaredRiichi,
    Discarded,
    Drew,
    Ended,
    Event,
    Left,
    PaidStick,
    TurnedDora,
    play_kyoku,
)
from suphx.games.riichi.table import (
    ANKAN,
    CHI,
    DISCARD,
    EXHAUSTIVE_DRAW,
    KAKAN,
    LEAVE,
    MINKAN,
    PON,
    RETURN,
    RIICHI,
    TRIPLE_RON_DRAW,
    TSUMO,
    TSUMOGIRI,
    WIN_RESULT,
)
from suphx.kernel.record import U8
from tests.games.riichi.builders.games import random_game

# Seat 0 holds 1m 5m 9m four times and 4p, seat 1 2m 6m 1p and 4p, seat 2 3m 7m 2p and 4p, seat 3 4m 8m 3p and 4p.
ORDERED = np.arange(136, dtype=np.uint8)


def log_of(moves: list[tuple[int, int]], *, wall: U8 = ORDERED, result: int = EXHAUSTIVE_DRAW) -> KyokuLog:
    record = empty_result()
    record["result"] = result
    return KyokuLog(
        kyoku=0,
        honba=0,
        kyotaku=0,
        scores=(25_000,) * 4,
        wall=wall,
        is_wall_from_seed=False,
        moves=np.array([move(seat, action) for seat, action in moves], np.uint16),
        result=record,
    )


def events(log: KyokuLog) -> list[Event]:
    return list(play_kyoku(log))


def kinds_of(log: KyokuLog) -> list[type]:
    return [type(event) for event in events(log)]


def test_draws_come_from_the_wall_before_the_moves_that_need_them() -> None:
    played = events(log_of([(0, TSUMOGIRI), (1, LEAVE), (1, DISCARD + 1), (1, RETURN)]))
    assert played[:-1] == [
        Drew(0, 52),
        Discarded(0, 52, True),
        Left(1),
        Drew(1, 53),
        Discarded(1, 4, False),
        CameBack(1),
    ]


def test_the_dora_of_a_closed_kan_turns_before_its_rinshan_draw() -> None:
    played = events(log_of([(0, ANKAN), (0, TSUMOGIRI)]))
    assert [type(event) for event in played] == [Drew, Called, TurnedDora, Drew, Discarded, Ended]
    assert played[2:4] == [TurnedDora(128), Drew(0, 134)]


def test_the_dora_of_an_open_kan_turns_before_the_next_discard() -> None:
    wall = ORDERED.copy()
    wall[[52, 7]] = wall[[7, 52]]  # seat 0 draws the 2m that seat 1 lacks
    assert kinds_of(log_of([(0, TSUMOGIRI), (1, MINKAN), (1, DISCARD + 5)], wall=wall)) == [
        Drew,
        Discarded,
        Called,
        Drew,
        TurnedDora,
        Discarded,
        Ended,
    ]


def test_a_pending_dora_turns_before_the_rinshan_draw_of_the_next_kan() -> None:
    wall = ORDERED.copy()
    wall[[52, 7]] = wall[[7, 52]]
    log = log_of([(0, TSUMOGIRI), (1, MINKAN), (1, ANKAN + 5), (1, TSUMOGIRI)], wall=wall)
    assert kinds_of(log)[2:] == [Called, Drew, Called, TurnedDora, TurnedDora, Drew, Discarded, Ended]


def test_an_added_kan_joins_its_pon_and_turns_no_dora_when_robbed() -> None:
    wall = ORDERED.copy()
    wall[[52, 7]] = wall[[7, 52]]
    moves = [(0, TSUMOGIRI), (1, PON), (1, DISCARD + 5), (2, TSUMOGIRI), (3, TSUMOGIRI), (0, TSUMOGIRI), (1, KAKAN + 1)]
    played = events(log_of(moves, wall=wall, result=WIN_RESULT))
    end = played[-1]
    assert isinstance(end, Ended)
    assert TurnedDora not in [type(event) for event in played]
    assert [meld.added for meld in end.melds[1]] == [6]
    assert end.indicators == (130,)


def test_a_riichi_stick_is_paid_when_the_discard_was_not_ronned() -> None:
    moves = [(0, RIICHI), (0, TSUMOGIRI)]
    assert PaidStick in kinds_of(log_of([*moves, (1, TSUMOGIRI)]))
    assert PaidStick in kinds_of(log_of(moves))
    for result in (WIN_RESULT, TRIPLE_RON_DRAW):
        assert PaidStick not in kinds_of(log_of(moves, result=result))
    paid = next(event for event in events(log_of(moves)) if isinstance(event, PaidStick))
    assert paid.scores == (24_000, 25_000, 25_000, 25_000)
    assert DeclaredRiichi in kinds_of(log_of(moves))


def test_the_end_shows_hands_melds_and_the_winning_tile() -> None:
    end = events(log_of([(0, ANKAN), (0, TSUMO)], result=WIN_RESULT))[-1]
    assert isinstance(end, Ended)
    assert end.hands[0] == (16, 17, 18, 19, 32, 33, 34, 35, 48, 52, 134)
    assert end.winning_tile == 134
    assert end.turn == 0


IMPOSSIBLE = {
    "a discard that is not held": [(0, DISCARD + 30)],
    "another seat's turn": [(1, TSUMOGIRI)],
    "a chi without the tiles": [(0, TSUMOGIRI), (1, CHI)],
    "a chi from the wrong side": [(0, DISCARD), (2, CHI)],
    "a pon without the tiles": [(0, TSUMOGIRI), (2, PON)],
    "a kan without the tiles": [(0, ANKAN + 20)],
    "an added kan without a pon": [(0, KAKAN)],
    "a claim before any discard": [(1, PON)],
    "no action": [(0, 127)],
    "a fifth seat": [(0, TSUMOGIRI), (4, PON)],
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_moves_that_do_not_fit_the_wall_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        events(log_of(IMPOSSIBLE[name]))


@pytest.mark.parametrize(("name", "value"), [("result", 0), ("result", 9), ("num_wins", 4), ("num_wins", -1)])
def test_results_that_no_kyoku_has_are_refused(name: str, value: int) -> None:
    log = log_of([(0, TSUMOGIRI)])
    log.result[name] = value
    with pytest.raises(ValueError, match="has an unknown kind, or impossible wins"):
        events(log)
    log = log_of([(0, TSUMOGIRI)], result=WIN_RESULT)
    log.result["num_wins"] = 1
    log.result["win_seat"][0] = 4
    with pytest.raises(ValueError, match="impossible wins"):
        events(log)


def test_a_tedashi_is_never_the_tile_just_drawn() -> None:
    log = random_game(1).kyokus[0]
    for before, after in zip(events(log), events(log)[1:], strict=False):
        if isinstance(before, Drew) and isinstance(after, Discarded):
            assert after.is_tsumogiri == (after.tile == before.tile)


def test_playback_changes_nothing_in_the_log() -> None:
    log = random_game(1).kyokus[0]
    copy = dataclasses.replace(log, moves=log.moves.copy(), wall=log.wall.copy())
    events(log)
    assert np.array_equal(log.moves, copy.moves)
    assert np.array_equal(log.wall, copy.wall)
