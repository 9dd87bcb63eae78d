"""Benchmarks of `suphx bench`.

Imports agents/ and storage/; its selfplay/ also imports parts/ and on_ray/.
Start in timing.py.
"""
