"""Nets in torch: architectures, inference and checkpoints.

Imports suphx.kernel and the names that suphx.games.riichi offers.
Start in nets/policy.py.
"""
