from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.features.encoder import ENCODERS, encode_observation
from suphx.games.riichi.features.paper_layout import PUBLIC
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import tonpuu
from suphx.games.riichi.table import ANKAN, CHI, KAKAN, MINKAN, PASS, PON, PON_RED, ROB_KAN, TSUMO
from suphx.kernel.record import U8
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.features.builders.positions import Position, hide_differently, positions
from tests.games.riichi.twins.mini_twin import MiniTwin
from tests.games.riichi.twins.suphx_twin import Twin

TWINS: dict[str, type[Twin]] = {"suphx": Twin, "mini": MiniTwin}


def encoded(table: np.void, seat: int, action: int = -1, encoder: str = "suphx") -> U8:
    entry = ENCODERS[encoder]
    head = DISCARD_HEAD if action < 0 else CHOW_HEAD
    layout = entry.layout(head)
    row = np.full(layout.observation_bytes, 255, np.uint8)
    encode_observation(entry.id, load_lookup(), table.view(np.recarray), seat, head, action, row)  # type: ignore[arg-type]
    return unpack_planes(row, layout.num_planes)


def differences(ours: U8, twin: Twin) -> list[str]:
    """Return the names of the ranges in which two encodings differ, the look-ahead apart."""
    names, planes = [], twin.encode()
    for part in twin.layouts[twin.action >= 0].ranges:
        part_planes = slice(part.first, part.first + part.count)
        if "lookahead" not in part.name and not np.array_equal(ours[part_planes], planes[part_planes]):
            names.append(part.name)
    return names


def compare(games: Iterable[GameLog], num_positions: int, encoder: str = "suphx", step: int = 1) -> Counter[int]:
    """Compare encoder and twin over decisions; return how often each claim was among them.

    ``step``: of decisions that are no claim or kan, every so many are compared.
    """
    claims: Counter[int] = Counter()
    for number, position in enumerate(islice(some_positions(games), num_positions)):
        if number % step and not position.claims():
            continue
        for seat in {position.actor, number % 4}:
            twin = TWINS[encoder](position.history.view(seat))
            assert differences(encoded(position.table, seat, -1, encoder), twin) == [], seat
        for action in position.claims():
            claims[action] += 1
            twin = TWINS[encoder](position.history.view(position.actor), action)
            assert differences(encoded(position.table, position.actor, action, encoder), twin) == [], action
    return claims


def some_positions(games: Iterable[GameLog]) -> Iterable[Position]:
    for game in games:
        yield from (position for position in positions(game) if position.table["phase"] != ROB_KAN)


@pytest.mark.parametrize(("encoder", "num_planes"), [("suphx", (838, 958)), ("mini", (288, 310))])
def test_the_totals_are_the_published_ones(encoder: str, num_planes: tuple[int, int]) -> None:
    public, claim = ENCODERS[encoder].public, ENCODERS[encoder].claim
    assert (public.num_planes, claim.num_planes) == num_planes
    assert claim.ranges[: len(public.ranges)] == public.ranges


@pytest.mark.parametrize("encoder", TWINS)
def test_positions_of_hasty_games_are_encoded_as_the_slow_twin_does(encoder: str) -> None:
    claims = compare([random_game(0), random_game(1, tonpuu()), random_game(2)], 2_000, encoder, step=9)
    assert {PON, PON_RED, MINKAN, *range(CHI, PASS)} <= set(claims)
    assert any(ANKAN <= action < KAKAN for action in claims)
    assert any(KAKAN <= action < TSUMO for action in claims)


@pytest.mark.slow
@pytest.mark.records
def test_a_hundred_thousand_real_positions_are_encoded_as_the_slow_twin_does(records: Path) -> None:
    for folder, count in (("houou-hanchan-202205", 80_000), ("houou-tonpuu-2023-2024", 10_000)):
        compare(iter_records([records / folder], quarantine=Quarantine()), count)
    rare = iter_records([records / "rare-situations"], quarantine=Quarantine(), is_fragment_allowed=True)
    compare(rare, 10_000)


@pytest.mark.parametrize("encoder", TWINS)
def test_what_is_hidden_changes_nothing(encoder: str) -> None:
    rng = np.random.default_rng(3)
    for position in islice(some_positions([random_game(3)]), 0, 1_000, 5):
        for seat in {position.actor, int(rng.integers(0, 4))}:
            for action in [-1, *(position.claims() if seat == position.actor else [])]:
                other = position.table.copy()
                hide_differently(other, seat, rng)
                one, two = (encoded(table, seat, action, encoder) for table in (position.table, other))
                assert np.array_equal(one, two)


def test_exchanging_suits_exchanges_columns_and_nothing_else() -> None:
    columns = [*range(9, 18), *range(18, 27), *range(9), *range(27, 34)]
    for position in islice(some_positions([random_game(4)]), 0, 500, 3):
        turned = turn_suits(position.table)
        for action in (-1, *(action for action in position.claims() if action >= PON)):
            assert np.array_equal(
                encoded(turned, position.actor, action)[:, columns], encoded(position.table, position.actor, action)
            )


def turn_suits(table: np.void) -> np.void:
    """Return the table with characters made circles, circles bamboos and bamboos characters."""
    kinds = np.array([*range(9, 27), *range(9), *range(27, 34)])
    faces = np.array([*kinds, 35, 36, 34])
    turned = table.copy()
    turned["hand"][:, kinds] = table["hand"]
    turned["wall"] = 4 * kinds[table["wall"] // 4] + table["wall"] % 4
    turned["red"] = (table["red"] << 1 | table["red"] >> 2) & 7
    for name in ("drawn", "claimed_face", "meld_tile", "river"):
        turned[name] = np.where(table[name] < 0, -1, faces[table[name]])
    turned["meld_kind"] = kinds[table["meld_kind"]]
    for name in ("river_kinds", "passed_kinds", "waits", "forbidden"):
        bits = np.asarray(table[name])
        turned[name] = (bits & 0x3FFFF) << 9 | bits >> 18 & 0x1FF | bits & 0x7F << 27
    return turned


def test_the_planes_of_own_turns_come_first_in_those_of_claims() -> None:
    for position in islice(some_positions([random_game(5)]), 200):
        for action in position.claims():
            claim = encoded(position.table, position.actor, action)
            assert np.array_equal(claim[: PUBLIC.num_planes], encoded(position.table, position.actor))
