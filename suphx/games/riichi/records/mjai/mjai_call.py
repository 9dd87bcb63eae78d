"""Whether the tiles of a call in the mjai protocol fit it, whoever makes it: ``pai`` and ``consumed``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx.games.riichi.records.mjai.mjai import TILE_NAMES
from suphx.games.riichi.table.tile import EAST, kind_of_face

CALL_SIZES = {"chi": 2, "pon": 2, "daiminkan": 3, "ankan": 4, "kakan": 3}
"""Type of a call -> tiles of ``consumed``."""


def check_call(event: Mapping[str, Any], faces: Sequence[int], called: int | None) -> None:
    """Check the faces of ``consumed``; ``called``: the face of ``pai``, None for a closed kan.

    ValueError if there are more or fewer tiles than the call has, or if together they are no run and no equal tiles.
    """
    name = event["type"]
    if len(faces) != CALL_SIZES[name]:
        raise ValueError(f"consumed of {name} has {len(faces)} tiles: it must have {CALL_SIZES[name]}")
    tiles = [*faces, *([] if called is None else [called])]
    kinds = sorted(kind_of_face(face) for face in tiles)
    steps = [kind - kinds[0] for kind in kinds]
    is_run = steps == [0, 1, 2] and kinds[0] < EAST and kinds[0] % 9 <= 6
    if not (is_run if name == "chi" else not any(steps)):
        raise ValueError(f"{name} of {', '.join(TILE_NAMES[face] for face in tiles)} is impossible")
