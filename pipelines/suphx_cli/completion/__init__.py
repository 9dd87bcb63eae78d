"""Completion of commands in a shell: what may follow, and the script that asks for it. Start in completion.py."""
