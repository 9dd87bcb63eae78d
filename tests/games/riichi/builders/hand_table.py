"""A table on which only one hand and one dora indicator are known."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.table.rules import apply_rules, tenhou
from suphx.games.riichi.table.table import CLAIM, OWN_TURN, PON_MELD, TABLE
from suphx.games.riichi.table.tile import parse_kinds
from suphx.games.riichi.table.wall import DORA_POSITIONS


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
