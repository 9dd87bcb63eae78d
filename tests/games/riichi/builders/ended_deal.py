"""Tables whose deal has just ended, and which deal follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suphx.games.riichi.engine.hanchan import end_kyoku
from suphx.games.riichi.table.rules import Rules, apply_rules
from suphx.games.riichi.table.table import (
    KYOKU_END,
    KYOKU_START,
    TABLE,
    WIN_RESULT,
)

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
