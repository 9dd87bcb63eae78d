"""Groups of tables that are played without end, for self-play.

Imports features/ and engine/.
Start in table_group.py.
"""
