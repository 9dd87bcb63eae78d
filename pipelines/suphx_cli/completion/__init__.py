"""Completion of commands in a shell: what may follow, and the script that asks for it.

Imports arguments/, commands/ and everything below the command line.
Start in completion.py.
"""
