"""The first events of a deal, as an arena sends them to seat 1."""

from __future__ import annotations

from typing import Any

_HAND = ["1m", "9m", "1p", "9p", "1s", "5mr", "5p", "6s", "6s", "E", "E", "F", "C"]
_DEAL = {
    "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0, "dora_marker": "1p",
    "scores": [25000] * 4, "tehais": [["?"] * 13, _HAND, ["?"] * 13, ["?"] * 13],
}  # fmt: skip

START: list[dict[str, Any]] = [{"type": "start_game", "id": 1}, _DEAL]
FIRST_TURN: list[dict[str, Any]] = [
    {"type": "tsumo", "actor": 0, "pai": "?"},
    {"type": "dahai", "actor": 0, "pai": "N", "tsumogiri": True},
    {"type": "tsumo", "actor": 1, "pai": "2m"},
]
TO_DISCARD = START + FIRST_TURN
"""Up to the decision of seat 1 about its first discard."""
