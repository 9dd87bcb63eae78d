"""Asks an agent about a game that the viewer will show, with its progress on the console."""

from __future__ import annotations

from suphx.games.riichi import GameLog, Opinions, recorded_decisions
from suphx.selfplay.agents.agent import Agent
from suphx.selfplay.agents.opinion import agent_opinions
from suphx_platform.console.console import Console


def shown_opinions(agent: Agent, game: GameLog, console: Console) -> Opinions:
    """Return what ``agent`` would do at each decision of ``game``; ValueError when its moves contradict the rules."""
    decisions = recorded_decisions(game)
    with console.progress("decisions", len(decisions.tables), name="asking the agent") as progress:
        return agent_opinions(agent, decisions, progress=progress.advance)
