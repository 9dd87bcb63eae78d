"""The viewer with single deals of cards and of tiles in a real browser: hidden hands, phones, all languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.mahjong.tile import kind_name
from suphx.games.registry import candidate_game, load_game
from suphx.selfplay.agents.opinion import candidate_opinions
from suphx.selfplay.rollouts.rollout import play_games
from suphx_pipelines.viewer.viewer_page import LANGUAGES, viewer_page
from tests.browser import SCHEMES, Browser, Page, needs_chromium
from tests.games.doudizhu.builders import new_agent
from tests.page_checks import unreadable_texts

pytestmark = [pytest.mark.slow, needs_chromium]
NAMES = ("Anna", "</script><img src=x onerror=document.title=1>", "Cleo", "Dan")
PHONE = 360
HANDS = """[...document.querySelectorAll('.seat')].map((seat) =>
  [...seat.querySelectorAll('.hand use')].map((each) => each.getAttribute('href').split('-')[1]))"""


def values_of(name: str) -> dict[str, Any]:
    """Return what the viewer shows of two deals; those of cards have the values of nets."""
    game = load_game(name)
    agents = [game.scripted_agent(game.agents[-1])] * len(game.seat_names)
    seating, names = np.array([list(range(len(agents)))] * 2), NAMES[: len(agents)]
    records = list(play_games(agents, seating, range(2), game.new_rules({}), game=name, names=names))
    if name != "doudizhu":
        return game.viewer_game(records)
    own, player = candidate_game(name), new_agent()
    opinions = [candidate_opinions(own.recorded_decisions(record), player) for record in records]
    return own.viewer_game(records, opinions) | {"agent": "nets"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


def opened(browser: Browser, folder: Path, values: dict[str, Any], width: int = 1280, height: int = 800) -> Page:
    path = folder / "page.html"
    path.write_text(viewer_page(values, title="deals"), encoding="utf-8")
    page = browser.open(path.as_uri(), width=width, height=height)
    page.wait("location.hash !== '' && document.querySelectorAll('#moves li').length > 0")
    return page


@pytest.mark.parametrize("game", ["doudizhu", "dazhong"])
def test_every_step_shows_the_hands_of_its_state_and_hides_those_of_the_others(
    game: str, browser: Browser, tmp_path: Path
) -> None:
    values = values_of(game)
    page, deal, is_cards = opened(browser, tmp_path, values), values["deals"][0], game == "doudizhu"
    state = dict(deal["start"])
    for number, step in enumerate([None, *deal["steps"]]):
        state.update(step["changes"] if step else {})
        assert page.value("location.hash") == f"#1.{number}.1"
        for seat, shown in enumerate(page.value(HANDS)):
            held = state[f"hand{seat}"]
            if not is_cards:
                held = held + [face for owner, face in state["drawn"] if owner == seat]
            is_open = seat == 0 or seat in state["open"]
            assert shown == [str(each if is_cards else kind_name(each)) if is_open else "back" for each in held]
        if is_cards:
            stake = page.value("document.querySelector('.stake strong').textContent")
            assert stake == f"Stake {2 ** state['bombs']}"
            assert page.value("document.querySelector('.seat.turn') === null") == (state["turn"] < 0)
        page.press("ArrowRight")
    assert page.value("location.hash") == "#2.0.1"
    page.press("3")
    page.press("h")
    assert page.value("location.hash") == "#2.0.3"
    assert "back" not in {face for hand in page.value(HANDS) for face in hand}
    assert page.value("document.title") == "deals"
    assert page.value("document.querySelector('#wall')") is None


@pytest.mark.parametrize("game", ["doudizhu", "dazhong"])
def test_a_phone_shows_every_panel_without_overflow_and_readable(game: str, browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, values_of(game), width=PHONE, height=740)
    differs = [("n", ".verdict.differs")] if game == "doudizhu" else []
    for scheme in SCHEMES:
        page.show_scheme(scheme)
        page.wait(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
        for language in LANGUAGES:
            page.choose("#language", language)
            for key, shown in (("Home", "#moves"), *differs, ("End", "#result:not([hidden])")):
                page.press(key)
                page.wait(f"document.querySelector('{shown}') !== null")
                assert page.value("document.documentElement.scrollWidth") == PHONE, (language, key)
                assert unreadable_texts(page) == [], (language, key)
