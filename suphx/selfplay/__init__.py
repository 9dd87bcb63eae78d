"""Agents that play, and whole games, deals and branches of games between them.

Imports suphx.models, suphx.games and suphx.experience.
Start in agents/agent.py, then rollouts/rollout.py.
"""
