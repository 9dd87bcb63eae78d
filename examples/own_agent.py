"""Write an agent of your own and let it play: it wins when it can, never calls, and discards what it draws.

python examples/own_agent.py
"""

import numpy as np

from suphx import play_match
from suphx.games.riichi import NUM_ACTIONS, PASS, RON, TSUMO, TSUMOGIRI
from suphx.selfplay.agents.agent import load_agent


class Waiter:
    name = "waiter"

    def act(self, tables, indices):
        """Return one legal action per table: int16 (n,)."""
        preference = np.ones(NUM_ACTIONS)
        preference[[RON, TSUMO, PASS, TSUMOGIRI]] = 5, 5, 4, 3
        return (tables["legal"][indices] * preference).argmax(axis=1).astype(np.int16)


def load(address):
    return Waiter() if address == "waiter" else load_agent(address)


print(play_match("waiter", "random", num_hanchans=40, seed=1, load=load).verdict())
