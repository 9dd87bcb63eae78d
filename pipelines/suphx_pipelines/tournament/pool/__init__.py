"""Who plays tonight, what earlier nights have left, and how games are played and kept.

Imports engine/ and recipe/, suphx_platform and suphx.
Start in tournament_pool.py.
"""
