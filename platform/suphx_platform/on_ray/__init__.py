"""The same parts as Ray actors: placement, supervision, restarts, transfer.

Imports backend/ and parts/, and its own folders actor/, supervision/ and monte_carlo/.
Start in ray_backend.py, then topology.py.
"""
