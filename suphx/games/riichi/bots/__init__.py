"""Scripted agents, and what they decide by.

Imports features/, engine/, hand/ and table/.
Start in baseline.py: ukeire, the agent that all are compared with.
"""
