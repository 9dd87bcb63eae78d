"""Groups of tables that are played without end, for self-play; whole games between players.

Imports records/, features/, bots/, engine/ and suphx.experience.
Start in table_group.py.
"""
