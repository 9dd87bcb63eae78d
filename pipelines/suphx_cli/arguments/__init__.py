"""Arguments that several commands share.

Imports suphx_platform.console and suphx.
Start in parsing.py.
"""
