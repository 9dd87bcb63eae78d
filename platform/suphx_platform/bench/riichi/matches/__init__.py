"""What matches cost: hanchans that shared walls save, lengths of sequential matches, speed and memory.

Imports selfplay/ beside it, agents/ and on_ray/actor/.
Start in match.py.
"""
