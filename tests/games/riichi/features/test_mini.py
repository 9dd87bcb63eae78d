from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from suphx.games.mahjong.planes import PlaneLayout, unpack_planes
from suphx.games.mahjong.tile import CHI_MELD, PON_MELD
from suphx.games.riichi.features.mini import CLAIM, PUBLIC, encode
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, OWN_TURN, PASS, PON, PON_RED, TABLE
from suphx.games.riichi.table import CLAIM as CLAIM_WINDOW
from suphx.games.riichi.tile import dora_of_indicator, kind_of_face, parse_kinds
from suphx.kernel.record import U8
from tests.games.riichi.features.builders.random_tables import DORA_PLACES, hide_differently, random_tables

Meld = list[int]


def encoded(table: np.void, seat: int, action: int) -> U8:
    layout = PUBLIC if action < 0 else CLAIM
    row = np.full(layout.observation_bytes, 255, np.uint8)
    encode(table.view(np.recarray), seat, action, row)  # type: ignore[arg-type]
    return unpack_planes(row, layout.num_planes)


# ---- the slow twin: the published text, plane by plane, in plain Python ----


def counted(tiles: list[int]) -> U8:
    planes = np.zeros((4, 34), np.uint8)
    for kind, count in Counter(tiles).items():
        planes[:count, kind] = 1
    return planes


def one_hot_full(value: int, size: int) -> U8:
    planes = np.zeros((size, 34), np.uint8)
    planes[value] = 1
    return planes


def one_hot_kinds(kinds: list[int], size: int) -> U8:
    planes = np.zeros((size, 34), np.uint8)
    for plane, kind in enumerate(kinds[:size]):
        planes[plane, kind] = 1
    return planes


def hand_tiles(table: np.void, seat: int) -> list[int]:
    return [kind for kind in range(34) for _ in range(table["hand"][seat, kind])]


def meld_tiles(meld_type: int, kind: int) -> Meld:
    if meld_type == CHI_MELD:
        return [kind, kind + 1, kind + 2]
    return [kind] * (3 if meld_type == PON_MELD else 4)


def melds_of(table: np.void, seat: int) -> list[Meld]:
    places = range(table["num_melds"][seat])
    return [meld_tiles(table["meld_type"][seat, i], int(table["meld_kind"][seat, i])) for i in places]


def meld_planes(melds: list[Meld]) -> U8:
    empty: list[Meld] = [[]]
    return np.concatenate([counted(meld) for meld in (melds + empty * 4)[:4]])


def river_of(table: np.void, seat: int) -> list[int]:
    return [kind_of_face(int(face)) for face in table["river"][seat, : table["river_length"][seat]]]


