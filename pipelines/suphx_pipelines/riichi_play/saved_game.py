"""A finished game as a record file, and as a page of the viewer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from suphx.games.riichi import GameLog, recorded_decisions, viewer_game, write_records
from suphx.selfplay.agents.opinion import agent_opinions
from suphx_pipelines.riichi_play.seated_agents import SeatedAgents
from suphx_pipelines.viewer.viewer_page import viewer_page


def save_record(log: GameLog, folder: Path) -> Path:
    """Write the record as mjlog into ``folder`` and return its path; OSError if that fails."""
    write_records([log], folder, "mjlog")
    return folder / f"{log.id}.mjlog"


def finished_page(log: GameLog, seat: int, agents: SeatedAgents) -> str:
    """Return the viewer's page of the game, seen from ``seat``, with the agent's choices if it can be asked."""
    opinions = None
    if agents.judges_records:
        opinions = replace(agent_opinions(agents.agent, recorded_decisions(log)), name=agents.name)
    return viewer_page(viewer_game(log, opinions), title=log.id, seat=seat)
