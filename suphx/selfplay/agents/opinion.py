"""Asks an agent at every decision of a recorded game: the viewer shows it, reviews count it; or at any other tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suphx.games.riichi import NO_ANSWER, NUM_ACTIONS, Opinions, RecordedDecisions
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import Agent, NetAgent


def ask_agent(agent: Agent, decisions: RecordedDecisions, seats: Sequence[int] | None = None) -> Opinions:
    """Return what ``agent`` would do at each decision, whoever made it; ``seats`` (0-3): it is asked at theirs only."""
    if seats is None:
        return ask_at(agent, decisions.tables)
    asked = np.isin(decisions.tables["actor"], seats)
    own = ask_at(agent, decisions.tables[asked])
    actions = np.full(len(asked), NO_ANSWER, np.int16)
    probabilities = np.full((len(asked), NUM_ACTIONS), np.nan, np.float32)
    actions[asked], probabilities[asked] = own.actions, own.probabilities
    return Opinions(agent.name, actions, probabilities)


def ask_at(agent: Agent, tables: Records) -> Opinions:
    """Return what ``agent`` would do at each TABLE record (n,) that waits for its actor.

    An agent with nets also gives its probability for every legal move; those of others are NaN. A baseline that never
    calls has no answer where the player has called.
    """
    indices = np.arange(len(tables))
    actions = agent.act(tables, indices)
    actions[tables["legal"][indices, actions] == 0] = NO_ANSWER
    if isinstance(agent, NetAgent):
        probabilities = agent.move_probabilities(tables, indices)
    else:
        probabilities = np.full((len(indices), NUM_ACTIONS), np.nan, np.float32)
    return Opinions(agent.name, actions, probabilities)
