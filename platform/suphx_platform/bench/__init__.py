"""Benchmarks of `suphx bench`.

One folder for each game; what serves every game, and the benchmark of the storage, is here. Start in timing.py.
"""
