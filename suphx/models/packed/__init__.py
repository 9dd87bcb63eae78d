"""Nets on packed planes: unpacking on the device, and the first layer computed from the bits.

Imports suphx.kernel and the layout of planes, which suphx.games.riichi offers.
Start in packed_stem.py. Planes are made in suphx/games/riichi/features.
"""
