"""What a command prints: progress, tables, the end after Ctrl-C.

Imports nothing of the platform.
Start in console.py.
"""
