"""The address of mjai_bot.py as an agent."""

from __future__ import annotations

import sys
from pathlib import Path

BOT = Path(__file__).with_name("mjai_bot.py")


def bot(way: str, seconds: str = "-120") -> str:
    """Return the address; ``seconds``: a minus sign and how long a move may take."""
    return f"mjai{seconds}:{sys.executable} -S {BOT} {way}"
