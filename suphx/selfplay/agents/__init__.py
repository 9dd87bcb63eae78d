"""Agents by name or from a folder of checkpoints, and how they choose.

Start in agent.py: a new agent is a class with the methods of ``Agent``. A scripted one has its name in choice.py and
its kernel in suphx/games/riichi/bots.py; new forms of address are in suphx_platform/agents.
"""
