"""Benchmarks of `suphx bench`. Start in timing.py."""
