"""All decisions of a recorded game, what an agent thinks of them, and both as plain values and as people write them.

The viewer, reviews and the pages of play read these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, NUM_KINDS, PON_MELD, meld_size
from suphx.games.riichi import table as codes
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.replay import (
    ABSENT,
    follow,
    is_action_known,
    is_legal_move,
    place_deal,
    recorded_action,
)
from suphx.games.riichi.rules import apply_rules
from suphx.games.riichi.shanten import DiscardUkeire, count_discard_ukeire
from suphx.games.riichi.table import TABLE, fill_unseen, lowest_of_chi
from suphx.games.riichi.tile import face_name, face_of_id, format_faces, is_five, kind_of_face
from suphx.kernel.record import I16, I64, Records
from suphx.printable_text import printable

SEATS = 4


def hand_faces(table: Any, seat: int) -> list[int]:
    """Return the concealed faces of ``seat`` (0-3) at a TABLE record, sorted, a red five before its equals."""
    faces: list[int] = []
    red = int(table["red"][seat])
    for kind, number in enumerate(table["hand"][seat].tolist()):
        count = number
        if count and is_five(kind) and red >> kind // 9 & 1:
            faces.append(NUM_KINDS + kind // 9)
            count -= 1
        faces += [kind] * count
    return faces


def shown_meld(table: Any, seat: int, index: int) -> dict[str, Any]:
    """Return a meld as it lies on the table: ``{"faces", "taken": position or None, "is_hidden", "is_added"}``.

    The taken tile is where the seat is that it came from. ``is_added``: a kan whose fourth tile was added to a pon.
    ``is_hidden``: a closed kan, whose first and last tile lie face down; a red five is its second tile.
    """
    meld, lowest = int(table["meld_type"][seat, index]), int(table["meld_kind"][seat, index])
    claimed, num_red = int(table["meld_tile"][seat, index]), int(table["meld_red"][seat, index])
    kinds = [lowest, lowest + 1, lowest + 2] if meld == CHI_MELD else [lowest] * meld_size(meld)
    faces = list(kinds)
    for _ in range(num_red):
        five = next(i for i, face in enumerate(faces) if is_five(face))
        faces[five] = NUM_KINDS + faces[five] // 9
    if meld == ANKAN_MELD:
        faces[:2] = reversed(faces[:2])
        return {"faces": faces, "taken": None, "is_hidden": True, "is_added": False}
    same = [face for face in faces if face == claimed] or [f for f in faces if kind_of_face(f) == kind_of_face(claimed)]
    faces.remove(same[0])
    position = {3: 0, 2: 1, 1: len(faces)}[(int(table["meld_from"][seat, index]) - seat) % SEATS]
    shown = [*faces[:position], same[0], *faces[position:]]
    return {"faces": shown, "taken": position, "is_hidden": False, "is_added": meld == KAKAN_MELD}


_WINDS = ("East", "South", "West", "North")
_NUMBER = re.compile(r" \d+$")


def has_namesake(names: Sequence[str], seat: int) -> bool:
    """Return whether another seat has the name of ``seat``, or the same with another number.

    >>> [has_namesake(("our agent", "ukeire 1", "ukeire 2", "Anna"), seat) for seat in range(4)]
    [False, True, True, False]
    """
    bare = [_NUMBER.sub("", name) for name in names]
    return bare.count(bare[seat]) > 1


def kyoku_name(kyoku: int, honba: int) -> str:
    """Return such as ``"East 1"`` or ``"South 4, honba 2"``."""
    name = f"{_WINDS[kyoku // 4]} {kyoku % 4 + 1}"
    return f"{name}, honba {honba}" if honba else name


def hand_text(table: Any, seat: int) -> str:
    """Return the concealed tiles of ``seat`` (0-3) at a TABLE record in short form: ``"13m067p5z"``, 0 = a red five."""
    return format_faces(hand_faces(table, seat))


def seat_text(table: Any, seat: int) -> str:
    """Return a TABLE record as ``seat`` (0-3) sees it: no hand but its own, no tile of the wall but dora indicators."""
    if table["phase"] == codes.GAME_END:
        places = ", ".join(f"seat {s} {table['placement'][s]} ({table['scores'][s]:,} points)" for s in range(SEATS))
        return f"The game is over. Places: {places}\n"
    red = int(table["red_fives"])
    shown = codes.DORA_POSITIONS[: int(table["num_dora"])]
    indicators = [face_of_id(int(table["wall"][position]), red) for position in shown]
    start = kyoku_name(int(table["kyoku"]), int(table["honba"]))
    lines = [f"{start}, {table['kyotaku']} sticks, dora indicators {' '.join(map(face_name, indicators))}"]
    for other in range(SEATS):
        mark = ">" if other == table["actor"] else " "
        hand = hand_text(table, other) if other == seat else f"{int(table['hand'][other].sum())} tiles"
        melds = " ".join(
            format_faces(shown_meld(table, other, i)["faces"]) for i in range(int(table["num_melds"][other]))
        )
        river = " ".join(face_name(int(face)) for face in table["river"][other][: int(table["river_length"][other])])
        riichi = "riichi " if table["riichi"][other] else ""
        lines.append(f"{mark} seat {other} {table['scores'][other]:>6} {riichi}{hand}  [{melds}]  {river}")
    return "\n".join(lines) + "\n"


class Decision(NamedTuple):
    """What the actor of the table did."""

    action: int  # 0-119, legal
    is_known: bool  # the action is the actor's own wish: the seat was connected, and no claim of another seat hides it


class KyokuWalk:
    """Iterates once over the decisions of a deal; ``tables`` (1,) and ``table`` change with each step."""

    def __init__(self, game: GameLog, index: int) -> None:
        """Deal ``index`` of ``game``; the table waits for the dealer's first decision."""
        self.log = game.kyokus[index]
        self.tables = np.zeros(1, TABLE)
        self.table: Any = self.tables[0]
        self.place = f"deal {index} of game {printable(game.id)}"
        self._suits = load_suits()
        apply_rules(self.tables, game.rules)
        place_deal(self.tables, self.log)
        start_kyoku(self.tables[0], self._suits)

    def __iter__(self) -> Iterator[Decision]:
        """Yield each decision before it is applied; ValueError when the moves contradict the rules."""
        moves, cursor = self.log.moves, np.zeros(4, np.int64)
        while self.table["phase"] != codes.KYOKU_END:
            action = recorded_action(self.tables[0], moves, int(self.log.result["result"]), cursor)
            if not is_legal_move(self.tables[0], action):
                raise ValueError(f"{self.place} contradicts the rules: see suphx records verify")
            is_absent = bool(cursor[ABSENT] >> int(self.table["actor"]) & 1)
            is_hidden = action == codes.PASS and not is_action_known(self.tables[0], moves, cursor)
            yield Decision(int(action), not is_absent and not is_hidden)
            follow(self.tables[0], self._suits, moves, cursor, action)


