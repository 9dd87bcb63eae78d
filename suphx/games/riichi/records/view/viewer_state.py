"""What lies on the table at one moment of a deal, as plain values, and what changes from one moment to the next.

| key | value |
|---|---|
| ``hand0`` … ``hand3`` | concealed faces by seat, sorted, without the tile just drawn |
| ``river0`` … | discards by seat: face + 64 · flags (table.py) |
| ``melds0`` … | melds by seat, as ``shown_meld`` returns them |
| ``waits0`` … | kinds that complete the hand (as of the seat's last discard); [] from a chi or pon to its discard |
| ``drawn`` | [seat, face] of the tile just drawn or won with by ron, one pair for each; [] for none |
| ``turn`` | the seat whose turn it is |
| ``scores``, ``sticks`` | points by seat, riichi sticks on the table |
| ``riichi`` | by seat: 0, 1 = riichi, 2 = double riichi |
| ``dora`` | dora indicators that are turned over |
| ``next``, ``rinshan``, ``left`` | place of the next draw in the wall, rinshan tiles drawn, draws left |
| ``open`` | seats that show their hands at the end |
"""

from __future__ import annotations

from typing import Any, TypeAlias

from suphx.games.riichi.records.log.shown_hands import shown_hands
from suphx.games.riichi.records.view.shown_tiles import SEATS, hand_faces, shown_meld
from suphx.games.riichi.table.table import CALL_DISCARD, KYOKU_END, OWN_TURN, RIICHI_DISCARD
from suphx.games.riichi.table.tile import NUM_KINDS, face_of_id
from suphx.games.riichi.table.wall import DORA_POSITIONS, LAST_DRAW

State: TypeAlias = dict[str, Any]

_FLAG_STEP = 64  # above all faces


def viewer_state(table: Any, red_fives: int) -> State:
    """Return the state of a TABLE record; ``red_fives``: bit set of suits."""
    drawn = _drawn(table)
    state: State = {"drawn": drawn}
    for seat in range(SEATS):
        state |= _seat_state(table, seat, drawn)
    shown = DORA_POSITIONS[: int(table["num_dora"])]
    num_kans, next_draw = int(table["num_kans"]), int(table["next_draw"])
    return state | {
        "turn": int(table["turn"]),
        "scores": [int(score) for score in table["scores"]],
        "sticks": int(table["kyotaku"]),
        "riichi": [int(riichi) for riichi in table["riichi"]],
        "dora": [face_of_id(int(table["wall"][position]), red_fives) for position in shown],
        "next": next_draw,
        "rinshan": num_kans,
        "left": LAST_DRAW - num_kans - next_draw,
        "open": _open_seats(table),
    }


def changes(before: State, after: State) -> State:
    """Return the keys of ``after`` whose values differ from ``before``."""
    return {key: value for key, value in after.items() if before[key] != value}


def _seat_state(table: Any, seat: int, drawn: list[list[int]]) -> State:
    hand = hand_faces(table, seat)
    for owner, face in drawn:
        if owner == seat and not _is_ron(table, seat):
            hand.remove(face)
    is_calling = table["phase"] == CALL_DISCARD and table["turn"] == seat  # the hand of its last discard is gone
    length, waits = int(table["river_length"][seat]), 0 if is_calling else int(table["waits"][seat])
    return {
        f"hand{seat}": hand,
        f"river{seat}": [
            face + _FLAG_STEP * flags
            for face, flags in zip(
                table["river"][seat][:length].tolist(), table["river_flags"][seat][:length].tolist(), strict=True
            )
        ],
        f"melds{seat}": [shown_meld(table, seat, i) for i in range(int(table["num_melds"][seat]))],
        f"waits{seat}": [kind for kind in range(NUM_KINDS) if waits >> kind & 1],
    }


def _drawn(table: Any) -> list[list[int]]:
    """Return the tiles beside the hands: the one just drawn, or those that were won with."""
    if table["phase"] == KYOKU_END:
        wins = [(int(table["win_seat"][w]), int(table["win_face"][w])) for w in range(int(table["num_wins"]))]
        if wins:
            return [[seat, face] for seat, face in wins]
    elif table["phase"] not in (OWN_TURN, RIICHI_DISCARD):
        return []
    return [[int(table["turn"]), int(table["drawn"])]] if table["drawn"] >= 0 else []


def _is_ron(table: Any, seat: int) -> bool:
    if table["phase"] != KYOKU_END:
        return False
    return any(table["win_seat"][w] == seat != table["win_loser"][w] for w in range(int(table["num_wins"])))


def _open_seats(table: Any) -> list[int]:
    """Return who shows the hand at the end: the winners, or those of ``shown_hands`` after a draw."""
    if table["phase"] != KYOKU_END:
        return []
    winners = {int(table["win_seat"][w]) for w in range(int(table["num_wins"]))}
    return sorted(winners) or shown_hands(int(table["result"]), table["tenpai"], int(table["turn"]))
