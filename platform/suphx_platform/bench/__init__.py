"""Benchmarks of `suphx bench`.

One folder for each game; what serves every game, and the benchmark of the storage, is here. Imports agents/ and
storage/. Start in timing.py.
"""
