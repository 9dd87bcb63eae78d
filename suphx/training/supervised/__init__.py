"""Supervised learning of the five heads.

Imports data/, loop/, suphx.models and suphx.games.
Start in supervised.py.
"""
