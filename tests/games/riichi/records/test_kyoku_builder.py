from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.records.game_log import move
from suphx.games.riichi.records.kyoku_builder import FACE_OF_ID, KyokuBuilder, Meld, Win, decode_meld, encode_meld
from suphx.games.riichi.table import (
    ANKAN,
    CHI,
    CHI_RED,
    DISCARD,
    EXHAUSTIVE_DRAW,
    KAKAN,
    MINKAN,
    NINE_TERMINALS,
    NINE_TERMINALS_DRAW,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TRIPLE_RON_DRAW,
    TSUMOGIRI,
    WIN_RESULT,
)
from suphx.games.riichi.tile import ALL_RED_FIVES, face_of_id, parse_kinds
from tests.games.riichi.builders.games import builder_of, drawn_kyoku

ORDERED = np.arange(136, dtype=np.uint8)  # seat 0 holds 1m and 5m four times, and so on; the draws are 52, 53, …
NO_CHANGE = [0, 0, 0, 0]


def after_discard() -> KyokuBuilder:
    builder = builder_of(ORDERED)
    builder.draw(0, 52)
    builder.discard(0, 52)
    return builder


def test_faces_are_those_of_tile_py() -> None:
    assert tuple(face_of_id(tile, ALL_RED_FIVES) for tile in range(136)) == FACE_OF_ID


def test_a_kyoku_of_a_known_wall_shows_its_wall_again() -> None:
    log = drawn_kyoku(ORDERED)
    assert log.deal.tolist() == list(range(52))
    assert log.draws.tolist() == list(range(52, 122))
    assert log.wall[:122].tolist() == list(range(122))
    assert log.wall[130] == 130
    assert sorted(log.wall.tolist()) == list(range(136))
    assert not log.is_wall_from_seed


def test_a_seed_wall_is_kept_and_the_record_beside_it() -> None:
    builder = after_discard()
    builder.end_in_draw(TRIPLE_RON_DRAW, NO_CHANGE)
    other = ORDERED[::-1].copy()
    log = builder.finish(other)
    assert log.is_wall_from_seed
    assert log.wall is other
    assert log.deal.tolist() == list(range(52))


def test_a_triple_ron_has_no_ron_moves() -> None:
    builder = after_discard()
    builder.end_in_draw(TRIPLE_RON_DRAW, NO_CHANGE)
    log = builder.finish()
    assert log.moves.tolist() == [move(0, TSUMOGIRI)]
    assert log.result["result"] == TRIPLE_RON_DRAW


def test_a_triple_ron_may_rob_a_kan() -> None:
    wall = ORDERED.copy()
    wall[[4, 52]] = wall[[52, 4]]  # seat 0 draws the fourth 2m, seat 1 holds the others
    builder = builder_of(wall)
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
        builder.end_in_draw(EXHAUSTIVE_DRAW, NO_CHANGE)
    builder.end_in_draw(TRIPLE_RON_DRAW, NO_CHANGE)
    assert builder.finish().result["result"] == TRIPLE_RON_DRAW


def test_a_double_ron_is_two_moves_and_two_wins_in_order() -> None:
    builder = after_discard()
    builder.win(Win(seat=1, loser=0, tile=52, deltas=[-8_000, 8_000, 0, 0], han=5, points=8_000))
    builder.win(Win(seat=3, loser=0, tile=52, deltas=[-2_000, 0, 0, 2_000], han=2, points=2_000))
    result = builder.finish().result
    assert result["result"] == WIN_RESULT
    assert result["win_seat"][:2].tolist() == [1, 3]
    assert result["deltas"].tolist() == [-10_000, 8_000, 0, 2_000]
    assert result["win_deltas"][1].tolist() == [-2_000, 0, 0, 2_000]
    assert result["win_liable"].tolist() == [-1, -1, -1]
    assert builder.scores == [15_000, 33_000, 25_000, 27_000]


def test_a_discard_of_another_id_is_tedashi_even_of_the_same_face() -> None:
    builder = builder_of(ORDERED)
    builder.draw(0, 53)
    builder.discard(0, 0)
    builder.draw(1, 54)
    builder.end_in_draw(NINE_TERMINALS_DRAW, NO_CHANGE)
    moves = builder.finish().moves.tolist()
    assert moves == [move(0, DISCARD), move(1, NINE_TERMINALS)]


def test_a_riichi_stick_is_paid_after_the_discard() -> None:
    builder = builder_of(ORDERED)
    builder.draw(0, 52)
    builder.declare_riichi(0)
    builder.discard(0, 52)
    builder.pay_stick(0)
    assert builder.scores == [24_000, 25_000, 25_000, 25_000]
    assert builder.kyotaku == 1


def test_a_riichi_recorded_after_its_discard_stands_before_it() -> None:
    builder = after_discard()
    builder.declare_riichi(0)
    builder.pay_stick(0)
    builder.end_in_draw(TRIPLE_RON_DRAW, NO_CHANGE)
    assert builder.finish().moves.tolist() == [move(0, RIICHI), move(0, TSUMOGIRI)]


def test_the_place_of_the_claimed_tile_in_the_run_gives_the_action() -> None:
    wall = ORDERED.copy()
    wall[[4, 8]] = wall[[8, 4]]  # seat 1 holds 3m (8) and 2m (5) when seat 0 discards 1m (0)
    builder = builder_of(wall)
    builder.draw(0, 52)
    builder.discard(0, 0)
    builder.call(1, Meld(CHI_MELD, (0, 5, 8), 0, 3))
    builder.discard(1, 6)
    builder.end_in_draw(TRIPLE_RON_DRAW, NO_CHANGE)
    assert builder.finish().moves.tolist()[1:] == [move(1, CHI), move(1, DISCARD + 1)]


