"""Seats, tiles, results and games as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from suphx.games.riichi.hand.yaku_number import YAKU_NAMES
from suphx.games.riichi.table.meld import meld_size
from suphx.games.riichi.table.table import (
    ANKAN_MELD,
    CHI_MELD,
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    GAME_END,
    KAKAN_MELD,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TRIPLE_RON_DRAW,
)
from suphx.games.riichi.table.tile import NUM_KINDS, face_name, face_of_id, format_faces, is_five, kind_of_face
from suphx.games.riichi.table.wall import DORA_POSITIONS

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


def names_in_deal(names: Sequence[str], dealer: int) -> list[str]:
    """Return the names as sentences on a deal have them; ``dealer``: its seat.

    >>> names_in_deal(("our agent", "ukeire", "ukeire", "Anna"), 1)
    ['our agent', 'ukeire (East)', 'ukeire (South)', 'Anna']
    """
    return [
        f"{name} ({_WINDS[(seat - dealer) % SEATS]})" if has_namesake(names, seat) else name
        for seat, name in enumerate(names)
    ]


def kyoku_name(kyoku: int, honba: int) -> str:
    """Return such as ``"East 1"`` or ``"South 4, honba 2"``."""
    name = f"{('East', 'South', 'West', 'North')[kyoku // 4]} {kyoku % 4 + 1}"
    return f"{name}, honba {honba}" if honba else name


def hand_text(table: Any, seat: int) -> str:
    """Return the concealed tiles of ``seat`` (0-3) at a TABLE record in short form: ``"13m067p5z"``, 0 = a red five."""
    return format_faces(hand_faces(table, seat))


def seat_text(table: Any, seat: int) -> str:
    """Return a TABLE record as ``seat`` (0-3) sees it: no hand but its own, no tile of the wall but dora indicators."""
    if table["phase"] == GAME_END:
        places = ", ".join(f"seat {s} {table['placement'][s]} ({table['scores'][s]:,} points)" for s in range(SEATS))
        return f"The game is over. Places: {places}\n"
    red = int(table["red_fives"])
    shown = DORA_POSITIONS[: int(table["num_dora"])]
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


DRAW_NAMES = {
    EXHAUSTIVE_DRAW: "exhaustive draw",
    NAGASHI_MANGAN: "nagashi mangan",
    NINE_TERMINALS_DRAW: "abortive draw: nine terminals and honours",
    FOUR_WINDS_DRAW: "abortive draw: four winds",
    FOUR_RIICHI_DRAW: "abortive draw: four riichi",
    FOUR_KANS_DRAW: "abortive draw: four kans",
    TRIPLE_RON_DRAW: "abortive draw: triple ron",
}
"""Result code of a deal that nobody won -> its name."""
BONUS_COLUMNS = (("dora", "win_dora"), ("red fives", "win_red"), ("ura dora", "win_ura"))
"""What adds han without being a yaku -> column of a TABLE record."""


def win_value(table: Any, win: int) -> str:
    """Return such as ``"3 han 40 fu"`` or ``"yakuman"`` for the win number ``win`` (0-2) of a TABLE record."""
    return f"{table['win_han'][win]} han {table['win_fu'][win]} fu" if table["win_han"][win] else "yakuman"


def win_yaku(table: Any, win: int) -> list[str]:
    """Return the yaku of a win, then its dora with their number: ``["riichi", "pinfu", "red fives 1"]``."""
    yaku = [name for number, name in enumerate(YAKU_NAMES) if int(table["win_yaku"][win]) >> number & 1]
    return yaku + [f"{name} {table[column][win]}" for name, column in BONUS_COLUMNS if table[column][win]]