def indicators(table: np.void) -> list[int]:
    return [int(table["wall"][place]) // 4 for place in DORA_PLACES[: table["num_dora"]]]


def seen_tiles(table: np.void, seat: int) -> list[int]:
    tiles = hand_tiles(table, seat) + indicators(table)
    for other in range(4):
        tiles += river_of(table, other)
        for i, meld in enumerate(melds_of(table, other)):
            claimed = int(table["meld_tile"][other, i])
            left = list(meld)
            if claimed >= 0:
                left.remove(kind_of_face(claimed))
            tiles += left
    return tiles


def twin_public(table: np.void, seat: int) -> U8:
    around = [(seat + i) % 4 for i in range(4)]
    dealer = int(table["kyoku"]) % 4
    scores = [int(score) for score in table["scores"]]
    order = sorted(range(4), key=lambda other: (-scores[other], other))
    left = 122 - int(table["next_draw"]) - int(table["num_kans"])
    riichi = [np.full((1, 34), table["riichi"][other] > 0, np.uint8) for other in around]
    return np.concatenate(
        [
            counted(hand_tiles(table, seat)),
            *(meld_planes(melds_of(table, other)) for other in around),
            *(one_hot_kinds(river_of(table, other), 24) for other in around),
            counted(seen_tiles(table, seat)),
            one_hot_full(seat, 4),
            one_hot_full(order.index(seat), 4),
            one_hot_full(int(table["kyoku"]), 16),
            one_hot_full(min(int(table["honba"]), 19), 20),
            one_hot_full(min(int(table["kyotaku"]), 19), 20),
            one_hot_full(around.index(dealer), 4),
            *(one_hot_full(int(np.digitize(scores[other], range(5_000, 45_000, 5_000))), 9) for other in around),
            one_hot_full(int(np.digitize(left, [5, 10, 22, 46])), 5),
            one_hot_kinds([dora_of_indicator(kind) for kind in indicators(table)], 5),
            one_hot_kinds([27 + (seat - dealer) % 4], 1),
            one_hot_kinds([27 + int(table["kyoku"]) // 4], 1),
            *riichi,
        ]
    )


def after_claim(table: np.void, seat: int, action: int) -> tuple[list[int], list[Meld], int, bool]:
    """Return hand, melds, the kind claimed and whether that tile is red."""
    hand, melds = hand_tiles(table, seat), melds_of(table, seat)
    if action >= PON:
        kind = kind_of_face(int(table["claimed_face"]))
        if action >= CHI:
            lowest = kind - (action - CHI) % 3
            meld = [lowest, lowest + 1, lowest + 2]
        else:
            meld = [kind] * (4 if action == MINKAN else 3)
        used = list(meld)
        used.remove(kind)
        melds.append(meld)
        is_red = bool(table["claimed_face"] >= 34)
    else:
        kind = (action - ANKAN) % 34
        is_red = kind in (4, 13, 22) and bool(table["red"][seat] >> (kind // 9) & 1)
        if action < KAKAN:
            used = [kind] * 4
            melds.append(used)
        else:
            used = [kind]
            melds[melds.index([kind] * 3)].append(kind)
    for tile in used:
        hand.remove(tile)
    return hand, melds, kind, is_red


def twin_claim(table: np.void, seat: int, action: int) -> U8:
    hand, melds, kind, is_red = after_claim(table, seat, action)
    is_dora = kind in [dora_of_indicator(indicator) for indicator in indicators(table)]
    flags = np.array([[is_dora] * 34, [is_red] * 34], np.uint8)
    return np.concatenate([twin_public(table, seat), counted(hand), meld_planes(melds), flags])


def possible_claims(table: np.void) -> Iterator[int]:
    """Yield the claims that the actor's tiles allow, whatever the other rules say."""
    seat = int(table["actor"])
    counts, melds = table["hand"][seat], melds_of(table, seat)
    if table["phase"] == OWN_TURN:
        for kind in range(34):
            if counts[kind] == 4 and len(melds) < 4:
                yield ANKAN + kind
            if counts[kind] >= 1 and [kind] * 3 in melds:
                yield KAKAN + kind
        return
    kind = kind_of_face(int(table["claimed_face"]))
    if len(melds) == 4:
        return
    if counts[kind] >= 2:
        yield from (PON, PON_RED)
    if counts[kind] >= 3:
        yield MINKAN
    for position in range(3):
        lowest = kind - position
        run = range(lowest, lowest + 3)
        is_in_suit = kind < 27 and 0 <= kind % 9 - position <= 6
        if is_in_suit and all(counts[k] for k in run if k != kind):
            yield from (CHI + position, CHI_RED + position)


def test_the_totals_are_the_published_ones() -> None:
    assert (PUBLIC.num_planes, CLAIM.num_planes) == (288, 310)
    assert CLAIM.ranges[: len(PUBLIC.ranges)] == PUBLIC.ranges


def test_random_tables_are_encoded_as_the_slow_twin_does() -> None:
    claims: Counter[int] = Counter()
    for table in random_tables(1000, seed=1):
        for seat in range(4):
            assert np.array_equal(encoded(table, seat, -1), twin_public(table, seat))
        seat = int(table["actor"])
        for action in possible_claims(table):
            claims[action] += 1
            assert np.array_equal(encoded(table, seat, action), twin_claim(table, seat, action)), action
    chis, kakans = set(range(CHI, PASS)), set(range(KAKAN, KAKAN + 34))
    assert chis | {PON, PON_RED, MINKAN} <= set(claims)
    assert kakans & set(claims)


def test_played_positions_are_encoded_as_the_slow_twin_does() -> None:
    rng = np.random.default_rng(5)
    simulator = Simulator(8, tenhou())
    simulator.reset(range(8))
    claims: Counter[int] = Counter()
    for _ in range(400):
        waiting = simulator.waiting()
        actions = [int(rng.choice(np.flatnonzero(table["legal"]))) for table in simulator.tables[waiting]]
        for table in simulator.tables[waiting]:
            seat = int(table["actor"])
            assert np.array_equal(encoded(table, seat, -1), twin_public(table, seat))
            for action in np.flatnonzero(table["legal"]):
                if PON <= action < PASS or ANKAN <= action < KAKAN + 34:
                    claims[int(action)] += 1
                    assert np.array_equal(encoded(table, seat, int(action)), twin_claim(table, seat, int(action)))
        simulator.advance(waiting, np.array(actions))
    assert len(claims) > 5


def test_an_own_closed_kan_is_encoded_as_the_slow_twin_does() -> None:
    for table in random_tables(40, seed=8):
        seat = int(table["actor"])
        for kind in (4, 33):
            table["num_melds"][seat] = 1
            table["hand"][seat, kind] = 4
            table["red"][seat] = 1
            assert np.array_equal(encoded(table, seat, ANKAN + kind), twin_claim(table, seat, ANKAN + kind))


def test_what_is_hidden_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    for table in random_tables(300, seed=2):
        seat = int(table["actor"])
        for action in (-1, *possible_claims(table)):
            other = table.copy()
            hide_differently(other, seat, rng)
            assert np.array_equal(encoded(table, seat, action), encoded(other, seat, action))


def test_what_the_row_held_before_does_not_matter() -> None:
    table = random_tables(1, seed=4)[0].view(np.recarray)
    rows = np.zeros((2, PUBLIC.observation_bytes), np.uint8)
    rows[1] = 255
    for row in rows:
        encode(table, 0, -1, row)
    assert np.array_equal(rows[0], rows[1])


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
