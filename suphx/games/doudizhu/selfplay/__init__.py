"""Groups of tables that are played without end, for self-play; whole games between players.

Imports records/, features/, bots/ and engine/.
Start in table_group.py.
"""
