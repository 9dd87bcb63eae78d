"""How a deal ended, as plain values for the viewer."""

from __future__ import annotations

from typing import Any

from suphx.games.riichi.hand.score import base_points
from suphx.games.riichi.hand.yaku_number import YAKU_NAMES
from suphx.games.riichi.records.view.result_text import BONUS_COLUMNS
from suphx.games.riichi.records.view.shown_tiles import SEATS
from suphx.games.riichi.table.rule_flag import KAN_URA_DORA, URA_DORA
from suphx.games.riichi.table.table import (
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TRIPLE_RON_DRAW,
    WIN_RESULT,
)
from suphx.games.riichi.table.tile import face_of_id
from suphx.games.riichi.table.wall import URA_POSITIONS

RESULT_NAMES = {
    WIN_RESULT: "win",
    EXHAUSTIVE_DRAW: "exhaustive draw",
    NAGASHI_MANGAN: "nagashi mangan",
    NINE_TERMINALS_DRAW: "nine terminals",
    FOUR_WINDS_DRAW: "four winds",
    FOUR_RIICHI_DRAW: "four riichi",
    FOUR_KANS_DRAW: "four kans",
    TRIPLE_RON_DRAW: "triple ron",
}
_LIMITS = {2000: "mangan", 3000: "haneman", 4000: "baiman", 6000: "sanbaiman", 8000: "yakuman"}


def viewer_result(table: Any, red_fives: int) -> dict[str, Any]:
    """Return the result of a TABLE record at KYOKU_END.

    ``{"kind", "wins": [{"seat", "loser", "liable", "face", "han", "fu", "yakuman", "limit", "yaku": [name],
    "bonus": [[name, count]], "points", "deltas": [4]}], "tenpai": [seat], "ura": [face], "deltas": [4]}``. ``loser``
    is the winner for a tsumo, ``liable`` null without pao; ``deltas`` of all wins have no paid riichi sticks.
    """
    wins = [_win(table, w) for w in range(int(table["num_wins"]))]
    num_ura = shown_ura(table)
    return {
        "kind": RESULT_NAMES[int(table["result"])],
        "wins": wins,
        "tenpai": [seat for seat in range(SEATS) if table["tenpai"][seat]],
        "ura": [face_of_id(int(table["wall"][position]), red_fives) for position in URA_POSITIONS[:num_ura]],
        "deltas": [int(delta) for delta in table["deltas"]],
    }


def shown_ura(table: Any) -> int:
    """Return how many ura indicators a TABLE record at KYOKU_END shows: those that count for a winner in riichi."""
    flags = int(table["rule_flags"])
    has_riichi = any(table["riichi"][int(table["win_seat"][w])] for w in range(int(table["num_wins"])))
    if not has_riichi or not flags & URA_DORA:
        return 0
    return int(table["num_dora"]) if flags & KAN_URA_DORA else 1


def _win(table: Any, w: int) -> dict[str, Any]:
    han, fu, yakuman, points, liable = (
        int(table[f"win_{name}"][w]) for name in ("han", "fu", "yakuman", "points", "liable")
    )
    return {
        "seat": int(table["win_seat"][w]),
        "loser": int(table["win_loser"][w]),
        "liable": liable if liable >= 0 else None,
        "face": int(table["win_face"][w]),
        "han": han,
        "fu": fu,
        "yakuman": yakuman,
        "limit": _limit(table, han, fu, yakuman),
        "yaku": [name for number, name in enumerate(YAKU_NAMES) if int(table["win_yaku"][w]) >> number & 1],
        "bonus": [[name, int(table[key][w])] for name, key in BONUS_COLUMNS if table[key][w]],
        "points": points,
        "deltas": [int(delta) for delta in table["win_deltas"][w]],
    }


def _limit(table: Any, han: int, fu: int, yakuman: int) -> str:
    """Return the name of the limit that the hand reaches, or ""."""
    return _LIMITS.get(min(8000, int(base_points(han, fu, yakuman, int(table["rule_flags"])))), "")
