"""The mjai event format, read and written.

Imports log/, engine/, hand/ and table/.
Start in mjai.py.
"""
