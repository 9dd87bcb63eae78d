"""The same parts as Ray actors: placement, supervision, restarts, transfer.

Imports backend/ and parts/.
Start in ray_backend.py, then topology.py.
"""
