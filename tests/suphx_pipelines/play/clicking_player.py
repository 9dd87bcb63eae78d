"""A person at the page of ``suphx play``: looks at what a real browser shows, and presses only what can be pressed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from suphx.games.riichi.archive.archive import iter_records, verify_records
from suphx.games.riichi.play import GameSession
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.seated_game import Agents, PlayConfig
from suphx_pipelines.play.server import PlayTables
from tests.browser import Browser, Page

READY = "document.querySelector('.call, #hand button:enabled, #next:enabled, #viewer') !== null"
TILES = (
    "[...document.querySelectorAll('.felt .tile, .tray .tile')].map((each) => each.getAttribute('aria-label')).join()"
)
_OFFERED = """[...document.querySelectorAll("#hand button:enabled, #ask .call:enabled")].map((each) =>
  Number(each.dataset.action))"""
_NOTE_SENT = """(() => {
  const send = WebSocket.prototype.send;
  window.sent = [];
  WebSocket.prototype.send = function (text) {
    window.lastSocket = this;
    window.sent.push(text);
    send.call(this, text);
  };
})()"""
_SECONDS = 30


def tables(out: Path, agent: str = "ukeire", length: str = "tonpuu", seed: int = 1) -> PlayTables:
    config = PlayConfig(agent=agent, seed=seed, length=length, out=out)
    return PlayTables(config, Agents(agent, load_agent))


class ClickingPlayer:
    """One person with one page.

    >>> with Browser() as browser:
    ...     person = ClickingPlayer(browser, server.link())
    ...     while not person.is_over:
    ...         person.click_something()
    """

    def __init__(self, browser: Browser, link: str, width: int = 1280, height: int = 800) -> None:
        self.page: Page = browser.open(link, width=width, height=height, script=_NOTE_SENT)
        self.page.wait(READY)
        self.page.choose("#pace", "instant")
        self.clicks = 0

    @property
    def address(self) -> str:
        """The address of the page, with the table."""
        return str(self.page.value("location.href"))

    @property
    def table(self) -> str:
        """The id of the table."""
        return self.address.partition("#")[2]

    @property
    def is_over(self) -> bool:
        """Tell whether the page shows the end of the game."""
        return bool(self.page.value("document.querySelector('#viewer') !== null"))

    def offered(self) -> set[int]:
        """Return the actions that can be pressed."""
        return set(self.page.value(_OFFERED))

    def num_sent(self) -> int:
        """Return how many messages the page has sent."""
        return int(self.page.value("window.sent.length"))

    def forge(self, **message: Any) -> None:
        """Send a message that the page itself would not send."""
        self.page.value(f"window.lastSocket.send({json.dumps(json.dumps(message))})")

    def click_something(self) -> str:
        """Press what a player in a hurry would, if something can be pressed; return what."""
        pressed = self._press()
        self.clicks += bool(pressed)
        return pressed

    def reload(self) -> None:
        """Load the page again: the game must be as it was."""
        self.page.wait(READY)
        address, before = self.address, self.page.value(TILES)
        self.page.reload()
        self.page.wait(f"{READY} && location.href === {json.dumps(address)}")
        assert self.page.value(TILES) == before

    def _press(self) -> str:
        page = self.page
        for selector in (".win-call", ".call.pass", "#next"):
            if page.click(selector):
                return selector
        if page.click(".call[aria-pressed=false]"):  # riichi, and then one of its discards
            page.wait("document.querySelector('.call.pressed') !== null")
            assert page.click("#hand button:enabled")
            return "riichi"
        return "tile" if page.click("#hand button:enabled:last-child") or page.click("#hand button:enabled") else ""


def assert_only_legal_moves_are_offered(person: ClickingPlayer, session: GameSession) -> bool:
    """Compare what can be pressed with what the rules allow; return False if it is not the person's turn.

    The server may be playing in its thread, and the page may not have heard of it yet: both are read until they agree.
    """
    end = time.monotonic() + _SECONDS
    while session.is_persons_turn:
        legal = {move["action"] for move in session.view()["moves"]}
        offered = person.offered()
        if offered == legal:
            return True
        assert time.monotonic() < end, f"the page offers {sorted(offered)}, the rules {sorted(legal)}"
    return False


def play_to_the_end(persons: dict[ClickingPlayer, GameSession], seconds: float, reload_after: int = 0) -> None:
    """Let each person click in turn until all games are over; after ``reload_after`` clicks each page is reloaded."""
    end, compared = time.monotonic() + seconds, 0
    reloaded: set[ClickingPlayer] = set()
    while not all(person.is_over for person in persons) and time.monotonic() < end:
        for person, session in persons.items():
            if person.is_over:
                continue
            compared += assert_only_legal_moves_are_offered(person, session)
            person.click_something()
            if reload_after and person.clicks >= reload_after and person not in reloaded:
                person.reload()
                reloaded.add(person)
    assert all(person.is_over for person in persons), [person.page.text() for person in persons]
    assert compared > 30 * len(persons)
    assert not reload_after or reloaded == set(persons)


def assert_saved(record: Path, page: Page) -> Any:
    """Compare the record of a finished game with the rules and with what its page shows; return the game."""
    report = verify_records([record], workers=1)
    assert (report.games, report.differences) == (1, 0)
    (game,) = iter_records([record], quarantine=Quarantine())
    assert all(f"{points:,}" in page.text() for points in game.final_scores or ())
    return game
