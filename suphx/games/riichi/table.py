"""The state of one hanchan as one numpy record: ``np.zeros(n, TABLE)`` is n tables; and the numbers of all actions.

Seats are 0-3, seat 0 is the first dealer. ``wall`` holds tile ids in drawing order: 0-51 the deal (four rounds:
4, 4, 4, 1 tiles for each seat from the dealer on), from 52 on the draws; 134, 135, 132, 133 the rinshan tiles;
130, 128, 126, 124, 122 the dora indicators; 131, 129, 127, 125, 123 the ura dora indicators. Walls come from a plain
integer seed; Tenhou's own walls from records/mjlog.py.

Every decision of every seat is one of 120 actions. Combined moves are two decisions: riichi and then its discard, a
claim and then its discard.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.tile import (
    ANKAN_MELD,
    CHI_MELD,
    KAKAN_MELD,
    MINKAN_MELD,
    PON_MELD,
    add_meld,
    shuffle_tiles,
)
from suphx.games.riichi.rules import RuleValues
from suphx.games.riichi.tile import dora_of_indicator, face_name, is_red, kind_of_face, num_red, red_bit
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I16, I32, I64, field, record_dtype

DEALT = 52
LAST_DRAW = 122  # draws end before this index, earlier by one for each kan
NUM_DRAWS = LAST_DRAW - DEALT
RINSHAN = (134, 135, 132, 133)
DORA_POSITIONS = (130, 128, 126, 124, 122)
URA_POSITIONS = (131, 129, 127, 125, 123)

_MAX_HONBA = 1024


@jit
def dora_indicator(wall: I16, i: int) -> int:
    """Return the tile id of the dora indicator ``i`` (0-4)."""
    return wall[DORA_POSITIONS[i]]


@jit
def dora_kind(wall: I16, i: int) -> int:
    """Return the kind that the dora indicator ``i`` makes dora."""
    return dora_of_indicator(int(wall[DORA_POSITIONS[i]]) >> 2)


@jit
def ura_kind(wall: I16, i: int) -> int:
    """Return the kind that the ura indicator under the dora indicator ``i`` makes dora."""
    return dora_of_indicator(int(wall[URA_POSITIONS[i]]) >> 2)


@jit
def shuffle_wall(seed: int, kyoku: int, honba: int, wall: I16) -> None:
    """Fill ``wall`` with the shuffled tiles of a deal of the game ``seed`` (0 <= seed < 2**62; honba < 1024).

    No two deals of a game have the same kyoku and honba. Two games with the same seed have the same wall at the same
    kyoku and honba, however many deals each has played before.
    """
    shuffle_tiles(seed, kyoku * _MAX_HONBA + honba, wall)


MAX_RIVER = 40  # no seat can discard more often, whatever is called

# phase: what the table waits for
KYOKU_START = 0  # a wall
OWN_TURN = 1  # the actor has drawn (14 tiles)
RIICHI_DISCARD = 2  # the actor declared riichi and chooses the discard
CALL_DISCARD = 3  # the actor has called chi or pon and chooses the discard
CLAIM = 4  # the actor may claim the discard of ``turn``
ROB_KAN = 5  # the actor may rob the kan of ``turn``
KYOKU_END = 6  # ``result`` is filled
GAME_END = 7  # ``placement`` is filled

# river flags
TSUMOGIRI_FLAG, RIICHI_FLAG, CALLED_FLAG = 1, 2, 4

# result: how a kyoku ended
NO_RESULT = 0
WIN_RESULT = 1
EXHAUSTIVE_DRAW = 2
NAGASHI_MANGAN = 3
NINE_TERMINALS_DRAW = 4
FOUR_WINDS_DRAW = 5
FOUR_RIICHI_DRAW = 6
FOUR_KANS_DRAW = 7
TRIPLE_RON_DRAW = 8


class Result:
    """How a kyoku ended; up to three wins (index w) in the order of payment."""

    result: int = field("i1")
    num_wins: int = field("i1")
    win_seat: I8 = field("i1", 3)
    win_loser: I8 = field("i1", 3)  # the seat that dealt in; the winner itself for a tsumo
    win_liable: I8 = field("i1", 3)  # the seat that pays for pao, or -1
    win_face: I8 = field("i1", 3)  # the winning tile
    win_han: I16 = field("i2", 3)  # yaku and dora together; 0 for yakuman
    win_fu: I16 = field("i2", 3)  # 0 for yakuman
    win_yakuman: I8 = field("i1", 3)  # how many
    win_dora: I8 = field("i1", 3)
    win_red: I8 = field("i1", 3)
    win_ura: I8 = field("i1", 3)
    win_yaku: I64 = field("i8", 3)  # bit set of yaku numbers (yaku.py); dora are not among them
    win_points: I32 = field("i4", 3)  # of the hand, without honba and sticks
    win_deltas: I32 = field("i4", 3, 4)  # score changes by each win, honba and sticks included
    tenpai: I8 = field("i1", 4)  # at an exhaustive draw
    deltas: I32 = field("i4", 4)  # score changes at the end of the kyoku (paid riichi sticks not included)


RESULT = record_dtype(Result)


class Table(Result, RuleValues):
    """Everything about one hanchan between two decisions; no other state exists."""

    # hanchan
    wall_seed: int = field("i8")  # of the simulator's walls
    has_draw_lanes: int = field("i1")  # every seat draws from its own positions of the wall (kyoku.py)
    num_kyoku: int = field("i4")  # dealt so far
    kyoku: int = field("i1")  # 0 = East 1, 4 = South 1, 8 = West 1
    honba: int = field("i2")
    kyotaku: int = field("i2")  # riichi sticks on the table
    scores: I32 = field("i4", 4)
    placement: I8 = field("i1", 4)  # 1-4 by seat, at GAME_END
    num_decisions: int = field("i4")

    # kyoku
    phase: int = field("i1")
    actor: int = field("i1")  # the seat that decides
    turn: int = field("i1")  # the seat whose turn it is (discarder in CLAIM, kan caller in ROB_KAN)
    wall: I16 = field("i2", 136)
    next_draw: int = field("i2")  # index into wall
    draw_places: I8 = field("i1", NUM_DRAWS)  # of each tile from wall[DEALT] on: where it was before calls moved it
    num_kans: int = field("i1")
    num_dora: int = field("i1")  # indicators turned over
    pending_dora: int = field("i1")  # to be turned over at the next discard or kan
    num_calls: int = field("i1")  # melds of all seats, kakan not counted again
    hand: I8 = field("i1", 4, 34)  # concealed tiles by kind, the drawn one included
    red: I8 = field("i1", 4)  # bits 0-2: the red 5m, 5p, 5s is among them
    drawn: int = field("i1")  # face of the tile just drawn, or -1
    is_rinshan: int = field("i1")
    num_melds: I8 = field("i1", 4)
    meld_type: I8 = field("i1", 4, 4)
    meld_kind: I8 = field("i1", 4, 4)  # lowest kind
    meld_tile: I8 = field("i1", 4, 4)  # face of the claimed tile, -1 for ankan
    meld_from: I8 = field("i1", 4, 4)  # seat that it came from; the owner for ankan
    meld_red: I8 = field("i1", 4, 4)  # red fives in the meld: 0 or 1
    river_length: I8 = field("i1", 4)
    river: I8 = field("i1", 4, MAX_RIVER)  # faces in order, called ones included
    river_flags: I8 = field("i1", 4, MAX_RIVER)
    river_kinds: I64 = field("i8", 4)  # bit set, called ones included
    riichi: I8 = field("i1", 4)  # 0, 1 = riichi, 2 = double riichi (from the declaration on)
    is_stick_due: int = field("i1")  # the riichi of ``turn`` is not paid yet
    ippatsu: I8 = field("i1", 4)
    waits: I64 = field("i8", 4)  # bit set of kinds that complete the hand (as of the last discard)
    passed_kinds: I64 = field("i8", 4)  # bit set that others discarded since the seat's last discard, or riichi
    missed_win: I8 = field("i1", 4)  # 0, 1 = furiten until the next discard, 2 = for good
    pao_dragons: I8 = field("i1", 4)  # seat liable for this seat's big three dragons, or -1
    pao_winds: I8 = field("i1", 4)  # the same for big four winds
    claimed_face: int = field("i1")  # the discarded or kan tile that may be claimed
    claim_actions: I16 = field("i2", 4)  # in a claim window, hidden until it closes; -1 = not decided
    forbidden: int = field("i8")  # bit set of kinds that may not be discarded now
    is_first_turn: I8 = field("i1", 4)  # no discard yet and no call since the deal
    legal: I8 = field("i1", 120)  # mask over the action table for the actor
    num_legal: int = field("i2")


TABLE = record_dtype(Table)


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

# Not decisions: marks inside recorded moves (see game_log.py).
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


@jit
def claimed_kind(t: Table, action: int) -> int:
    """Return the kind that is claimed, or of which an own kan is made."""
    if ANKAN <= action < TSUMO:
        return (action - ANKAN) % 34
    return int(kind_of_face(t.claimed_face))


@jit
def new_meld(t: Table, action: int) -> tuple[int, int]:
    """Return type and lowest kind of the meld that a claim or an own kan makes."""
    kind = claimed_kind(t, action)
    if action < PON:
        return (ANKAN_MELD if action < KAKAN else KAKAN_MELD), kind
    if action < CHI:
        return (MINKAN_MELD if action == MINKAN else PON_MELD), kind
    return CHI_MELD, lowest_of_chi(kind, action)


@jit
def take_used(hand: I8, meld_type: int, lowest: int, claimed: int) -> None:
    """Take the concealed tiles that go into a new meld out of ``hand``, int8 (34,); ``claimed``: ``claimed_kind``."""
    if meld_type == CHI_MELD:
        for kind in range(lowest, lowest + 3):
            hand[kind] -= kind != claimed
    else:
        hand[lowest] -= (0, 0, 2, 4, 3, 1)[meld_type]


@jit
def uses_red(t: Table, seat: int, action: int) -> bool:
    """Tell whether a red five goes from the hand into the meld of a claim or an own kan."""
    if action == PON_RED or CHI_RED <= action < PASS:
        return True
    return (action < PON or action == MINKAN) and num_red(t.red[seat], claimed_kind(t, action)) != 0


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


@jit
def add_to_hand(t: Table, seat: int, face: int) -> None:
    """Put a tile (face 0-36) into the hand of a seat."""
    t.hand[seat, kind_of_face(face)] += 1
    if is_red(face):
        t.red[seat] |= red_bit(face)


@jit
def remove_from_hand(t: Table, seat: int, face: int) -> None:
    """Take a tile (face 0-36) that a seat holds out of its hand."""
    t.hand[seat, kind_of_face(face)] -= 1
    if is_red(face):
        t.red[seat] &= ~red_bit(face)


@jit
def fill_unseen(t: Table, seat: int, unseen: I8) -> None:
    """Fill int8 (34,) with the tiles of each kind that ``seat`` cannot see."""
    for kind in range(34):
        unseen[kind] = 4 - t.hand[seat, kind]
    for i in range(t.num_dora):
        unseen[dora_indicator(t.wall, i) >> 2] -= 1
    for other in range(4):
        for i in range(t.river_length[other]):
            if not t.river_flags[other, i] & CALLED_FLAG:
                unseen[kind_of_face(t.river[other, i])] -= 1
        for i in range(t.num_melds[other]):
            add_meld(unseen, t.meld_type[other, i], t.meld_kind[other, i], -1)


@jit
def place_of(scores: I32, seat: int) -> int:
    """Return the place 1-4 of ``seat`` by ``scores`` int32 [4], those of the seats 0-3."""
    place = 1
    for other in range(4):
        place += scores[other] > scores[seat] or (scores[other] == scores[seat] and other < seat)
    return place


def places_of_scores(scores: I32) -> I8:
    """Return int8 [n, 4]: the places by seat of ``scores`` int32 [n, 4]."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return (np.argsort(order, axis=1) + 1).astype(np.int8)


@jit
def is_undrawn(t: Table, position: int) -> bool:
    """Tell whether the tile at ``position``, behind all ordinary draws, is neither drawn nor an open indicator."""
    is_left = True
    for i in range(t.num_kans):
        is_left &= position != RINSHAN[i]
    for i in range(t.num_dora):
        is_left &= position != DORA_POSITIONS[i]
    return is_left
