"""The address of mjai_bot.py as an agent, and what kills for it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BOT = Path(__file__).with_name("mjai_bot.py")


def bot(way: str, seconds: str = "-120") -> str:
    """Return the address; ``seconds``: a minus sign and how long a move may take."""
    return f"mjai{seconds}:{sys.executable} -S {BOT} {way}"


@contextmanager
def reaper(wish: Path) -> Iterator[None]:
    """Kill the process that a program wishes dead, while the block runs."""
    is_over = threading.Event()

    def kill() -> None:
        place = Path(f"{wish}.process")
        while not is_over.wait(0.02):
            if place.exists() and (text := place.read_text()).endswith("\n"):
                os.kill(int(text), signal.SIGKILL)
                return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
