"""Scripted agents: random, and one that plays by rules; whole games inside one kernel.

Imports cards/, moves/ and engine/.
Start in rule_play.py.
"""
