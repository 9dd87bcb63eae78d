"""Scripted agents, and what they decide by.

Imports features/ and engine/.
Start in baseline.py: ukeire, the agent that all are compared with.
"""
