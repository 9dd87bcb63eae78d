"""What a net sees: columns of a state, of its last moves, and of a candidate move.

Imports cards/, moves/ and engine/.
Start in columns.py; encoder.py has the kernel.
"""
