"""The steps of a deal, collected while a table goes from decision to decision, and the state that each leads to.

>>> steps = ViewerSteps(table, rules.red_bits)  # a TABLE record at the first decision of a deal
>>> steps.follow(table, action, phase)  # after ``action`` was applied in ``phase``
>>> steps.steps[-1]  # {"kind", "seat", "faces", "changes", "decisions"}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suphx.games.riichi.records.view.viewer_decision import kan_of_own, viewer_move
from suphx.games.riichi.records.view.viewer_state import State, changes, viewer_state
from suphx.games.riichi.table.action import ANKAN, RIICHI, TSUMO, TSUMOGIRI
from suphx.games.riichi.table.table import CHI_MELD, CLAIM, KYOKU_END, MINKAN_MELD, OWN_TURN, PON_MELD, ROB_KAN
from suphx.games.riichi.table.tile import kind_of_face

UNKNOWN = -1
"""In place of a face: a tile that is not shown."""

_CALLS = {CHI_MELD: "chi", PON_MELD: "pon", MINKAN_MELD: "minkan"}

Sight = Callable[[State], State]
"""A state -> what one seat sees of it."""


class ViewerSteps:
    """Consumes: a table after each of its decisions. Produces: ``steps``, and ``shown``, the state after the last one.

    With ``sight`` the steps contain only what it returns.
    """

    def __init__(self, table: Any, red_fives: int, sight: Sight = lambda state: state) -> None:
        """``table`` waits for the first decision of a deal; ``red_fives``: bit set of suits."""
        self._red = red_fives
        self._sight = sight
        self.steps: list[dict[str, Any]] = []
        dealt = viewer_state(table, red_fives)
        self._whole = _before_draw(dealt, is_rinshan=False)
        self.start = self.shown = sight(self._whole)
        """The state before the first draw."""
        self._draw(dealt)

    def follow(self, table: Any, action: int, phase: int) -> None:
        """Add what came of ``action``, taken in ``phase``: no step, one, or a move and the draw after it."""
        after = viewer_state(table, self._red)
        if table["phase"] == KYOKU_END:
            if phase not in (CLAIM, ROB_KAN) and (action <= TSUMOGIRI or ANKAN <= action < TSUMO):
                # The deal ends at once: the last discard without claims, four winds, four kans.
                self._move(action, {**after, "open": [], "scores": self._whole["scores"]})
            self._add("end", int(table["turn"]), [], after)
            return
        is_draw = table["phase"] == OWN_TURN
        moved = _before_draw(after, is_rinshan=bool(table["is_rinshan"])) if is_draw else after
        if phase in (CLAIM, ROB_KAN):
            if table["phase"] in (CLAIM, ROB_KAN):
                return
            self._call(table, moved)
        else:
            self._move(action, moved)
        if is_draw:
            self._draw(after)

    def _move(self, action: int, after: State) -> None:
        """Add the actor's move of its own turn."""
        seat = int(self._whole["turn"])
        kind, faces = _move_name(self._whole, action)
        if kind in ("ankan", "kakan"):  # the meld shows whether it has a red five
            melds = (sorted(meld["faces"], reverse=True) for meld in after[f"melds{seat}"])  # a red five first
            faces = next((each for each in melds if [kind_of_face(face) for face in each] == faces), faces)
        self._add(kind, seat, faces, {**after, "turn": seat})

    def _call(self, table: Any, after: State) -> None:
        """Add the claim that was granted when a window closed, if any."""
        seat = int(table["turn"])
        melds = after[f"melds{seat}"]
        if len(melds) > len(self._whole[f"melds{seat}"]):
            kind = _CALLS[int(table["meld_type"][seat, len(melds) - 1])]
            self._add(kind, seat, melds[-1]["faces"], after)

    def _draw(self, after: State) -> None:
        seat, face = self._sight(after)["drawn"][0]
        self._add("draw", seat, [face], after)

    def _add(self, kind: str, seat: int, faces: list[int], after: State) -> None:
        seen = self._sight(after)
        changed = changes(self.shown, seen)
        self.steps.append({"kind": kind, "seat": seat, "faces": faces, "changes": changed, "decisions": []})
        self._whole, self.shown = after, seen


def _move_name(shown: State, action: int) -> tuple[str, list[int]]:
    drawn = shown["drawn"][0][1] if shown["drawn"] else UNKNOWN
    if ANKAN <= action < TSUMO:
        name, tile = kan_of_own(action)
        return name, [tile] * 4
    move = viewer_move({"drawn": drawn, "claimed_face": UNKNOWN}, action)
    return ("riichi", []) if action == RIICHI else (move["move"], move["faces"])


def _before_draw(after: State, *, is_rinshan: bool) -> State:
    """Return the state before its newest draw."""
    return {
        **after,
        "drawn": [],
        "next": after["next"] - (not is_rinshan),
        "rinshan": after["rinshan"] - is_rinshan,
        "left": after["left"] + 1,
    }
