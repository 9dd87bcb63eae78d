"""What a net sees: the planes of a position, packed to bits, and samples for supervised learning.

Start in encoder.py; docs/features.md describes every plane.
"""
