"""A deal in which one seat gets a given hand and everything else is random: what adaptation and puzzles start from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from suphx.games.riichi.engine.hanchan import start_game
from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.engine.simulator import MAX_SEED
from suphx.games.riichi.hand.suit_table import Suits, load_suits
from suphx.games.riichi.table.rules import Rules, apply_rules
from suphx.games.riichi.table.table import TABLE, Table
from suphx.games.riichi.table.tile import NUM_TILES, face_name, face_of_id
from suphx.games.riichi.table.wall import DEALT, shuffle_wall
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I64, Records


def deal_hand(
    rules: Rules,
    seat: int,
    hand: Sequence[int],
    seeds: Iterable[int],
    *,
    kyoku: int = 0,
    honba: int = 0,
    kyotaku: int = 0,
    scores: Sequence[int] | None = None,
) -> Records:
    """Return a deal for each seed, TABLE records (n,), in which ``seat`` is dealt ``hand``; all else is random.

    ``hand``: 13 faces (0-36, tile.py), for the dealer 13 or 14: the last of 14 is its first draw. ``kyoku``: 0 = East 1
    … 15 = North 4, within the winds of ``rules``; ``scores``: the four seats' points, by default those of the start.
    Later deals of the table follow from its seed. ValueError for a hand that cannot be dealt and for numbers that no
    game has.
    """
    all_seeds = np.array(list(seeds), np.int64)
    points = np.array(scores if scores is not None else [rules.start_points] * 4, np.int64)
    num_kyoku = 4 * (rules.num_winds + rules.extra_wind)
    if not 0 <= kyoku < num_kyoku:
        raise ValueError(f"kyoku is {kyoku}: these rules have the kyoku 0-{num_kyoku - 1}")
    _check(seat, honba, kyotaku, points, all_seeds)
    is_dealer = seat == kyoku % 4
    if len(hand) != 13 and not (is_dealer and len(hand) == 14):
        raise ValueError(f"the hand has {len(hand)} tiles: deal 13, or 14 to the dealer, whose last one is its draw")
    tables = np.zeros(len(all_seeds), TABLE)
    apply_rules(tables, rules)
    tables["wall_seed"] = all_seeds
    faces = np.array(hand, np.int16)
    _check_faces(faces, int(tables["red_fives"][0]) if len(tables) else 0)
    start = np.array([kyoku, honba, kyotaku, *points], np.int64)
    _deal(tables, load_suits(), seat, faces, start)
    return tables


def _check(seat: int, honba: int, kyotaku: int, points: I64, seeds: I64) -> None:
    if not (0 <= seat < 4 and 0 <= honba < 1000 and 0 <= kyotaku < 1000):
        raise ValueError(f"seat {seat}, honba {honba}, kyotaku {kyotaku}: use a seat 0-3 and counters from 0 to 999")
    if points.shape != (4,) or np.any(points < 0) or np.any(points % 100):
        raise ValueError(f"scores are {points.tolist()}: give four multiples of 100, none below 0")
    if np.any(seeds < 0) or np.any(seeds >= MAX_SEED):
        raise ValueError(f"seeds must lie in 0 … 2**62 - 1, not {seeds.min()} … {seeds.max()}")


def _check_faces(faces: I16, red_fives: int) -> None:
    copies = np.bincount([face_of_id(tile, red_fives) for tile in range(136)], minlength=37)
    for face in np.unique(faces).tolist():
        count = int((faces == face).sum())
        if not 0 <= face < 37 or count > copies[face]:
            name = face_name(face) if 0 <= face < 37 else f"face {face}"
            raise ValueError(
                f"the hand has {count} x {name}: these rules have {copies[face] if face < 37 else 0} of it"
            )


@jit
def _deal(tables: Records, suits: Suits, seat: int, faces: I16, start: I64) -> None:
    for i in range(len(tables)):
        t = tables[i]
        start_game(t, 0)
        t.kyoku, t.honba, t.kyotaku = start[0], start[1], start[2]
        for other in range(4):
            t.scores[other] = start[3 + other]
        shuffle_wall(t.wall_seed, t.kyoku, t.honba, t.wall)
        t.num_kyoku = 1
        for n in range(len(faces)):
            same = 0
            for earlier in range(n):
                same += faces[earlier] == faces[n]
            _bring(t, _place(t, seat, n), _id_of(faces[n], same, t.red_fives))
        start_kyoku(t, suits)


@jit
def _place(t: Table, seat: int, n: int) -> int:
    """Return where in the wall the seat's dealt tile ``n`` lies: 3 x 4 tiles, then one, then the first draw."""
    order = (seat - t.kyoku) % 4
    if n < 12:
        return n // 4 * 16 + order * 4 + n % 4
    return 48 + order if n == 12 else DEALT


@jit
def _id_of(face: int, number: int, red_fives: int) -> int:
    """Return the tile id of copy ``number`` of a face. By id: the first in the wall would be biased."""
    for tile in range(NUM_TILES):
        if face_of_id(tile, red_fives) == face:
            if number == 0:
                return tile
            number -= 1
    return -1


@jit
def _bring(t: Table, place: int, tile: int) -> None:
    """Swap a tile to a place of the wall."""
    for other in range(NUM_TILES):
        if t.wall[other] == tile:
            t.wall[place], t.wall[other] = t.wall[other], t.wall[place]
            return
