from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.planes import PlaneLayout, unpack_planes
from suphx.games.riichi.features.mini import CLAIM, PUBLIC, encode
from suphx.games.riichi.table import CHI, CHI_RED, MINKAN, PON, TABLE
from suphx.games.riichi.table import CLAIM as CLAIM_WINDOW
from suphx.games.riichi.tile import parse_kinds
from suphx.kernel.record import U8

Meld = list[int]


def encoded(table: np.void, seat: int, action: int) -> U8:
    layout = PUBLIC if action < 0 else CLAIM
    row = np.full(layout.observation_bytes, 255, np.uint8)
    encode(table.view(np.recarray), seat, action, row)  # type: ignore[arg-type]
    return unpack_planes(row, layout.num_planes)


def hand_made_table() -> np.void:
    table: np.void = np.zeros(1, TABLE)[0]
    table["hand"][1] = np.bincount(parse_kinds("340m123p55567s12z"), minlength=34)
    table["red"][1] = 1
    table["meld_tile"], table["claimed_face"] = -1, -1
    table["wall"][130], table["num_dora"] = 4 * parse_kinds("4s")[0], 1
    table["scores"] = 25_000
    table["kyoku"], table["honba"], table["kyotaku"] = 5, 1, 2
    table["next_draw"] = 60
    table["riichi"][0] = 1
    return table


def columns(planes: U8, layout: PlaneLayout, name: str, offset: int = 0) -> list[int]:
    return [int(kind) for kind in np.flatnonzero(planes[layout[name].first + offset])]


def lit(planes: U8, layout: PlaneLayout, name: str) -> list[int]:
    part = layout[name]
    return [int(i) for i in np.flatnonzero(planes[part.first : part.first + part.count].all(axis=1))]


def test_a_position_reads_as_a_player_would_say_it() -> None:
    planes = encoded(hand_made_table(), 1, -1)
    assert columns(planes, PUBLIC, "hand", 0) == parse_kinds("345m123p567s12z")
    assert columns(planes, PUBLIC, "hand", 2) == parse_kinds("5s")
    assert columns(planes, PUBLIC, "dora") == parse_kinds("5s")
    assert columns(planes, PUBLIC, "visible", 0) == parse_kinds("345m123p4567s12z")
    assert columns(planes, PUBLIC, "seat_wind") == parse_kinds("1z")
    assert columns(planes, PUBLIC, "round_wind") == parse_kinds("2z")
    names = ("seat", "placement", "kyoku", "honba", "sticks", "dealer", "tiles_left", "riichi")
    assert [lit(planes, PUBLIC, name) for name in names] == [[1], [1], [5], [1], [2], [0], [4], [3]]
    assert lit(planes, PUBLIC, "scores") == [5, 14, 23, 32]


@pytest.mark.parametrize(
    ("action", "claimed", "hand", "meld", "is_dora"),
    [
        (PON, "5s", "340m123p567s12z", ["5s", "5s", "5s", ""], True),
        (MINKAN, "5s", "340m123p67s12z", ["5s", "5s", "5s", "5s"], True),
        (CHI + 1, "6s", "340m123p556s12z", ["567s", "", "", ""], False),
        (CHI_RED, "2m", "5m123p55567s12z", ["234m", "", "", ""], False),
    ],
)
def test_a_claim_shows_the_hand_and_the_melds_after_it(
    action: int, claimed: str, hand: str, meld: list[str], is_dora: bool
) -> None:
    table = hand_made_table()
    kind = parse_kinds(claimed)[0]
    table["phase"], table["turn"], table["claimed_face"] = CLAIM_WINDOW, 0, kind
    table["river"][0, 0], table["river_length"][0] = kind, 1
    planes = encoded(table, 1, action)
    assert columns(planes, CLAIM, "hand_after") == sorted(set(parse_kinds(hand)))
    assert [columns(planes, CLAIM, "melds_after", i) for i in range(4)] == [parse_kinds(text) for text in meld]
    assert bool(lit(planes, CLAIM, "tile_is_dora")) == is_dora
    assert lit(planes, CLAIM, "tile_is_red") == []
