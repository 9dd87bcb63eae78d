"""The main loop of self-play reinforcement learning.

Imports backend/ and on_ray/.
Start in controller.py.
"""
