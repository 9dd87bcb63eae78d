"""Arguments that several commands share.

Imports suphx_platform.console.
Start in parsing.py.
"""
