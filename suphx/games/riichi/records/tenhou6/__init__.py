"""The JSON of Tenhou's log editor (tenhou.net/6), read and written.

Imports log/, mjai/, mjlog/, hand/ and table/.
Start in tenhou6.py.
"""
