"""The benchmarks of riichi: simulator, hands, planes, nets, self-play and matches, and how peers compare.

Its selfplay/ and matches/ import agents/, parts/ and on_ray/, adapt.py imports agents/; the rest imports bench/ only.
Start in simulator.py.
"""
