"""Load an agent and ask it for one decision: the first discard of a game.

python examples/one_decision.py [AGENT]
"""

import sys

from suphx.games.riichi import Simulator, action_name, hand_text, tenhou
from suphx.selfplay.agents.agent import load_agent

agent = load_agent(sys.argv[1] if len(sys.argv) > 1 else "ukeire")
simulator = Simulator(1, tenhou())  # one table; thousands can be played side by side
simulator.reset(seeds=[2026])
waiting = simulator.waiting()  # indices of the tables that wait for a decision
(action,) = agent.act(simulator.tables, waiting)
table = simulator.tables[0]
print(f"seat {table['actor']} has {hand_text(table, table['actor'])}")
print(f"{agent.name}: {action_name(action)}")
simulator.advance(waiting, [action])
