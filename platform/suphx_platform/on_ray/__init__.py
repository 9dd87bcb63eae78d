"""The same parts as Ray actors: placement, supervision, restarts, transfer.

Imports backend/ and parts/; the folder itself its actor/.
Start in ray_backend.py, then topology.py.
"""
