"""Answers of programs in the mjai protocol as actions: ``{"type": "dahai", "pai": "5mr"}`` discards face 34."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from suphx.games.riichi.records.mjai.mjai import FACE_OF_NAME, TILE_NAMES
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
    action_name,
    lowest_of_chi,
)
from suphx.games.riichi.table.red_five import num_red, red_face
from suphx.games.riichi.table.table import PON_MELD
from suphx.games.riichi.table.tile import NUM_KINDS, is_five, kind_of_face
from suphx.kernel.record import U8

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


Reply = Mapping[str, Any]

_CLAIMS = ("chi", "pon", "daiminkan")


def action_of_reply(reply: Reply, legal: U8 | NDArray[Any], drawn: int, claimed: int) -> int:
    """Return the action (0-119) that ``reply`` means; ``legal`` [120] is not 0 where one is legal.

    ``drawn`` is the face of the tile just drawn, ``claimed`` that of the tile that may be claimed, or -1. Naming the
    drawn tile without ``tsumogiri`` discards it where the hand has no other. ValueError for an answer that is none, or
    that is not legal.
    """
    action = (TSUMO if legal[TSUMO] else RON) if reply.get("type") == "hora" else action_of_event(reply)
    if action < TSUMOGIRI and not legal[action] and action == drawn:
        action = TSUMOGIRI
    if action == TSUMOGIRI and reply.get("pai") not in (None, TILE_NAMES[drawn] if drawn >= 0 else None):
        drew = TILE_NAMES[drawn] if drawn >= 0 else "nothing"
        raise ValueError(f"it discards {reply.get('pai')} as drawn, but drew {drew}")
    is_call = claimed >= 0 and reply.get("type") in _CLAIMS and "pai" in reply
    if is_call and kind_of_face(face_of_name(reply["pai"])) != kind_of_face(claimed):
        raise ValueError(f"it calls {reply['pai']}, but {TILE_NAMES[claimed]} was discarded")
    if not legal[action]:
        allowed = ", ".join(action_name(a) for a in range(len(legal)) if legal[a])
        raise ValueError(f"{action_name(action)} is not legal: {allowed} are")
    return action


def action_of_event(reply: Reply) -> int:
    """Return the action (0-119) of an event or an answer other than ``hora``; ValueError for any other."""
    match reply.get("type"):
        case "none":
            return PASS
        case "dahai":
            return TSUMOGIRI if reply.get("tsumogiri") is True else DISCARD + face_of_name(reply.get("pai"))
        case "reach":
            return RIICHI
        case "ryukyoku":
            return NINE_TERMINALS
        case "pon":
            return PON_RED if _has_red(reply) else PON
        case "daiminkan":
            return MINKAN
        case "ankan":
            return ANKAN + kind_of_face(_consumed(reply)[0])
        case "kakan":
            return KAKAN + kind_of_face(face_of_name(reply.get("pai")))
        case "chi":
            called = kind_of_face(face_of_name(reply.get("pai")))
            own = [kind_of_face(face) for face in _consumed(reply)]
            if sorted([*own, called]) != list(range(min(*own, called), min(*own, called) + 3)):
                raise ValueError(f"it calls {reply.get('pai')} with {reply.get('consumed')}, which is no run")
            position = sum(kind < called for kind in own)
            return (CHI_RED if _has_red(reply) else CHI) + position
    raise ValueError("its type is none of none, dahai, reach, hora, ryukyoku, chi, pon, daiminkan, ankan, kakan")


def _has_red(reply: Reply) -> bool:
    return any(face >= NUM_KINDS for face in _consumed(reply))


def _consumed(reply: Reply) -> list[int]:
    tiles = reply.get("consumed")
    if not isinstance(tiles, list) or not 2 <= len(tiles) <= 4:
        raise ValueError("consumed is not a list of two to four tiles")
    return [face_of_name(tile) for tile in tiles]


def face_of_name(name: object) -> int:
    """Return the face (0-36) of mjai's name of a tile; ValueError if it is none."""
    if not isinstance(name, str) or name not in FACE_OF_NAME:
        raise ValueError(f"{name!r:.40} is not a tile: use 1m to 9s, E S W N P F C, 5mr 5pr 5sr")
    return FACE_OF_NAME[name]
