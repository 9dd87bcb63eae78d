"""Nets on packed planes: unpacking on the device, and the first layer computed from the bits.

Imports the layout of planes.
Start in packed_stem.py.
"""
