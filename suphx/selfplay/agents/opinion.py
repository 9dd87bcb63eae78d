"""Asks an agent at every decision of a recorded game: the viewer shows it, reviews count it; or at any other tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suphx.games.riichi import NO_ANSWER, NUM_ACTIONS, Opinions, RecordedDecisions
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import Agent, NetAgent

_DECISIONS_A_CALL = 256
"""So many that a small net takes little longer for them than for one, and a large one tells how far it is."""


def ask_agent(
    agent: Agent, decisions: RecordedDecisions, progress: Callable[[float], None] | None = None
) -> Opinions:  # fmt: skip
    """Return what ``agent`` would do at each decision, whoever made it.

    ``progress`` is called with numbers of decisions; their sum is that of all.
    """
    parts = []
    for first in range(0, len(decisions.tables), _DECISIONS_A_CALL):
        tables = decisions.tables[first : first + _DECISIONS_A_CALL]
        parts.append(ask_at(agent, tables))
        if progress is not None:
            progress(len(tables))
    if not parts:
        return ask_at(agent, decisions.tables)
    return Opinions(
        agent.name,
        np.concatenate([part.actions for part in parts]),
        np.concatenate([part.probabilities for part in parts]),
    )


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
