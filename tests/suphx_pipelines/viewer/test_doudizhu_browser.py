"""The viewer with games of DouDizhu in a real browser: keys, hidden hands, phones, all languages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.doudizhu.selfplay import ScriptedPlayer
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.selfplay.agents.opinion import candidate_opinions
from suphx.selfplay.rollouts.rollout import play_games
from suphx_pipelines.viewer.viewer_page import LANGUAGES, viewer_page
from tests.browser import SCHEMES, Browser, Page, needs_chromium
from tests.games.doudizhu.builders import new_agent
from tests.page_checks import unreadable_texts

pytestmark = [pytest.mark.slow, needs_chromium]
GAME = candidate_game("doudizhu")
HOSTILE = "</script><img src=x onerror=document.title=1>"
PHONE = 360


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    """Return three games of the rule agent, with the values of nets."""
    names, seating = ("Anna", HOSTILE, "Cleo"), np.array([[0, 1, 2]] * 3)
    records = list(play_games([ScriptedPlayer("rule")] * 3, seating, range(3), Rules(), game="doudizhu", names=names))
    player = new_agent()
    opinions = [candidate_opinions(GAME.recorded_decisions(record), player) for record in records]
    return GAME.viewer_game(records, opinions) | {"agent": "nets"}


def opened(browser: Browser, tmp_path: Path, values: dict[str, Any], width: int = 1280, height: int = 800) -> Page:
    path = tmp_path / "page.html"
    path.write_text(viewer_page(values, title="games"), encoding="utf-8")
    page = browser.open(path.as_uri(), width=width, height=height)
    page.wait("location.hash !== '' && document.querySelectorAll('#moves li').length > 0")
    return page


def count(page: Page, selector: str) -> int:
    return int(page.value(f"document.querySelectorAll({json.dumps(selector)}).length"))


def test_every_step_shows_the_hands_of_its_state_and_hides_those_of_the_others(
    browser: Browser, tmp_path: Path, values: dict[str, Any]
) -> None:
    page = opened(browser, tmp_path, values)
    deal = values["deals"][0]
    state = dict(deal["start"])
    for number, step in enumerate([None, *deal["steps"]]):
        state.update(step["changes"] if step else {})
        assert page.value("location.hash") == f"#1.{number}.1"
        for seat in range(3):
            hand = state[f"hand{seat}"]
            faces = page.value(
                f"[...document.querySelectorAll('.seat.at{seat} .hand use')].map((each) => each.getAttribute('href'))"
            )
            is_open = seat == 0 or seat in state["open"]
            assert faces == [f"#card-{rank}" if is_open else "#card-back" for rank in hand]
            assert page.value(f"document.querySelector('.seat.at{seat} .count').textContent") == str(len(hand))
        stake = page.value("document.querySelector('.stake strong').textContent")
        assert stake == f"Stake {2 ** state['bombs']}"
        assert page.value("document.querySelector('.seat.turn') === null") == (state["turn"] < 0)
        page.press("ArrowRight")
    assert page.value("location.hash") == "#2.0.1"
    page.press("3")
    page.press("h")
    assert page.value("location.hash") == "#2.0.3"
    assert count(page, ".hand use[href='#card-back']") == 0
    assert page.value("document.title") == "games"
    assert page.value("document.querySelector('#wall')") is None


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_phone_shows_every_panel_without_overflow_and_readable(
    browser: Browser, tmp_path: Path, values: dict[str, Any], scheme: str
) -> None:
    page = opened(browser, tmp_path, values, width=PHONE, height=740)
    page.show_scheme(scheme)
    page.wait(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
    for language in LANGUAGES:
        page.choose("#language", language)
        for key, shown in (("Home", "#moves"), ("n", ".verdict.differs"), ("End", "#result:not([hidden])")):
            page.press(key)
            page.wait(f"document.querySelector('{shown}') !== null")
            assert page.value("document.documentElement.scrollWidth") == PHONE, (language, key)
            assert unreadable_texts(page) == [], (language, key)
