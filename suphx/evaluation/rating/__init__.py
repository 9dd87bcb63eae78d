"""One rating over all games: the games of a tournament, what is stored of them, the fit, its intervals, who plays next.

Start in rating.py, then rating.py and tournament.py; side_tournament.py has games of two sides.
"""
