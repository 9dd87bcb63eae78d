"""The mjai event format, read and written.

Imports records/log/.
Start in mjai.py.
"""
