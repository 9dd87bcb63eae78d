"""The planes of what all seats see: discards, calls, safety, the progress of the game, claims.

Imports layout/, engine/, hand/ and table/.
Start in situation.py and open_tiles.py.
"""
