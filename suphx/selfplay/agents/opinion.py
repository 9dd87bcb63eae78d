"""Asks an agent at every decision of a recorded game: the viewer shows it, reviews count it; or at any other tables.

``agent_opinions`` is for riichi, ``candidate_opinions`` for games whose seats choose among candidate moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from suphx.games.game import Agent, CandidateOpinion, CandidateTables, ValuingAgent
from suphx.games.riichi.records.decisions import NO_ACTION, Opinions, RecordedDecisions
from suphx.games.riichi.table import NUM_ACTIONS
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import JudgingAgent, ask

_DECISIONS_A_CALL = 256
"""So many that a small net takes little longer for them than for one, and a large one tells how far it is."""


def agent_opinions(
    agent: Agent,
    decisions: RecordedDecisions,
    seats: Sequence[int] = range(4),
    *,
    progress: Callable[[float], None] = lambda number: None,
) -> Opinions:
    """Return what ``agent`` would do at each decision of ``seats`` (0-3), whoever made it; NO_ACTION at others.

    ``progress`` is called with numbers of decisions; their sum is that of all.
    """
    number = len(decisions.tables)
    asked = np.flatnonzero(np.isin(decisions.tables["actor"], list(seats)))
    actions = np.full(number, NO_ACTION, np.int16)
    probabilities = np.full((number, NUM_ACTIONS), np.nan, np.float32)
    if len(asked) < number:
        progress(number - len(asked))
    for first in range(0, len(asked), _DECISIONS_A_CALL):
        part = asked[first : first + _DECISIONS_A_CALL]
        own = opinions_at(agent, decisions.tables[part])
        actions[part], probabilities[part] = own.actions, own.probabilities
        progress(len(part))
    return Opinions(agent.name, actions, probabilities)


def opinions_at(agent: Agent, tables: Records) -> Opinions:
    """Return what ``agent`` would do at each TABLE record (n,) that waits for its actor; NO_ACTION where it would not
    be asked.

    An agent with nets also gives its probability for every legal move; those of others are NaN.
    """
    indices = np.arange(len(tables))
    actions = ask(agent, tables, indices).astype(np.int16)
    actions[tables["legal"][indices, actions] == 0] = NO_ACTION
    if isinstance(agent, JudgingAgent):
        probabilities = agent.move_probabilities(tables, indices)
    else:
        probabilities = np.full((len(indices), NUM_ACTIONS), np.nan, np.float32)
    return Opinions(agent.name, actions, probabilities)


def candidate_opinions(tables: CandidateTables, agent: Agent) -> list[CandidateOpinion]:
    """Return what the agent would do at each table that waits, with the values of its candidates if it has values."""
    indices = tables.waiting()
    offsets, moves = tables.legal(indices)
    values = agent.candidate_values(tables.state, indices) if isinstance(agent, ValuingAgent) else None
    chosen = ask(agent, tables.state, indices, tables.num_moves) if values is None else None
    found = []
    for row, (first, end) in enumerate(pairwise(offsets.tolist())):
        candidates = moves[first:end]
        if values is not None:
            own = values[first:end]
            found.append(CandidateOpinion(candidates, int(np.argmax(own)), own))
        elif chosen is not None:
            found.append(CandidateOpinion(candidates, int(np.flatnonzero(candidates == chosen[row])[0]), None))
    return found
