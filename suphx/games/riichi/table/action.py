"""The action table: every decision of every seat is one of these 120 numbers.

Combined moves are two decisions: riichi and then its discard, a claim and then its discard.
"""

from __future__ import annotations

from suphx.games.riichi.table.tile import face_name
from suphx.kernel.jit import jit

NUM_ACTIONS = 120

DISCARD = 0  # + face 0-36: from the hand (tedashi)
TSUMOGIRI = 37  # discard the tile just drawn
RIICHI = 38
ANKAN = 39  # + kind 0-33
KAKAN = 73  # + kind 0-33
TSUMO = 107
NINE_TERMINALS = 108
RON = 109
PON = 110
PON_RED = 111  # the red five of the hand goes into the meld
MINKAN = 112
CHI = 113  # + 0, 1, 2: the claimed tile is the lowest, the middle, the highest of the run
CHI_RED = 116  # the same, with the red five of the hand
PASS = 119

# Not decisions: marks inside recorded moves (see gamelog.py).
LEAVE = 120  # the seat disconnected
RETURN = 121  # the seat came back


@jit
def chi_position(action: int) -> int:
    """Return where the claimed tile stands in the run of a chi: 0 lowest, 1 middle, 2 highest."""
    return (action - CHI) % 3


@jit
def lowest_of_chi(kind: int, action: int) -> int:
    """Return the lowest kind of the run that a chi of the claimed ``kind`` makes."""
    return kind - (action - CHI) % 3


def action_name(action: int) -> str:
    """Return a readable name: ``"discard 0p"``, ``"ankan 5z"``, ``"chi middle red"``."""
    if 0 <= action < TSUMOGIRI:
        return f"discard {face_name(action)}"
    if ANKAN <= action < KAKAN:
        return f"ankan {face_name(action - ANKAN)}"
    if KAKAN <= action < TSUMO:
        return f"kakan {face_name(action - KAKAN)}"
    if CHI <= action < PASS:
        position = ("low", "middle", "high")[chi_position(action)]
        return f"chi {position}{' red' if action >= CHI_RED else ''}"
    return _NAMES.get(action, f"unknown action {action}")


_NAMES = {
    TSUMOGIRI: "tsumogiri",
    RIICHI: "riichi",
    TSUMO: "tsumo",
    NINE_TERMINALS: "nine terminals",
    RON: "ron",
    PON: "pon",
    PON_RED: "pon red",
    MINKAN: "minkan",
    PASS: "pass",
    LEAVE: "leave",
    RETURN: "return",
}
