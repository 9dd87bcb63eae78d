"""Review of a game: what an agent would have done at each decision."""

from __future__ import annotations

import pyarrow as pa

from suphx.evaluation.review import ReviewedDecision, review_game
from suphx.games.riichi.records.game_log import GameLog
from suphx.selfplay.agents.agent import AgentLike, as_agent

REVIEW_COLUMNS = pa.schema(
    [
        ("deal", pa.int16()),
        ("name", pa.string()),
        ("seat", pa.int8()),
        ("kind", pa.string()),
        ("turn", pa.int16()),
        ("shanten", pa.int8()),
        ("under_riichi", pa.bool_()),
        ("choices", pa.int16()),
        ("played", pa.string()),
        ("agent", pa.string()),
        ("agrees", pa.bool_()),
        ("p_played", pa.float32()),
        ("p_agent", pa.float32()),
    ]
)


def review(game: GameLog, agent: AgentLike) -> pa.Table:
    """Return one row for each decision with several moves at which both the record and the agent show a choice.

    ``deal`` counts from 0; ``kind``: what the decision is about (win, claim, kan, riichi, discard); ``turn``: number
    of the seat's next discard, from 1; ``choices``: number of different moves; ``p_played`` and ``p_agent`` are the
    probabilities of the agent's nets, null where no net decides. ``suphx review`` counts the same decisions. ValueError
    for an unknown agent and a game that contradicts the rules.

    >>> from suphx import review, simulate
    >>> (game,) = simulate("ukeire", seed=7)
    >>> all(review(game, "ukeire")["agrees"].to_pylist())
    True
    """
    decisions = review_game(game, as_agent(agent)).decisions
    return pa.Table.from_pylist([_row(decision) for decision in decisions], schema=REVIEW_COLUMNS)


def _row(decision: ReviewedDecision) -> dict[str, object]:
    return {
        "deal": decision.deal_number - 1,
        "name": decision.deal,
        "seat": decision.seat,
        "kind": decision.kind,
        "turn": decision.turn,
        "shanten": decision.shanten,
        "under_riichi": decision.is_under_riichi,
        "choices": len(decision.moves),
        "played": decision.played,
        "agent": decision.agent,
        "agrees": not decision.differs,
        "p_played": decision.played_probability,
        "p_agent": decision.agent_probability,
    }