IMPOSSIBLE: dict[str, tuple[Callable[[KyokuBuilder], object], str]] = {
    "a draw out of turn": (lambda b: b.draw(2, 53), "turn of seat 1"),
    "a tile twice": (lambda b: b.draw(1, 52), "second time"),
    "a tile of a hand": (lambda b: b.draw(1, 0), "second time"),
    "no tile": (lambda b: b.draw(1, 136), "outside 0-135"),
    "a discard without a draw": (lambda b: b.discard(1, 4), "out of turn"),
    "an unborn kan": (lambda b: b.call(1, Meld(ANKAN_MELD, (4, 5, 6, 7), -1, 0)), "without having drawn"),
    "a stick that is not due": (lambda b: b.pay_stick(0), "not due"),
    "riichi out of turn": (lambda b: b.declare_riichi(1), "without having drawn"),
    "a tsumo without a draw": (lambda b: b.win(Win(seat=1, loser=1, tile=53, deltas=NO_CHANGE)), "not just drawn"),
    "a ron of another tile": (lambda b: b.win(Win(seat=1, loser=0, tile=53, deltas=NO_CHANGE)), "not just given"),
    "a ron of another seat": (lambda b: b.win(Win(seat=1, loser=2, tile=52, deltas=NO_CHANGE)), "not just given"),
    "nine terminals without a draw": (lambda b: b.end_in_draw(NINE_TERMINALS_DRAW, NO_CHANGE), "not drawn"),
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
        builder.end_in_draw(EXHAUSTIVE_DRAW, NO_CHANGE)


def test_a_wall_that_ends_before_its_draws_is_refused() -> None:
    builder = builder_of(ORDERED)
    for turn in range(71):
        builder.draw(turn % 4, 52 + turn)
        builder.discard(turn % 4, 52 + turn)
    builder.end_in_draw(EXHAUSTIVE_DRAW, NO_CHANGE)
    with pytest.raises(ValueError, match="wall ends"):
        builder.finish()


def test_pass_is_never_a_move() -> None:
    moves = drawn_kyoku(ORDERED).moves
    assert not np.any((moves & 127) == PASS)
    assert not np.any((moves & 127) == RON)


def tile(text: str, copy: int) -> int:
    return parse_kinds(text)[0] * 4 + copy


# type, tiles, called, source, added, action
MELDS = {
    "chi low": (Meld(CHI_MELD, (tile("1m", 0), tile("2m", 1), tile("3m", 3)), tile("1m", 0), 3), CHI),
    "chi middle": (Meld(CHI_MELD, (tile("6p", 2), tile("7p", 1), tile("8p", 0)), tile("7p", 1), 3), CHI + 1),
    "chi high": (Meld(CHI_MELD, (tile("7s", 3), tile("8s", 3), tile("9s", 3)), tile("9s", 3), 3), CHI + 2),
    "chi with own red": (Meld(CHI_MELD, (tile("4p", 2), 52, tile("6p", 1)), tile("4p", 2), 3), CHI_RED),
    "chi of a red": (Meld(CHI_MELD, (tile("4s", 2), 88, tile("6s", 1)), 88, 3), CHI + 1),
    "pon": (Meld(PON_MELD, (tile("5z", 0), tile("5z", 1), tile("5z", 3)), tile("5z", 3), 1), PON),
    "pon with own red": (Meld(PON_MELD, (16, 17, 19), 19, 2), PON_RED),
    "pon of a red": (Meld(PON_MELD, (16, 17, 19), 16, 2), PON),
    "minkan": (Meld(MINKAN_MELD, tuple(range(88, 92)), 90, 1), MINKAN),
    "ankan": (Meld(ANKAN_MELD, tuple(range(132, 136)), -1, 0), ANKAN + 33),
    "kakan": (Meld(KAKAN_MELD, tuple(range(124, 128)), 125, 3, 127), KAKAN + 31),
    "kakan of the red": (Meld(KAKAN_MELD, tuple(range(52, 56)), 55, 2, 52), KAKAN + 13),
}


@pytest.mark.parametrize("name", MELDS)
def test_a_meld_survives_its_code_and_names_its_action(name: str) -> None:
    meld, action = MELDS[name]
    assert decode_meld(encode_meld(meld)) == meld
    assert meld.action() == action


def test_hand_tiles_are_those_that_the_caller_gives() -> None:
    assert MELDS["pon"][0].hand_tiles() == (tile("5z", 0), tile("5z", 1))
    assert MELDS["kakan"][0].hand_tiles() == (127,)
    assert len(MELDS["ankan"][0].hand_tiles()) == 4
    assert len(MELDS["minkan"][0].hand_tiles()) == 3


def test_every_code_is_either_refused_or_its_own_inverse() -> None:
    num_sound = 0
    for code in range(1 << 16):
        try:
            meld = decode_meld(code)
        except ValueError:
            continue
        num_sound += 1
        # Records name any of the four tiles of a closed kan; we write the lowest.
        assert encode_meld(meld) == (code & ~0x300 if meld.type == ANKAN_MELD else code)
    # 21 runs x 64 copies x 3 places; 34 x 3 sources x (4 x 3 pons, as many kakans, 4 open kans); 34 x 4 closed kans
    assert num_sound == 21 * 64 * 3 + 34 * 3 * (12 + 12 + 4) + 34 * 4


@pytest.mark.parametrize(
    ("code", "reason"),
    [(-1, "outside"), (1 << 16, "outside"), (0x20, "nuki"), (0x05, "not a chi"), (0x08, "not a pon")],
)
def test_an_impossible_code_is_refused_with_the_reason(code: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decode_meld(code)
