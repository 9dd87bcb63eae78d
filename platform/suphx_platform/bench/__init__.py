"""Benchmarks of `suphx bench`.

Imports every other room of the platform.
Start in timing.py.
"""
