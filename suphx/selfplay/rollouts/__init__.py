"""Whole games and paired deals between agents, thousands at once. Start in rollout.py."""
