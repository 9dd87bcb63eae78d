"""A recorded hand step by step, for the page with a mahjong table, of games whose whole state is one record.

Their records have these fields in common: ``actor``, ``turn``, ``hand``, ``drawn``, ``wall_left``, ``num_melds``,
``meld_type``, ``meld_kind``, ``num_discards`` and ``river``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, NUM_KINDS, PON_MELD, meld_size
from suphx.kernel.record import Records

State: TypeAlias = dict[str, Any]
CALLED = 4 * 64
"""Added to a tile of a river that somebody has claimed."""
_SEATS = range(4)
_MELDS = {CHI_MELD: "chi", PON_MELD: "pon", ANKAN_MELD: "ankan", MINKAN_MELD: "minkan", KAKAN_MELD: "kakan"}


def shown_steps(
    tables: Records, told: Sequence[tuple[str, int] | None], more: Callable[[Any], State]
) -> tuple[State, list[dict[str, Any]]]:
    """Return the state before the first draw, and steps ``{"kind", "seat", "faces", "changes", "decisions"}``.

    ``tables``: the record before each move, and after the last one. ``told``: of each move, its kind and tile if it
    is a step whatever follows, such as a discard; melds are told when they lie on the table. ``more``: what the game
    adds to a state, ``drawn`` and ``open`` if somebody has won; ``is_ended`` ends the steps.
    """
    states = [_state(table) | more(table) for table in tables]
    start = shown = _before_draw(states[0])
    steps: list[dict[str, Any]] = []

    def add(kind: str, seat: int, faces: list[int], state: State) -> None:
        nonlocal shown
        changed = {key: value for key, value in state.items() if shown[key] != value}
        steps.append({"kind": kind, "seat": seat, "faces": faces, "changes": changed, "decisions": []})
        shown = state

    def draw(state: State) -> None:
        ((seat, tile),) = state["drawn"]
        add("draw", seat, [tile], state)

    if states[0]["drawn"]:
        draw(states[0])
    for number, move in enumerate(told):
        before, after, state = tables[number], tables[number + 1], states[number + 1]
        has_drawn = np.sum(after["wall_left"]) < np.sum(before["wall_left"])
        moved = _before_draw(state) if has_drawn else state
        if move is not None:
            seat = int(before["actor"])
            add(move[0], seat, [move[1]] * (move[1] >= 0), {**moved, "turn": seat, "open": []})
        for seat, new in _new_melds(before, after):
            add(_MELDS[int(after["meld_type"][seat, new])], seat, _meld(after, seat, new)["faces"], moved)
        if has_drawn:
            draw(state)
    if states[-1]["is_ended"]:
        add("end", int(tables[-1]["turn"]), [], states[-1])
    return start, steps


def _state(table: Any) -> State:
    turn, drawn = int(table["turn"]), int(table["drawn"])
    state: State = {"turn": turn, "drawn": [[turn, drawn]] * (drawn >= 0), "left": int(np.sum(table["wall_left"]))}
    for seat in _SEATS:
        counts = table["hand"][seat].astype(np.int64)
        if drawn >= 0 and seat == turn:
            counts[drawn] -= 1
        state |= {
            f"hand{seat}": np.repeat(np.arange(NUM_KINDS), counts).tolist(),
            f"melds{seat}": [_meld(table, seat, place) for place in range(table["num_melds"][seat])],
            f"river{seat}": table["river"][seat][: table["num_discards"][seat]].tolist(),
        }
    return state


def _before_draw(state: State) -> State:
    """Return the state before its newest draw."""
    return {**state, "drawn": [], "left": state["left"] + len(state["drawn"])}


def _new_melds(before: Any, after: Any) -> list[tuple[int, int]]:
    """Return seat and place of the melds that a move has laid down, or added a tile to."""
    return [
        (seat, place)
        for seat in _SEATS
        for place in range(after["num_melds"][seat])
        if place >= before["num_melds"][seat] or before["meld_type"][seat, place] != after["meld_type"][seat, place]
    ]


def _meld(table: Any, seat: int, place: int) -> dict[str, Any]:
    kind, lowest = int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place])
    faces = [lowest, lowest + 1, lowest + 2] if kind == CHI_MELD else [lowest] * meld_size(kind)
    return {"faces": faces, "taken": None, "is_hidden": kind == ANKAN_MELD, "is_added": False}
