"""What an agent would do at each decision of a recorded game whose seats choose among candidate moves.

>>> decisions = game.recorded_decisions(record)
>>> game.viewer_game([record], [player_opinions(decisions, trained.player())])
"""

from __future__ import annotations

import numpy as np

from suphx.games.candidate_game import CandidateOpinion, Player, RecordedDecisions, ValuingPlayer


def player_opinions(decisions: RecordedDecisions, player: Player) -> list[CandidateOpinion | None]:
    """Return the agent's choice for each decision, with the values of all candidates if it has values.

    None where only one move is legal.
    """
    found: list[CandidateOpinion | None] = [None] * sum(len(seen.tables) for seen in decisions.seen)
    for seen in decisions.seen:
        values = player.values(seen) if isinstance(player, ValuingPlayer) else None
        chosen = player.choose(decisions.simulator, seen) if values is None else None
        for row, table in enumerate(seen.tables.tolist()):
            first, end = seen.offsets[row : row + 2].tolist()
            if end - first < 2:
                continue
            candidates = seen.moves[first:end]
            if values is not None:
                own = values[first:end]
                found[table] = CandidateOpinion(candidates, int(np.argmax(own)), own)
            elif chosen is not None:
                found[table] = CandidateOpinion(candidates, int(chosen[row]) - first, None)
    return found
