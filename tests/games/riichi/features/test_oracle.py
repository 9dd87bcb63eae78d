from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.features.batch import encode_oracle_batch
from suphx.games.riichi.features.layout.planes import unpack_planes
from suphx.games.riichi.features.lookahead.lookup import load_lookup
from suphx.games.riichi.features.oracle import ORACLE, encode_oracle
from suphx.games.riichi.hand.shanten import shanten
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.table.rules import tenhou
from suphx.games.riichi.table.table import ANKAN_MELD, ROB_KAN, TABLE
from suphx.games.riichi.table.tile import parse_kinds
from suphx.kernel.record import U8
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.builders.table_builder import Deal
from tests.games.riichi.features.builders.positions import Position, positions
from tests.games.riichi.features.builders.public_history import Seat
from tests.games.riichi.twins.observed_twin import counted, dora_of, full, one_hot, plane, planes, red_kinds

RINSHAN_PLACES = (134, 135, 132, 133)


def encoded(table: np.void, seat: int) -> U8:
    row = np.full(ORACLE.observation_bytes, 255, np.uint8)
    encode_oracle(load_lookup(), table.view(np.recarray), seat, row)  # type: ignore[arg-type]
    return unpack_planes(row, ORACLE.num_planes)


def twin(position: Position, seat: int) -> U8:
    """Return the same out of the true hands and the wall of the record."""
    history = position.history
    wall = [int(tile) for tile in history.log.wall]
    others = [history.seats[(seat + i) % 4] for i in (1, 2, 3)]
    num_kans = sum(meld.type >= ANKAN_MELD for owner in history.seats for meld in owner.melds)
    next_draw = 52 + history.num_draws - num_kans
    live = wall[next_draw : 122 - num_kans]
    by_seat: dict[int, list[int]] = {i: [] for i in range(4)}
    for i, tile in enumerate(live[:4]):
        by_seat[(history.turn + 1 + i - seat) % 4].append(tile // 4)
    waits = [waits_of(position, other) for other in others]
    furiten = [
        bool(kinds and (other.missed_win or kinds & {discard.tile // 4 for discard in other.river}))
        for other, kinds in zip(others, waits, strict=True)
    ]
    hidden_dora = [dora_of(wall[130 - 2 * i]) for i in range(len(history.indicators), 5)]
    return np.concatenate(
        [
            *(counted(other.hand) for other in others),
            planes(red_kinds(other.hand) for other in others),
            *(one_hot(shanten_of(other) + 1, 8) for other in others),
            planes(waits),
            full(*furiten),
            one_after_another([tile // 4 for tile in live], 70),
            planes(by_seat[i] for i in range(4)),
            counted(live),
            plane(red_kinds(live)),
            one_after_another([wall[place] // 4 for place in RINSHAN_PLACES[num_kans:]], 4),
            one_after_another(hidden_dora, 4),
            one_after_another([dora_of(wall[131 - 2 * i]) for i in range(5)], 5),
        ]
    )


def one_after_another(kinds: list[int], size: int) -> U8:
    return planes([[kind] for kind in kinds] + [[]] * (size - len(kinds)))


def shanten_of(seat: Seat) -> int:
    hand = np.bincount([tile // 4 for tile in seat.hand], minlength=34).astype(np.int8)
    return int(shanten(load_suits(), hand, len(seat.melds)))


def waits_of(position: Position, seat: Seat) -> set[int]:
    tiles = list(seat.hand)
    if len(tiles) % 3 == 2:
        if position.history.drawn is None:
            return set()
        tiles.remove(position.history.drawn)
    return Seat(0, tiles, seat.melds).waits()


def test_hidden_tiles_of_whole_games_are_encoded_as_the_slow_twin_does() -> None:
    for number, position in enumerate(islice(positions(random_game(6)), 1_500)):
        if position.table["phase"] != ROB_KAN:
            for seat in {position.actor, number % 4}:
                assert np.array_equal(encoded(position.table, seat), twin(position, seat)), number


def test_the_oracle_sees_hands_draws_and_the_dead_wall() -> None:
    hands = ["", "123456789m1123p", "", ""]
    deal = Deal(hands, draws="7z 6z 5z 5s 9p", dora="1z2z3z4z5z", ura="1s2s3s4s5s", rinshan="1m2m3m4m")
    found = encoded(deal.table, 0)

    def kinds(name: str, offset: int = 0) -> list[int]:
        return [int(kind) for kind in np.flatnonzero(found[ORACLE[name].first + offset])]

    assert kinds("other_hands") == parse_kinds("123456789m123p")
    assert kinds("other_waits") == parse_kinds("14p")
    assert kinds("other_furiten") == []
    assert len(kinds("other_shanten", 1)) == 34
    assert [kinds("wall", i) for i in range(4)] == [parse_kinds(tile) for tile in ("6z", "5z", "5s", "9p")]
    assert [kinds("next_draws", i) for i in range(4)] == [parse_kinds(tile) for tile in ("9p", "6z", "5z", "5s")]
    assert [kinds("rinshan", i) for i in range(4)] == [parse_kinds(tile) for tile in ("1m", "2m", "3m", "4m")]
    assert [kinds("kan_dora", i) for i in range(4)] == [parse_kinds(tile) for tile in ("3z", "4z", "1z", "6z")]
    assert [kinds("ura_dora", i) for i in range(5)] == [parse_kinds(tile) for tile in ("2s", "3s", "4s", "5s", "6s")]


def test_a_batch_is_the_rows_one_by_one_on_any_number_of_threads() -> None:
    simulator = Simulator(200, tenhou())
    simulator.reset(range(200))
    indices = np.arange(200)
    expected = np.stack([encoded(table, int(table["actor"])) for table in simulator.tables])
    for num_threads in (1, 2):
        rows = np.zeros((200, ORACLE.observation_bytes), np.uint8)
        encode_oracle_batch(simulator.tables, indices, rows, num_threads=num_threads)
        assert np.array_equal(np.stack([unpack_planes(row, ORACLE.num_planes) for row in rows]), expected)


def test_rows_and_tables_that_do_not_fit_are_refused() -> None:
    one = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match=r"rows are uint8\[1, 9\]: give contiguous"):
        encode_oracle_batch(np.zeros(1, TABLE), one, np.zeros((1, 9), np.uint8))
    with pytest.raises(ValueError, match="row 0: table 0 waits for no decision"):
        encode_oracle_batch(np.zeros(1, TABLE), one, np.zeros((1, ORACLE.observation_bytes), np.uint8))
