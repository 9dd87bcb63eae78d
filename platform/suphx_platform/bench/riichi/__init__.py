"""The benchmarks of riichi: simulator, hands, planes, nets, self-play and matches, and how peers compare.

Its selfplay/ and matches/ import agents/, parts/ and on_ray/; the rest imports other modules of bench/.
Start in simulator.py.
"""
