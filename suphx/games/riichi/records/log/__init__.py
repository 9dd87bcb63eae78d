"""A recorded game in memory: the log, building and playing it back, replaying it through the engine.

Imports engine/, hand/ and table/.
Start in gamelog.py, then replay.py.
"""
