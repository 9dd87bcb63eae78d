"""Self-play whose decisions are tried out: what each of several actions leads to, on the same wall.

Imports suphx.models, suphx.games and suphx.experience; nothing of agents/ or rollouts/.
Start in branch_collector.py.
"""
