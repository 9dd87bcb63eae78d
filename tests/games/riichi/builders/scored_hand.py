"""Hands in tile notation and what they score."""

from __future__ import annotations

from typing import NamedTuple

from suphx.games.riichi.hand.yaku import score_hand
from suphx.games.riichi.hand.yaku_number import YAKU_NAMES
from suphx.games.riichi.table.rules import Rules, rule_flags, tenhou
from suphx.games.riichi.table.tile import parse_kinds
from tests.games.riichi.builders.table_builder import counts_of, melds_of

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
