"""What self-play leaves for learning, for any game: observations, policy outputs, trajectories and their rows.

Imports suphx.kernel.
Start in observation.py, then trajectory.py.
"""
