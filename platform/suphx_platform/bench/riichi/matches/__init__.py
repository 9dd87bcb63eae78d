"""What matches cost: hanchans that shared walls save, lengths of sequential matches, speed and memory.

Start in match.py.
"""
