"""The commands, one file each.

Imports arguments/.
Start in run.py.
"""
