"""Agents by name or from a folder of checkpoints, and how they choose.

Start in agent.py: a new agent is a class with the methods of ``Agent``. Scripted ones belong to their game; new forms
of address are in suphx_platform/agents.
"""
