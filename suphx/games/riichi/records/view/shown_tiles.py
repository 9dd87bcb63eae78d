"""The tiles of a table in the order in which people see them: hands by suit, melds as they lie on the table."""

from __future__ import annotations

from typing import Any

from suphx.games.riichi.table.meld import meld_size
from suphx.games.riichi.table.table import ANKAN_MELD, CHI_MELD, KAKAN_MELD
from suphx.games.riichi.table.tile import NUM_KINDS, is_five, kind_of_face

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
