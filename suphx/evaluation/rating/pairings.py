"""How often each agent came before each other one in the games that both played."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from suphx.evaluation.rating.rated_games import RatedGame, game_table
from suphx.kernel.record import I64


def count_ahead(games: Iterable[RatedGame], agents: Sequence[str]) -> I64:
    """Return int64 [agents, agents]: in how many common games the agent of the row came before that of the column.

    ``agents`` are digests; games with others count for those that are in ``agents``.
    """
    table = game_table(games, agents)
    ahead = np.zeros((len(table.agents), len(table.agents)), np.int64)
    for better, worse in combinations(range(table.orders.shape[1]), 2):
        np.add.at(ahead, (table.orders[:, better], table.orders[:, worse]), 1)
    chosen = [table.agents.index(agent) for agent in agents]
    return ahead[np.ix_(chosen, chosen)]
