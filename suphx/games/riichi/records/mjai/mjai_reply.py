"""Actions as answers in the mjai protocol, the inverse of mjai_action.py: ``{"type": "dahai", "pai": "5mr"}``."""

from __future__ import annotations

from typing import Any

from suphx.games.riichi.records.mjai.mjai import TILE_NAMES
from suphx.games.riichi.table.action import (
    ANKAN,
    CHI,
    CHI_RED,
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
    lowest_of_chi,
)
from suphx.games.riichi.table.red_five import num_red, red_face
from suphx.games.riichi.table.table import PON_MELD
from suphx.games.riichi.table.tile import is_five, kind_of_face

NO_REPLY: dict[str, Any] = {"type": "none"}


def reply_of_action(table: Any, action: int) -> dict[str, Any]:
    """Return the mjai event for a legal ``action`` (0-119) of the actor of a TABLE record."""
    if action == PASS:
        return dict(NO_REPLY)
    seat = int(table["actor"])
    if action <= TSUMOGIRI:
        is_drawn = action == TSUMOGIRI
        face = int(table["drawn"]) if is_drawn else action
        return {"type": "dahai", "actor": seat, "pai": TILE_NAMES[face], "tsumogiri": is_drawn}
    if action == RIICHI:
        return {"type": "reach", "actor": seat}
    if action == NINE_TERMINALS:
        return {"type": "ryukyoku", "actor": seat, "reason": "kyushukyuhai"}
    if action == TSUMO:
        return {"type": "hora", "actor": seat, "target": seat, "pai": TILE_NAMES[int(table["drawn"])]}
    if ANKAN <= action < TSUMO:
        return _own_kan(table, seat, action)
    return _claim(table, seat, action)


def _own_kan(table: Any, seat: int, action: int) -> dict[str, Any]:
    kind = (action - ANKAN) % (KAKAN - ANKAN)
    is_red_held = has_red(table, seat, kind)
    if action < KAKAN:
        return {"type": "ankan", "actor": seat, "consumed": _names(kind, 4, is_red=is_red_held)}
    melds = range(int(table["num_melds"][seat]))
    pon = next(
        i for i in melds if table["meld_type"][seat, i] == PON_MELD and table["meld_kind"][seat, i] == kind
    )  # fmt: skip
    consumed = _names(kind, 3, is_red=bool(table["meld_red"][seat, pon]))
    return {"type": "kakan", "actor": seat, "pai": _names(kind, 1, is_red=is_red_held)[0], "consumed": consumed}


def _claim(table: Any, seat: int, action: int) -> dict[str, Any]:
    face = int(table["claimed_face"])
    event = {"actor": seat, "target": int(table["turn"]), "pai": TILE_NAMES[face]}
    if action == RON:
        return {"type": "hora", **event}
    kind = kind_of_face(face)
    if action in (PON, PON_RED):
        return {"type": "pon", **event, "consumed": _names(kind, 2, is_red=action == PON_RED)}
    if action == MINKAN:
        return {"type": "daiminkan", **event, "consumed": _names(kind, 3, is_red=has_red(table, seat, kind))}
    if CHI <= action < PASS:
        lowest = lowest_of_chi(kind, action)
        consumed = [
            _names(other, 1, is_red=action >= CHI_RED and is_five(other))[0]
            for other in range(lowest, lowest + 3)
            if other != kind
        ]
        return {"type": "chi", **event, "consumed": consumed}
    raise ValueError(f"action {action} is no decision: use 0 to {PASS}")


def has_red(table: Any, seat: int, kind: int) -> bool:
    """Tell whether the hand of ``seat`` has the red five of a kind."""
    return bool(num_red(table["red"][seat], kind))


def _names(kind: int, count: int, *, is_red: bool) -> list[str]:
    """Return the names of ``count`` tiles of a kind, the red five first if it is among them."""
    red = [TILE_NAMES[red_face(kind)]] if is_red else []
    return red + [TILE_NAMES[kind]] * (count - len(red))
