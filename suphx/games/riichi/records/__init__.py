"""Games as files: the log in memory, Tenhou's mjlog, mjai, tenhou.net/6, and archives of them.

Imports engine/, hand/ and table/.
Start in log/gamelog.py: what a recorded game is.
"""
