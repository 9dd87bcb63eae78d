"""One decision as plain values: what was played, what an agent would do, and its probability for every legal move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.hand.ukeire import DiscardUkeire, count_discard_ukeire
from suphx.games.riichi.records.view.recorded_decisions import NO_ACTION
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
from suphx.games.riichi.table.meld import add_meld
from suphx.games.riichi.table.table import CALLED_FLAG, PON_MELD
from suphx.games.riichi.table.tile import NUM_KINDS, is_five, kind_of_face
from suphx.games.riichi.table.wall import dora_indicator
from suphx.kernel.record import I8

_SEATS = 4


def discard_lookahead(table: Any) -> DiscardUkeire:
    """Return shanten int8 (1, 34) and unseen improving tiles int64 (1, 34) after each discard of a TABLE's actor.

    ValueError unless the actor holds 14 tiles, melds counted as three.
    """
    seat = int(table["actor"])
    unseen = np.maximum(unseen_tiles(table, seat), 0)
    return count_discard_ukeire(table["hand"][seat][None], int(table["num_melds"][seat]), unseen=unseen)


def unseen_tiles(table: Any, seat: int) -> I8:
    """Return int8 (34,): the tiles of each kind that ``seat`` cannot see."""
    unseen = np.full(NUM_KINDS, 4, np.int8) - table["hand"][seat]
    for number in range(int(table["num_dora"])):
        unseen[dora_indicator(table["wall"], number) >> 2] -= 1
    for other in range(_SEATS):
        for place in range(int(table["river_length"][other])):
            if not table["river_flags"][other, place] & CALLED_FLAG:
                unseen[kind_of_face(int(table["river"][other, place]))] -= 1
        for meld in range(int(table["num_melds"][other])):
            add_meld(unseen, table["meld_type"][other, meld], table["meld_kind"][other, meld], -1)
    return unseen


_NAMES = {
    TSUMO: "tsumo",
    NINE_TERMINALS: "nine terminals",
    RON: "ron",
    PON: "pon",
    PON_RED: "pon",
    MINKAN: "minkan",
    PASS: "pass",
    RIICHI: "riichi",
}


def viewer_decision(
    table: Any, action: int, *, is_known: bool, opinion: int, probabilities: NDArray[np.float32]
) -> dict[str, Any]:
    """Return a decision of the actor of a TABLE record.

    ``{"seat", "turn", "moves": [{"move", "faces", "p": 0 … 1 or None}], "played", "agent", "differs"}``: a discard also
    has ``shanten`` and ``ukeire``, the unseen tiles that improve the hand after it; ``turn``
    counts the seat's discards from 1 on; ``played`` and ``agent`` are places among the moves, ``played`` is None unless
    ``is_known``, ``agent`` if it has no answer. ``action`` was recorded, ``opinion`` is the agent's; ``probabilities``
    float32 (NUM_ACTIONS,). Moves that differ only in which of two equal tiles they use are one move.
    """
    lookahead = discard_lookahead(table) if np.any(table["legal"][: TSUMOGIRI + 1]) else None
    order: dict[int, int] = {}
    moves: list[dict[str, Any]] = []
    for each in _by_probability(np.flatnonzero(table["legal"]).tolist(), probabilities):
        key = same_move(table, each)
        if key in order:
            continue
        order[key] = len(moves)
        chance = float(probabilities[each])
        move = {**viewer_move(table, each), "p": None if math.isnan(chance) else round(chance, 4)}
        if lookahead is not None and each <= TSUMOGIRI:
            kind = kind_of_face(move["faces"][0])
            move |= {"shanten": int(lookahead.shanten[0, kind]), "ukeire": int(lookahead.tiles[0, kind])}
        moves.append(move)
    played = order[same_move(table, action)] if is_known else None
    wanted = None if opinion == NO_ACTION else order[same_move(table, opinion)]
    return {
        "seat": int(table["actor"]),
        "turn": int(table["river_length"][table["actor"]]) + 1,
        "moves": moves,
        "played": played,
        "agent": wanted,
        "differs": played is not None and wanted is not None and played != wanted,
    }


def same_move(table: Any, action: int) -> int:
    """Return the action that stands for all that a net cannot tell apart: of the same kind of tile, red or not."""
    if action <= TSUMOGIRI:
        return kind_of_face(int(table["drawn"]) if action == TSUMOGIRI else action)
    if action == PON_RED:
        return PON
    return action - 3 if CHI_RED <= action < PASS else action


def viewer_move(table: Any, action: int) -> dict[str, Any]:
    """Return ``{"move": name, "faces": the tiles that it is about}``."""
    if action <= TSUMOGIRI:
        return {"move": "discard", "faces": [int(table["drawn"]) if action == TSUMOGIRI else action]}
    if ANKAN <= action < TSUMO:
        name, kind = kan_of_own(action)
        return {"move": name, "faces": _four_of(kind, has_red=_has_red(table, kind))}
    claimed = int(table["claimed_face"])
    if CHI <= action < PASS:
        lowest = lowest_of_chi(kind_of_face(claimed), action)
        own = [kind for kind in range(lowest, lowest + 3) if kind != kind_of_face(claimed)]
        if action >= CHI_RED:
            own = [NUM_KINDS + kind // 9 if is_five(kind) else kind for kind in own]
        return {"move": "chi", "faces": sorted([claimed, *own], key=kind_of_face)}
    faces: Sequence[int] = ()
    if action in (PON, PON_RED):
        kind = kind_of_face(claimed)
        faces = [claimed, kind, NUM_KINDS + kind // 9 if action == PON_RED else kind]
    elif action == MINKAN:
        kind = kind_of_face(claimed)
        own = _four_of(kind, has_red=claimed == kind and _has_red(table, kind))[:3]
        faces = [claimed, *own]
    elif action == RON:
        faces = [claimed]
    elif action == TSUMO:
        faces = [int(table["drawn"])]
    return {"move": _NAMES[action], "faces": list(faces)}


def kan_of_own(action: int) -> tuple[str, int]:
    """Return name and kind of a kan of the own turn."""
    return ("ankan", action - ANKAN) if action < KAKAN else ("kakan", action - KAKAN)


def _four_of(kind: int, *, has_red: bool) -> list[int]:
    return [NUM_KINDS + kind // 9 if has_red else kind, kind, kind, kind]


def _has_red(table: Any, kind: int) -> bool:
    """Tell whether the actor has the red five of ``kind``, in the hand or in a pon."""
    if not is_five(kind):
        return False
    seat = int(table["actor"])
    is_in_hand = bool(int(table["red"][seat]) >> kind // 9 & 1)
    return is_in_hand or any(
        (table["meld_type"][seat, i], table["meld_kind"][seat, i]) == (PON_MELD, kind) and table["meld_red"][seat, i]
        for i in range(int(table["num_melds"][seat]))
    )


def _by_probability(actions: list[int], probabilities: NDArray[np.float32]) -> list[int]:
    """Return calls and declarations first, then discards; the most probable of each first, those without one last."""
    return sorted(actions, key=lambda action: (action <= TSUMOGIRI, -np.nan_to_num(probabilities[action], nan=-1)))
