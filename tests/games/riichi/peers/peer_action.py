"""Walls and actions of PyPI ``riichienv`` in our terms: the same deal and the same decisions for both engines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from riichienv import ActionType

from suphx.games.riichi.table.action import (
    ANKAN,
    CHI,
    CHI_RED,
    DISCARD,
    KAKAN,
    MINKAN,
    NINE_TERMINALS,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from suphx.games.riichi.table.tile import ALL_RED_FIVES, RED_IDS, face_of_id
from suphx.games.riichi.table.wall import LAST_DRAW
from suphx.kernel.record import I16

FACES = [face_of_id(tile, ALL_RED_FIVES) for tile in range(136)]

_PLAIN = {
    int(ActionType.RIICHI): RIICHI,
    int(ActionType.TSUMO): TSUMO,
    int(ActionType.KYUSHU_KYUHAI): NINE_TERMINALS,
    int(ActionType.RON): RON,
    int(ActionType.DAIMINKAN): MINKAN,
    int(ActionType.PASS): PASS,
}
_DISCARD, _ANKAN, _KAKAN = int(ActionType.DISCARD), int(ActionType.ANKAN), int(ActionType.KAKAN)
_PON, _CHI = int(ActionType.PON), int(ActionType.CHI)


def peer_wall(wall: I16) -> list[int]:
    """Return a wall (table.py) as the peer wants it: the two tiles of each stack of the dead wall change places."""
    tiles = [int(tile) for tile in wall]
    for i in range(LAST_DRAW, 136, 2):
        tiles[i], tiles[i + 1] = tiles[i + 1], tiles[i]
    return tiles


def action_number(action: Any, drawn: int | None) -> int:
    """Return one of the peer's actions as a number of our action table; ``drawn``: id of the tile just drawn."""
    kind, tile = int(action.action_type), int(action.tile or 0)
    if kind == _DISCARD:
        return TSUMOGIRI if tile == drawn else DISCARD + FACES[tile]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == _ANKAN:
        return ANKAN + tile // 4
    if kind == _KAKAN:
        return KAKAN + tile // 4
    has_red = any(used in RED_IDS for used in action.consume_tiles)
    if kind == _PON:
        return PON_RED if has_red else PON
    if kind == _CHI:
        claimed = tile // 4
        lowest = min(claimed, *(int(used) // 4 for used in action.consume_tiles))
        return (CHI_RED if has_red else CHI) + claimed - lowest
    raise ValueError(f"the peer offers {action.to_dict()}: no action of four players")


def number_actions(actions: Iterable[Any], drawn: int | None) -> dict[int, Any]:
    """Return the peer's legal actions by our numbers; of several tiles that look the same, one."""
    return {action_number(action, drawn): action for action in actions}
