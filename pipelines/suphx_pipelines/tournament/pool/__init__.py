"""Who plays tonight, what earlier nights have left, and how games are played and kept.

Imports engine/, recipe/, and the evaluation of suphx.
Start in tournament_pool.py.
"""
