"""Benchmarks of `suphx bench`.

Imports agents/ and storage/; its selfplay/ and matches/ also import parts/ and on_ray/.
Start in timing.py.
"""
