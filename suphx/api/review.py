"""What an agent would have done in a game, decision by decision."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from suphx.api.game_list import AgentLike, as_agent
from suphx.games.riichi import NO_ANSWER, GameLog, action_name, kyoku_name, recorded_decisions
from suphx.selfplay.agents.opinion import ask_agent

REVIEW_COLUMNS = pa.schema(
    [
        ("deal", pa.int16()),
        ("name", pa.string()),
        ("seat", pa.int8()),
        ("choices", pa.int16()),
        ("played", pa.string()),
        ("agent", pa.string()),
        ("agrees", pa.bool_()),
        ("p_played", pa.float32()),
        ("p_agent", pa.float32()),
    ]
)


def review(game: GameLog, agent: AgentLike) -> pa.Table:
    """Return one row for each decision with more than one legal move whose answer the record shows.

    ``agent`` is null where it never comes into such a position; ``p_played`` and ``p_agent`` are the probabilities of
    its nets, null where no net decides. ValueError for an unknown agent and a game that contradicts the rules.

    >>> from suphx import review, simulate
    >>> (game,) = simulate("ukeire", seed=7)
    >>> all(review(game, "ukeire")["agrees"].to_pylist())
    True
    """
    decisions = recorded_decisions(game)
    opinions = ask_agent(as_agent(agent), decisions)
    rows = []
    for i in np.flatnonzero((decisions.tables["num_legal"] > 1) & decisions.is_known).tolist():
        table, played, own = decisions.tables[i], int(decisions.actions[i]), int(opinions.actions[i])
        has_answer = own != NO_ANSWER
        log = game.kyokus[int(decisions.kyokus[i])]
        rows.append(
            {
                "deal": int(decisions.kyokus[i]),
                "name": kyoku_name(log.kyoku, log.honba),
                "seat": int(table["actor"]),
                "choices": int(table["num_legal"]),
                "played": action_name(played),
                "agent": action_name(own) if has_answer else None,
                "agrees": own == played if has_answer else None,
                "p_played": _probability(opinions.probabilities[i, played]),
                "p_agent": _probability(opinions.probabilities[i, own]) if has_answer else None,
            }
        )
    return pa.Table.from_pylist(rows, schema=REVIEW_COLUMNS)


def _probability(value: np.float32) -> float | None:
    return float(value) if np.isfinite(value) else None
