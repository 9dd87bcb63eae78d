"""What a net sees: the planes of a position, packed to bits, and samples for supervised learning.

Imports records/, engine/, hand/ and table/; no torch.
Start in encoder.py; docs/features.md describes every plane.
"""
