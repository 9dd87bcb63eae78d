"""A kyoku is built from its events, refuses what cannot have happened, and plays again as it was built."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import KyokuLog, empty_result, move
from suphx.games.riichi.records.kyoku_builder import Event, KyokuBuilder, Meld, Playback, Win, play_kyoku
from suphx.games.riichi.records.mjlog_xml import decode_meld, encode_meld
from suphx.kernel.record import U8
from tests.games.riichi.builders.games import builder_of

# Seat 0 holds 1m 5m 9m four times and 4p, seat 1 2m 6m 1p and 4p, seat 2 3m 7m 2p and 4p, seat 3 4m 8m 3p and 4p; the
# draws are 52, 53, …
ORDERED = np.arange(136, dtype=np.uint8)
NO_CHANGE = [0, 0, 0, 0]


def swapped(first: int, second: int) -> U8:
    wall = ORDERED.copy()
    wall[[first, second]] = wall[[second, first]]
    return wall


def after_discard() -> KyokuBuilder:
    builder = builder_of(ORDERED)
    builder.draw(0, 52)
    builder.discard(0, 52)
    return builder


def test_a_seed_wall_is_kept_and_the_record_beside_it() -> None:
    builder = after_discard()
    builder.end_in_draw(codes.TRIPLE_RON_DRAW, NO_CHANGE)
    other = ORDERED[::-1].copy()
    log = builder.finish(other)
    assert log.is_wall_from_seed
    assert log.wall is other
    assert log.deal.tolist() == list(range(52))
    assert log.moves.tolist() == [move(0, codes.TSUMOGIRI)]


def test_a_triple_ron_may_rob_a_kan() -> None:
    builder = builder_of(swapped(4, 52))  # seat 0 draws the fourth 2m, seat 1 holds the others
    builder.draw(0, 4)
    builder.discard(0, 4)
    builder.call(1, Meld(PON_MELD, (4, 5, 6), 4, 3))
    builder.discard(1, 52)
    for seat, tile in ((2, 53), (3, 54), (0, 55)):
        builder.draw(seat, tile)
        builder.discard(seat, tile)
    builder.draw(1, 56)
    builder.call(1, Meld(KAKAN_MELD, (4, 5, 6, 7), 4, 3, 7))
    with pytest.raises(ValueError, match="in the middle of a turn"):
        builder.end_in_draw(codes.EXHAUSTIVE_DRAW, NO_CHANGE)
    builder.end_in_draw(codes.TRIPLE_RON_DRAW, NO_CHANGE)
    assert builder.finish().result["result"] == codes.TRIPLE_RON_DRAW


def test_a_double_ron_is_two_moves_and_two_wins_in_order() -> None:
    builder = after_discard()
    builder.win(Win(seat=1, loser=0, tile=52, deltas=[-8_000, 8_000, 0, 0], han=5, points=8_000))
    builder.win(Win(seat=3, loser=0, tile=52, deltas=[-2_000, 0, 0, 2_000], han=2, points=2_000))
    result = builder.finish().result
    assert result["result"] == codes.WIN_RESULT
    assert result["win_seat"][:2].tolist() == [1, 3]
    assert result["deltas"].tolist() == [-10_000, 8_000, 0, 2_000]
    assert result["win_deltas"][1].tolist() == [-2_000, 0, 0, 2_000]
    assert result["win_liable"].tolist() == [-1, -1, -1]
    assert builder.scores == [15_000, 33_000, 25_000, 27_000]


def test_a_discard_of_another_id_is_tedashi_even_of_the_same_face() -> None:
    builder = builder_of(ORDERED)
    builder.draw(0, 53)
    builder.discard(0, 0)
    builder.end_in_draw(codes.TRIPLE_RON_DRAW, NO_CHANGE)
    assert builder.finish().moves.tolist() == [move(0, codes.DISCARD)]


def test_a_riichi_recorded_after_its_discard_stands_before_it() -> None:
    builder = after_discard()
    builder.declare_riichi(0)
    builder.pay_stick(0)
    assert (builder.scores[0], builder.kyotaku) == (24_000, 1)
    builder.end_in_draw(codes.TRIPLE_RON_DRAW, NO_CHANGE)
    assert builder.finish().moves.tolist() == [move(0, codes.RIICHI), move(0, codes.TSUMOGIRI)]


IMPOSSIBLE: dict[str, tuple[Callable[[KyokuBuilder], object], str]] = {
    "a draw out of turn": (lambda b: b.draw(2, 53), "turn of seat 1"),
    "a tile twice": (lambda b: b.draw(1, 52), "second time"),
    "no tile": (lambda b: b.draw(1, 136), "outside 0-135"),
    "a discard without a draw": (lambda b: b.discard(1, 4), "out of turn"),
    "an unborn kan": (lambda b: b.call(1, Meld(ANKAN_MELD, (4, 5, 6, 7), -1, 0)), "without having drawn"),
    "a stick that is not due": (lambda b: b.pay_stick(0), "not due"),
    "riichi out of turn": (lambda b: b.declare_riichi(1), "without having drawn"),
    "a tsumo without a draw": (lambda b: b.win(Win(seat=1, loser=1, tile=53, deltas=NO_CHANGE)), "not just drawn"),
    "a ron of another tile": (lambda b: b.win(Win(seat=1, loser=0, tile=53, deltas=NO_CHANGE)), "not just given"),
    "a ron of another seat": (lambda b: b.win(Win(seat=1, loser=2, tile=52, deltas=NO_CHANGE)), "not just given"),
    "nine terminals without a draw": (lambda b: b.end_in_draw(codes.NINE_TERMINALS_DRAW, NO_CHANGE), "not drawn"),
    "no end": (lambda b: b.finish(), "no end"),
    "a call of tiles of others": (lambda b: b.call(1, Meld(CHI_MELD, (52, 56, 60), 52, 3)), "not in its hand"),
    "chi from the wrong side": (lambda b: b.call(2, Meld(CHI_MELD, (52, 56, 60), 52, 3)), "not the last discard"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_have_happened_is_refused(name: str) -> None:
    act, reason = IMPOSSIBLE[name]
    with pytest.raises(ValueError, match=reason):
        act(after_discard())


def test_an_unpaid_riichi_stops_the_next_draw_and_the_draw_of_the_kyoku() -> None:
    builder = builder_of(ORDERED)
    builder.draw(0, 52)
    builder.declare_riichi(0)
    builder.discard(0, 52)
    with pytest.raises(ValueError, match="stick is not recorded"):
        builder.draw(1, 53)
    with pytest.raises(ValueError, match="stick is not recorded"):
        builder.end_in_draw(codes.EXHAUSTIVE_DRAW, NO_CHANGE)


def test_a_wall_that_ends_before_its_draws_is_refused() -> None:
    builder = builder_of(ORDERED)
    for turn in range(70):
        builder.draw(turn % 4, 52 + turn)
        builder.discard(turn % 4, 52 + turn)
    with pytest.raises(ValueError, match="wall ends"):
        builder.draw(2, 122)


MELDS = {
    "chi low": (Meld(CHI_MELD, (0, 5, 11), 0, 3), codes.CHI),
    "chi middle": (Meld(CHI_MELD, (58, 61, 64), 61, 3), codes.CHI + 1),
    "chi high": (Meld(CHI_MELD, (99, 103, 107), 107, 3), codes.CHI + 2),
    "chi with own red": (Meld(CHI_MELD, (50, 52, 57), 50, 3), codes.CHI_RED),
    "chi of a red": (Meld(CHI_MELD, (86, 88, 94), 88, 3), codes.CHI + 1),
    "pon": (Meld(PON_MELD, (124, 125, 127), 127, 1), codes.PON),
    "pon with own red": (Meld(PON_MELD, (16, 17, 19), 19, 2), codes.PON_RED),
    "pon of a red": (Meld(PON_MELD, (16, 17, 19), 16, 2), codes.PON),
    "minkan": (Meld(MINKAN_MELD, tuple(range(88, 92)), 90, 1), codes.MINKAN),
    "ankan": (Meld(ANKAN_MELD, tuple(range(132, 136)), -1, 0), codes.ANKAN + 33),
    "kakan": (Meld(KAKAN_MELD, tuple(range(124, 128)), 125, 3, 127), codes.KAKAN + 31),
    "kakan of the red": (Meld(KAKAN_MELD, tuple(range(52, 56)), 55, 2, 52), codes.KAKAN + 13),
}


@pytest.mark.parametrize("name", MELDS)
def test_a_meld_survives_its_code_and_names_its_action(name: str) -> None:
    meld, action = MELDS[name]
    assert decode_meld(encode_meld(meld)) == meld
    assert meld.action() == action


def test_every_code_is_either_refused_or_its_own_inverse() -> None:
    num_sound = 0
    for code in range(-1, (1 << 16) + 1):
        try:
            meld = decode_meld(code)
        except ValueError:
            continue
        num_sound += 1
        # Records name any of the four tiles of a closed kan; we write the lowest.
        assert encode_meld(meld) == (code & ~0x300 if meld.type == ANKAN_MELD else code)
    # 21 runs x 64 copies x 3 places; 34 x 3 sources x (4 x 3 pons, as many kakans, 4 open kans); 34 x 4 closed kans
    assert num_sound == 21 * 64 * 3 + 34 * 3 * (12 + 12 + 4) + 34 * 4


# ---- played again


def log_of(moves: list[tuple[int, int]], *, wall: U8 = ORDERED, result: int = codes.EXHAUSTIVE_DRAW) -> KyokuLog:
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


def played(moves: list[tuple[int, int]], *, wall: U8 = ORDERED, result: int = codes.EXHAUSTIVE_DRAW) -> Playback:
    return play_kyoku(log_of(moves, wall=wall, result=result))


KAN = [(0, codes.TSUMOGIRI), (1, codes.MINKAN)]


@pytest.mark.parametrize(
    ("moves", "events"),
    [
        ([(0, codes.ANKAN), (0, codes.TSUMOGIRI)], "draw call dora draw discard"),
        ([*KAN, (1, codes.DISCARD + 5)], "draw discard call draw dora discard"),
        (
            [*KAN, (1, codes.ANKAN + 5), (1, codes.TSUMOGIRI)],
            "draw discard call draw call dora dora draw discard",
        ),
        ([*KAN, (1, codes.TSUMO)], "draw discard call draw"),
    ],
)
def test_the_dora_of_a_kan_turns_over_when_tenhou_turns_it(moves: list[tuple[int, int]], events: str) -> None:
    wall = swapped(7, 52) if moves[0] == (0, codes.TSUMOGIRI) else ORDERED  # seat 0 draws the 2m that seat 1 lacks
    found = played(moves, wall=wall).events
    assert " ".join(event.kind for event in found) == events
    doras = [event.tile for event in found if event.kind == "dora"]
    assert doras == [128, 126][: len(doras)]
    assert [event.tile for event in found if event.kind == "draw"][1:2] == [134]


def test_an_added_kan_joins_its_pon_and_turns_no_dora_when_robbed() -> None:
    moves = [
        (0, codes.TSUMOGIRI),
        (1, codes.PON),
        (1, codes.DISCARD + 5),
        (2, codes.TSUMOGIRI),
        (3, codes.TSUMOGIRI),
        (0, codes.TSUMOGIRI),
        (1, codes.KAKAN + 1),
    ]
    found = played(moves, wall=swapped(7, 52), result=codes.WIN_RESULT)
    assert "dora" not in [event.kind for event in found.events]
    assert [meld.added for meld in found.melds[1]] == [6]
    assert [event.meld.type for event in found.events if event.kind == "call"] == [PON_MELD, KAKAN_MELD]
    assert (found.indicators, found.last, found.turn) == ([130], 6, 1)


def test_a_riichi_stick_is_paid_when_the_discard_was_not_ronned() -> None:
    moves = [(0, codes.RIICHI), (0, codes.TSUMOGIRI)]
    for more, result, is_paid in (
        ([(1, codes.TSUMOGIRI)], codes.WIN_RESULT, True),
        ([], codes.EXHAUSTIVE_DRAW, True),
        ([], codes.WIN_RESULT, False),
        ([], codes.TRIPLE_RON_DRAW, False),
    ):
        found = played([*moves, *more], result=result)
        assert [event for event in found.events if event.kind == "stick"] == [Event("stick", 0)] * is_paid
        assert found.scores[0] == 25_000 - 1_000 * is_paid


UNFITTING = {
    "a discard that is not held": [(0, codes.DISCARD + 30)],
    "another seat's turn": [(1, codes.TSUMOGIRI)],
    "a chi without the tiles": [(0, codes.TSUMOGIRI), (1, codes.CHI)],
    "a chi from the wrong side": [(0, codes.DISCARD), (2, codes.CHI)],
    "a pon without the tiles": [(0, codes.TSUMOGIRI), (2, codes.PON)],
    "a kan without the tiles": [(0, codes.ANKAN + 20)],
    "an added kan without a pon": [(0, codes.KAKAN)],
    "a claim before any discard": [(1, codes.PON)],
    "no action": [(0, 127)],
    "a fifth seat": [(0, codes.TSUMOGIRI), (4, codes.PON)],
}


@pytest.mark.parametrize("name", UNFITTING)
def test_moves_that_do_not_fit_the_wall_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        played(UNFITTING[name])


@pytest.mark.parametrize(("name", "value"), [("result", 0), ("result", 9), ("num_wins", 4), ("num_wins", -1)])
def test_results_that_no_kyoku_has_are_refused(name: str, value: int) -> None:
    log = log_of([(0, codes.TSUMOGIRI)])
    log.result[name] = value
    with pytest.raises(ValueError, match="has an unknown kind, or impossible wins"):
        play_kyoku(log)
