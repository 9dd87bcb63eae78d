"""What an agent would do at each decision of a recorded game whose seats choose among candidate moves.

>>> decisions = game.recorded_decisions(record)
>>> game.viewer_game([record], [player_opinions(decisions, trained.player())])
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from suphx.experience.seat_observations import SeatObservations
from suphx.games.game import CandidateOpinion, Player, RecordedDecisions, ValuingPlayer


def player_opinions(decisions: RecordedDecisions, player: Player) -> list[CandidateOpinion | None]:
    """Return the agent's choice for each decision, with the values of all candidates if it has values.

    None where only one move is legal.
    """
    found: list[CandidateOpinion | None] = [None] * sum(len(seen.tables) for seen in decisions.seen)
    for seen in decisions.seen:
        opinions = seat_opinions(decisions.simulator, seen, player)
        for table, opinion in zip(seen.tables.tolist(), opinions, strict=True):
            if len(opinion.candidates) > 1:
                found[table] = opinion
    return found


def seat_opinions(simulator: Any, seen: SeatObservations, player: Player) -> list[CandidateOpinion]:
    """Return what the agent would do at each table of ``seen``, with the values of its candidates if it has values."""
    values = player.values(seen) if isinstance(player, ValuingPlayer) else None
    chosen = player.choose(simulator, seen) if values is None else None
    found = []
    for row, (first, end) in enumerate(pairwise(seen.offsets.tolist())):
        candidates = seen.moves[first:end]
        if values is not None:
            own = values[first:end]
            found.append(CandidateOpinion(candidates, int(np.argmax(own)), own))
        elif chosen is not None:
            found.append(CandidateOpinion(candidates, int(chosen[row]) - first, None))
    return found
