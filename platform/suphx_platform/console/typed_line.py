"""Asks the person at the terminal for a line."""

from __future__ import annotations

import sys


def typed_line(prompt: str) -> str:
    """Return what is typed at ``prompt``; EOFError at the end of the input.

    The prompt goes to stderr if stdout is no terminal: then a program reads the result of the command there.
    """
    if sys.stdout.isatty():
        return input(prompt)
    print(prompt, end="", file=sys.stderr, flush=True)
    return input()
