"""Tenhou's own format, read and written.

Imports records/log/.
Start in mjlog.py.
"""
