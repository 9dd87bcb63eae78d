"""Nets without gradients: on any device, and a faster form for CPUs.

Imports nets/ and packed/.
Start in inference.py.
"""
