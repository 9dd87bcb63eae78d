"""Tables whose deal has just ended, and which deal follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from suphx.games.mahjong.tile import PON_MELD
from suphx.games.riichi.ending import end_kyoku
from suphx.games.riichi.rules import Rules, apply_rules, rule_flags, tenhou
from suphx.games.riichi.table import CLAIM, DORA_POSITIONS, KYOKU_END, KYOKU_START, OWN_TURN, TABLE, WIN_RESULT
from suphx.games.riichi.tile import parse_kinds
from suphx.games.riichi.yaku import score_hand
from suphx.games.riichi.yaku_number import YAKU_NAMES
from suphx.kernel.record import I64, Records
from tests.games.riichi.builders.table_builder import counts_of, melds_of


def table_with(tiles: str, indicator: str = "9s", kyoku: int = 0, seat: int = 1, pon: str = "") -> np.void:
    """Return a TABLE record at the start of a deal; ``pon``: one tile of each pon, discarded by seat 0."""
    table: np.void = np.zeros(1, TABLE)[0]
    kinds = parse_kinds(tiles)
    np.add.at(table["hand"][seat], kinds, 1)
    table["wall"][DORA_POSITIONS[0]] = 4 * parse_kinds(indicator)[0]
    apply_rules(table, tenhou())
    table["num_dora"], table["kyoku"], table["actor"] = 1, kyoku, seat
    table["drawn"] = table["claimed_face"] = -1
    table["phase"] = OWN_TURN if len(kinds) % 3 == 2 else CLAIM
    for kind in parse_kinds(pon):
        place = table["num_melds"][seat]
        table["meld_type"][seat, place], table["meld_kind"][seat, place] = PON_MELD, kind
        table["meld_tile"][seat, place], table["meld_from"][seat, place] = kind, 0
        table["num_melds"][seat] += 1
        table["river"][0, place], table["river_length"][0] = kind, place + 1
    return table


EAST, SOUTH, WEST, NORTH = 27, 28, 29, 30
TENHOU = tenhou()


class Score(NamedTuple):
    yaku: set[str]
    han: int
    fu: int
    num_yakuman: int


def score(
    tiles: str,
    win: str,
    *melds: str,
    circumstances: int = 0,
    seat_wind: int = SOUTH,
    round_wind: int = EAST,
    dora: int = 0,
    rules: Rules = TENHOU,
) -> Score:
    """Score concealed ``tiles`` (the winning one included) with ``melds``."""
    types, kinds = melds_of(melds)
    (kind,) = parse_kinds(win)
    yaku, han, fu, num_yakuman = score_hand(
        counts_of(tiles), len(melds), types, kinds, kind, circumstances, seat_wind, round_wind, rule_flags(rules), dora
    )
    return Score({name for number, name in enumerate(YAKU_NAMES) if yaku >> number & 1}, han, fu, num_yakuman)


def kind(tile: str) -> int:
    """Return the kind (0-33) of one tile, such as ``"5m"``."""
    (number,) = parse_kinds(tile)
    return number


def choose(tables: Records, indices: I64) -> I64:
    """Return a legal action for each table that depends on nothing but the table."""
    mask = tables["legal"][indices].astype(bool)
    mixed = tables["wall_seed"][indices] * 7919 + tables["num_decisions"][indices] * 104_729
    places = mixed // 64 % tables["num_legal"][indices]
    ranks = mask.cumsum(axis=1) - 1
    actions: I64 = (mask & (ranks == places[:, None])).argmax(axis=1)
    return actions


EAST_1, EAST_4, SOUTH_4, WEST_1, WEST_4 = 0, 3, 7, 8, 11
EVEN = (25_000, 25_000, 25_000, 25_000)
DEALER_LEADS = (20_000, 24_000, 25_000, 31_000)  # seat 3 deals in East 4, South 4 and West 4
OTHER_LEADS = (31_000, 24_000, 25_000, 20_000)


def after(
    kyoku: int,
    scores: Sequence[int] = EVEN,
    *,
    result: int = WIN_RESULT,
    winners: Sequence[int] = (),
    tenpai: Sequence[int] = (),
    honba: int = 0,
    kyotaku: int = 0,
    rules: Rules | None = None,
) -> Any:
    """Return the table after ``end_kyoku`` of a deal that ended so, with these scores."""
    tables = np.zeros(1, TABLE)
    apply_rules(tables, rules or Rules())
    table: Any = tables[0]
    table["phase"], table["result"] = KYOKU_END, result
    table["kyoku"], table["honba"], table["kyotaku"], table["scores"] = kyoku, honba, kyotaku, scores
    table["num_wins"] = len(winners)
    table["win_seat"][: len(winners)] = winners
    table["tenpai"][list(tenpai)] = 1
    end_kyoku(tables[0])
    return tables[0]


def next_deal(table: Any) -> tuple[int, int]:
    assert table["phase"] == KYOKU_START
    return int(table["kyoku"]), int(table["honba"])
