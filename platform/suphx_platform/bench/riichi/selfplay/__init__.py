"""The benchmark of self-play, in one process and over Ray.

Imports parts/ and on_ray/.
Start in selfplay.py.
"""
