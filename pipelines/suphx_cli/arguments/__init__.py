"""Arguments that several commands share, and what they do alike.

Imports suphx_pipelines.summary and suphx_platform.console, when a command is executed, and suphx.
Start in parsing.py.
"""
