"""Groups of tables that are played without end, for self-play; whole games between players.

Imports features/, bots/, engine/ and suphx.experience.
Start in table_group.py.
"""
