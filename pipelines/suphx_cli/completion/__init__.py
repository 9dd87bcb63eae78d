"""Completion of commands in a shell: what may follow, and the script that asks for it.

May import: everything below the command line. Start reading in ``completion.py``.
"""
