"""Tenhou's own format, read and written.

Imports log/, hand/ and table/.
Start in mjlog.py.
"""
