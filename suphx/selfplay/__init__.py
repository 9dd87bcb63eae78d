"""Agents that play, and whole games, deals and branches of games between them.

Start in agents/agent.py, then rollouts/rollout.py.
"""
