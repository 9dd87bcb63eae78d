"""Write an agent of your own and let it play: it wins when it can, never calls, and discards what it draws.

It is so simple that it loses even to `random`.

python examples/own_agent.py
"""

import numpy as np

from suphx import NUM_ACTIONS, PASS, RON, TSUMO, TSUMOGIRI, play_match


class Waiter:
    name = "waiter"

    def act(self, tables, indices):
        """Return one legal action per table: int16 (n,). Tables have hidden tiles, too: docs/agents.md lists them."""
        preference = np.ones(NUM_ACTIONS)
        preference[[RON, TSUMO, PASS, TSUMOGIRI]] = 5, 5, 4, 3
        return (tables["legal"][indices] * preference).argmax(axis=1).astype(np.int16)


print(play_match(Waiter(), "random", num_hanchans=40, seed=1).verdict())
