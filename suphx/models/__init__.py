"""Nets in torch: architectures, inference and checkpoints.

Imports the features of suphx.games.
Start in nets/policy.py.
"""
