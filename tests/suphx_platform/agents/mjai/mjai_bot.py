"""A program in the mjai protocol for tests: ``mjai_bot.py WAY SEAT``.

It follows its own hand from the events alone, so that an event too many or too few ends it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Event = dict[str, Any]
KILL_ONCE = "kill-once:"
NONE: Event = {"type": "none"}


class Hand:
    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.tiles: list[str] = []
        self.drawn = ""

    def see(self, event: Event) -> None:
        kind, is_own = event["type"], event.get("actor") == self.seat
        if kind == "start_kyoku":
            self.tiles, self.drawn = list(event["tehais"][self.seat]), ""
            others = [hand for owner, hand in enumerate(event["tehais"]) if owner != self.seat]
            assert all(tile == "?" for hand in others for tile in hand)
        elif kind == "tsumo":
            assert is_own or event["pai"] == "?"
            if is_own:
                self.drawn = event["pai"]
                self.tiles.append(self.drawn)
        elif is_own and kind == "dahai":
            self.tiles.remove(event["pai"])
            self.drawn = ""
        elif is_own and kind in ("chi", "pon", "daiminkan", "ankan"):
            for tile in event["consumed"]:
                self.tiles.remove(tile)

    def is_to_discard(self) -> bool:
        return len(self.tiles) % 3 == 2


def answer(way: str, hand: Hand) -> Event:
    if not hand.is_to_discard():
        return NONE
    if way == "tsumogiri":
        return {"type": "dahai", "actor": hand.seat, "pai": hand.drawn, "tsumogiri": True}
    if way == "thrower":  # of a tile that nobody has
        return {"type": "dahai", "actor": hand.seat, "pai": "?", "tsumogiri": False}
    return {"type": "dahai", "actor": hand.seat, "pai": min(hand.tiles), "tsumogiri": False}


def kill_once(wish: str) -> None:
    """Wish the death of the process that plays with this program, if the file ``wish`` is there.

    The file holds a pattern of paths. The program removes the file, waits until a path fits, and writes the process
    into ``wish.process`` for ``bot_program.reaper``: its launcher keeps it from killing anything itself.
    """
    try:
        pattern = Path(wish).read_text()
        Path(wish).unlink()
    except FileNotFoundError:
        return
    while not list(Path("/").glob(pattern.removeprefix("/"))):
        time.sleep(0.05)
    launcher = Path(f"/proc/{os.getppid()}/stat").read_text()
    Path(f"{wish}.process").write_text(launcher.rpartition(")")[2].split()[1] + "\n")
    time.sleep(60)


def play(way: str, lines: Iterable[str], say: Callable[[str], object]) -> int:
    """Answer every line of a game and return the seat."""
    hand = Hand(-1)
    for line in lines:
        for event in json.loads(line):
            if event["type"] == "start_game":
                hand.seat = event["id"]
            hand.see(event)
        if way.startswith(KILL_ONCE):
            kill_once(way.removeprefix(KILL_ONCE))
        if way == "broken":
            raise RuntimeError("the bot is broken")
        if way != "mute":
            say("hello" if way == "babbler" else json.dumps(answer(way, hand)))
    return hand.seat


if __name__ == "__main__":
    assert play(sys.argv[1], sys.stdin, lambda text: print(text, flush=True)) == int(sys.argv[2])
