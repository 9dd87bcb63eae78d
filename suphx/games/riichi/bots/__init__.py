"""Scripted agents, and what they decide by.

Imports features/, engine/, hand/ and table/.
Start in scripted_play.py: ukeire, the agent that all are compared with.
"""
