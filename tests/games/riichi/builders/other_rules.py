"""A value of each rule that is not a switch, other than the default."""

from __future__ import annotations

from typing import Any

OTHER_VALUES: dict[str, Any] = {
    "num_winds": 1,
    "target_points": 40_000,
    "bust": "never",
    "leftover_sticks": "lost",
    "red_fives": "mp",
    "kuikae": "allowed",
    "noten_payment": 1200,
    "riichi_min_tiles": 0,
    "ankan_after_riichi": "never",
    "kan_dora": "none",
    "max_rons": 3,
    "pao": "none",
    "double_wind_pair_fu": 2,
}
