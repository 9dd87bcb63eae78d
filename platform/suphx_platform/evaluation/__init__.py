"""Games of matches and tournaments on the nodes of a Ray cluster.

Imports on_ray/, agents/, backend/, kernels/, parts/ and console/.
Start in ray_game_workers.py.
"""
