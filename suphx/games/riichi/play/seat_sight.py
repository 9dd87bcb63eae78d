"""What one seat sees of a state of the table (records/view/viewer_state.py): nothing that is hidden from it."""

from __future__ import annotations

from suphx.games.riichi.records.view.shown_tiles import SEATS
from suphx.games.riichi.records.view.viewer_state import State
from suphx.games.riichi.records.view.viewer_steps import UNKNOWN


def seen_state(state: State, seat: int) -> State:
    """Return the state with UNKNOWN in place of each tile that ``seat`` (0-3) cannot see, and without others' waits.

    Hands that are shown at the end of a deal (``open``) stay.
    """
    hidden = [other for other in range(SEATS) if other != seat and other not in state["open"]]
    seen = dict(state)
    for other in hidden:
        seen[f"hand{other}"] = [UNKNOWN] * len(state[f"hand{other}"])
        seen[f"waits{other}"] = []
    seen["drawn"] = [[owner, UNKNOWN if owner in hidden else face] for owner, face in state["drawn"]]
    return seen
