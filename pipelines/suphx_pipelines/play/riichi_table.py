"""Riichi at a table with agents: what ``suphx play`` needs of it beside its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from suphx.games.game import Agent
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.play import GameSession, move_hint
from suphx.games.riichi.records.decisions import recorded_decisions
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import MAX_SEED
from suphx.kernel.record import Records
from suphx.selfplay.agents.opinion import agent_opinions, opinions_at
from suphx.selfplay.rollouts.rollout import GameFollower
from suphx_pipelines.viewer.viewer_page import viewer_page

WINDS = {"tonpuu": 1, "hanchan": 2}
"""Planned rounds of a game, by its length."""


class RiichiTable:
    """Everything that play at a table asks of riichi."""

    name = "riichi"
    max_seed = MAX_SEED
    kernel_groups: tuple[str, ...] = ("engine", "replay", "encoder", "scripted games", "net games")

    def new_session(self, act: Callable[..., Any], length: str, **values: Any) -> GameSession:
        """Return a game by Tenhou's rules; ``length``: hanchan or tonpuu."""
        return GameSession(act, rules=replace(tenhou(), num_winds=WINDS[length]), **values)

    def hint(self, agent: Agent, tables: Records) -> dict[str, Any]:
        """Return what an agent would do, as ``move_hint`` does; ValueError if it cannot play this game to its end."""
        opinions = opinions_at(agent, tables)
        if isinstance(agent, GameFollower):
            reason = agent.forfeits(0).get(int(tables["actor"][0]))
            if reason is not None:
                raise ValueError(f"the agent gives no hints in this game: {reason}")
        return move_hint(tables[0], int(opinions.actions[0]), opinions.probabilities[0])

    def write_record(self, session: GameSession, folder: Path) -> Path:
        """Write the game as mjlog."""
        log = session.log()
        write_records([log], folder, "mjlog")
        return folder / f"{log.id}.mjlog"

    def finished_page(self, session: GameSession, agent: Agent | None, name: str) -> str:
        """Return the viewer's page of the game, seen from the person's seat."""
        log = session.log()
        opinions = replace(agent_opinions(agent, recorded_decisions(log)), name=name) if agent else None
        return viewer_page(viewer_game(log, opinions), title=log.id, seat=session.seat)


TABLE = RiichiTable()
