"""What simulators, engines and learners exchange: observations, policy outputs, trajectories and packed planes.

Imports suphx.kernel.
Start in observation.py, then decisions.py and trajectory.py. Planes are made in suphx/games/riichi/features.
"""
