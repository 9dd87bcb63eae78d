"""An agent that answers in the mjai protocol, so that other programs can seat it in their games.

>>> player = MjaiPlayer(load_any_agent("ukeire"), seat=2)
>>> player.see([{"type": "start_game"}, {"type": "start_kyoku", ...}, ...])
>>> player.answer()  # {"type": "dahai", "actor": 2, "pai": "E", "tsumogiri": False}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from suphx.experience.observation import F32
from suphx.games.game import Agent
from suphx.games.riichi.records.mjai_table import MjaiTable, reply_of_action
from suphx.kernel.record import Records
from suphx.printable_text import shortened
from suphx.selfplay.agents.agent import NetAgent
from suphx_platform.agents.mjai.mjai_program import Event

_ONLY_TABLE = np.zeros(1, np.int64)


class MjaiPlayer:
    """Consumes: what an arena sends. Produces: an answer each time that it is asked."""

    def __init__(self, agent: Agent, seat: int | None = None, *, has_meta: bool = False) -> None:
        """``seat`` (0-3) may be None if the arena tells it; with ``has_meta`` answers carry probabilities.

        ValueError if the agent has no probabilities, or cannot play without seeing hidden tiles.
        """
        nets = agent if isinstance(agent, NetAgent) else None
        if has_meta and nets is None:
            raise ValueError(f"{agent.name!r} has no probabilities to send: use an agent of nets, or no meta data")
        if nets is not None and nets.sees_hidden_tiles:
            raise ValueError(f"{agent.name!r} needs the hidden tiles, which no arena shows: use nets of another stage")
        self._agent = agent
        self._judge = nets if has_meta else None
        self._table = MjaiTable(seat)

    def see(self, message: object) -> None:
        """Follow one event or a list of events; ValueError for anything else, an impossible event or an error."""
        for event in message if isinstance(message, list) else [message]:
            if not isinstance(event, dict):
                raise ValueError(f"{event!r:.100} is no mjai event: it must be a JSON object")
            if not isinstance(event.get("type", ""), str):
                raise ValueError(f"{event['type']!r:.100} is no type of an event: it must be a text")
            if event.get("type") == "error":
                raise ValueError(f"the arena reports an error: {shortened(str(event.get('message', event)), 300)}")
            self._table.see(event)

    def answer(self) -> Event:
        """Return the agent's move, ``{"type": "none"}`` if it passes or has nothing to decide."""
        tables = self._table.decision()
        if tables is None:
            return {"type": "none"}
        reply = move_of(tables[0], int(self._agent.act(tables, _ONLY_TABLE)[0]))
        if self._judge is None:
            return reply
        probabilities = self._judge.move_probabilities(tables, _ONLY_TABLE)[0]
        return reply | {"meta": {"moves": moves_of(tables[0], probabilities)}}


def decision_after(events: Iterable[Event]) -> Records | None:
    """Return a table (1,) that waits for the player who saw ``events``; None if it has nothing to decide.

    ValueError for an impossible event.
    """
    table = MjaiTable()
    for event in events:
        table.see(event)
    return table.decision()


def move_of(table: Records, action: int) -> Event:
    """Return an action as an answer in the mjai protocol."""
    return reply_of_action(table, action)


def moves_of(table: Records, probabilities: F32) -> list[dict[str, Any]]:
    """Return ``[{"move": answer, "p": probability}]`` of all legal moves, the most probable first."""
    legal = [a for a in np.flatnonzero(table["legal"]).tolist() if np.isfinite(probabilities[a])]
    legal.sort(key=lambda action: -float(probabilities[action]))
    return [{"move": move_of(table, a), "p": round(float(probabilities[a]), 4)} for a in legal]
