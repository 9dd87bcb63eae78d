"""One rating over all games: what is stored of them, the fit, its intervals, and who plays next.

Imports the other modules of evaluation/.
Start in rating.py, then plackett_luce.py.
"""
