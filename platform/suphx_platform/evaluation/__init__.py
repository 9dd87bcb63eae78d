"""Games of matches and tournaments on the nodes of a Ray cluster.

Imports on_ray/, agents/ and kernels/.
Start in ray_game_workers.py.
"""