NO_ACTION = -1


@dataclass(frozen=True, slots=True)
class RecordedDecisions:
    """The decisions of a game in order, forced ones included."""

    tables: Records  # TABLE records (n,): each before its decision
    actions: I16  # int16 (n,): what the actor did
    is_known: NDArray[np.bool_]  # (n,): the action is the actor's own wish (``Decision.is_known``)
    kyokus: I64  # int64 (n,): index of the deal


@dataclass(frozen=True, slots=True)
class Opinions:
    """What an agent would do at each of the decisions of ``RecordedDecisions``."""

    name: str  # of the agent
    actions: I16  # int16 (n,), NO_ACTION where the agent never comes into such a position
    probabilities: NDArray[np.float32]
    """float32 (n, NUM_ACTIONS) by action, NaN where no net was asked (``move_probabilities``)."""


def recorded_decisions(game: GameLog) -> RecordedDecisions:
    """Return all decisions of ``game``; ValueError when its moves contradict the rules."""
    tables, actions, is_known, kyokus = [], [], [], []
    for index in range(len(game.kyokus)):
        walk = KyokuWalk(game, index)
        for decision in walk:
            tables.append(walk.tables.copy())
            actions.append(decision.action)
            is_known.append(decision.is_known)
            kyokus.append(index)
    return RecordedDecisions(
        np.concatenate(tables) if tables else np.zeros(0, TABLE),
        np.array(actions, np.int16),
        np.array(is_known, np.bool_),
        np.array(kyokus, np.int64),
    )


