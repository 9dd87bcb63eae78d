"""Load an agent and ask it for one decision: the first discard of a game.

python examples/one_decision.py [AGENT]
"""

import sys

from suphx import Simulator, action_name, load_agent, tenhou

agent = load_agent(sys.argv[1] if len(sys.argv) > 1 else "ukeire")
simulator = Simulator(1, tenhou())  # one table; thousands can be played side by side
simulator.reset(seeds=[2026])
waiting = simulator.waiting()  # indices of the tables that wait for a decision
(action,) = agent.act(simulator.tables, waiting)
table = simulator.tables[0]
counts = table["hand"][table["actor"]].tolist()  # of the 34 kinds: 1-9m, 1-9p, 1-9s, 1-7z
hand = " ".join(f"{kind % 9 + 1}{'mpsz'[kind // 9]}" for kind, count in enumerate(counts) for _ in range(count))
print(f"seat {table['actor']} has {hand}")
print(f"{agent.name}: {action_name(action)}")
simulator.advance(waiting, [action])
