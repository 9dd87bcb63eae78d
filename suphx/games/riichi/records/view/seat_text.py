"""The table as one seat sees it, as lines of text: its hand, and what lies open."""

from __future__ import annotations

from typing import Any

from suphx.games.riichi.records.view.game_text import hand_text, kyoku_name
from suphx.games.riichi.records.view.shown_tiles import SEATS, shown_meld
from suphx.games.riichi.table.table import GAME_END
from suphx.games.riichi.table.tile import face_name, face_of_id, format_faces
from suphx.games.riichi.table.wall import DORA_POSITIONS


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