def discard_lookahead(table: Any) -> DiscardUkeire:
    """Return shanten int8 (1, 34) and unseen improving tiles int64 (1, 34) after each discard of a TABLE's actor.

    ValueError unless the actor holds 14 tiles, melds counted as three.
    """
    seat = int(table["actor"])
    unseen = np.zeros(NUM_KINDS, np.int8)
    fill_unseen(table, seat, unseen)
    return count_discard_ukeire(table["hand"][seat][None], int(table["num_melds"][seat]), unseen=np.maximum(unseen, 0))


_NAMES = {
    codes.TSUMO: "tsumo",
    codes.NINE_TERMINALS: "nine terminals",
    codes.RON: "ron",
    codes.PON: "pon",
    codes.PON_RED: "pon",
    codes.MINKAN: "minkan",
    codes.PASS: "pass",
    codes.RIICHI: "riichi",
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
    lookahead = discard_lookahead(table) if np.any(table["legal"][: codes.TSUMOGIRI + 1]) else None
    order: dict[int, int] = {}
    moves: list[dict[str, Any]] = []
    # Calls and declarations first, then discards; the most probable of each first, those without one last.
    order_of = -np.nan_to_num(probabilities, nan=-1)
    for each in sorted(
        np.flatnonzero(table["legal"]).tolist(), key=lambda each: (each <= codes.TSUMOGIRI, order_of[each])
    ):
        key = same_move(table, each)
        if key in order:
            continue
        order[key] = len(moves)
        chance = float(probabilities[each])
        move = {**viewer_move(table, each), "p": None if math.isnan(chance) else round(chance, 4)}
        if lookahead is not None and each <= codes.TSUMOGIRI:
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
    if action <= codes.TSUMOGIRI:
        return kind_of_face(int(table["drawn"]) if action == codes.TSUMOGIRI else action)
    if action == codes.PON_RED:
        return codes.PON
    return action - 3 if codes.CHI_RED <= action < codes.PASS else action


def viewer_move(table: Any, action: int) -> dict[str, Any]:
    """Return ``{"move": name, "faces": the tiles that it is about}``."""
    if action <= codes.TSUMOGIRI:
        return {"move": "discard", "faces": [int(table["drawn"]) if action == codes.TSUMOGIRI else action]}
    if codes.ANKAN <= action < codes.TSUMO:
        name, kind = kan_of_own(action)
        return {"move": name, "faces": [NUM_KINDS + kind // 9 if _has_red(table, kind) else kind, kind, kind, kind]}
    claimed = int(table["claimed_face"])
    if codes.CHI <= action < codes.PASS:
        lowest = lowest_of_chi(kind_of_face(claimed), action)
        own = [kind for kind in range(lowest, lowest + 3) if kind != kind_of_face(claimed)]
        if action >= codes.CHI_RED:
            own = [NUM_KINDS + kind // 9 if is_five(kind) else kind for kind in own]
        return {"move": "chi", "faces": sorted([claimed, *own], key=kind_of_face)}
    faces: Sequence[int] = ()
    if action in (codes.PON, codes.PON_RED):
        kind = kind_of_face(claimed)
        faces = [claimed, kind, NUM_KINDS + kind // 9 if action == codes.PON_RED else kind]
    elif action == codes.MINKAN:
        kind = kind_of_face(claimed)
        has_red = claimed == kind and _has_red(table, kind)
        faces = [claimed, NUM_KINDS + kind // 9 if has_red else kind, kind, kind]
    elif action == codes.RON:
        faces = [claimed]
    elif action == codes.TSUMO:
        faces = [int(table["drawn"])]
    return {"move": _NAMES[action], "faces": list(faces)}


def kan_of_own(action: int) -> tuple[str, int]:
    """Return name and kind of a kan of the own turn."""
    return ("ankan", action - codes.ANKAN) if action < codes.KAKAN else ("kakan", action - codes.KAKAN)


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
