"""The viewer in a real browser: keys, mouse and touch, real records with their points, rare situations by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.decisions import recorded_decisions
from suphx.games.riichi.records.game_log import RESULT_NAMES, GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.yaku_number import YAKU_NAMES
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.opinion import agent_opinions
from suphx_pipelines.viewer.viewer_page import LANGUAGES, VIEWS, viewer_page
from tests.browser import SCHEMES, Browser, Page, needs_chromium
from tests.games.riichi.builders.games import random_game
from tests.page_checks import unreadable_texts
from tests.selfplay.agents.small_agent import small_agent

pytestmark = [pytest.mark.slow, needs_chromium]
FOLDERS = ("suphx-tokujo-hanchan", "careers-hanchan", "houou-mixed-201811", "houou-tonpuu-2023-2024")
GAMES_OF_A_FOLDER = 5
PHONE = 360
"""Pixels: the width of a small phone."""
Place = tuple[int, int, int]
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture
def open_game(browser: Browser, tmp_path: Path) -> Open:
    """Return what opens the page of a game at a size."""

    def open_page(game: GameLog, values: dict[str, Any] | None = None, width: int = 1280, height: int = 800) -> Page:
        path = tmp_path / f"game-{len(list(tmp_path.iterdir()))}.html"
        path.write_text(viewer_page(values or viewer_game(game), title=game.id), encoding="utf-8")
        page = browser.open(path.as_uri(), width=width, height=height)
        page.wait("location.hash !== '' && document.querySelectorAll('#moves li').length > 0")
        return page

    return open_page


def place(page: Page) -> Place:
    """Return deal, step and seat as the address has them."""
    deal, step, seat = (int(part) for part in page.value("location.hash").lstrip("#").split("."))
    return deal, step, seat


def test_keys_go_through_the_game(open_game: Open) -> None:
    game = random_game(0)
    values = viewer_game(game, agent_opinions(load_agent("ukeire"), recorded_decisions(game)))
    steps = [len(deal["steps"]) for deal in values["deals"]]
    page = open_game(game, values)
    assert place(page) == (1, 0, 1)
    for key, expected in (
        ("ArrowRight", (1, 1, 1)),
        ("ArrowRight", (1, 2, 1)),
        ("ArrowLeft", (1, 1, 1)),
        ("End", (1, steps[0], 1)),
        ("ArrowRight", (2, 0, 1)),
        ("ArrowLeft", (1, steps[0], 1)),
        ("Home", (1, 0, 1)),
        ("ArrowDown", (2, 0, 1)),
        ("ArrowDown", (3, 0, 1)),
        ("ArrowUp", (2, 0, 1)),
        ("3", (2, 0, 3)),
        ("1", (2, 0, 1)),
    ):
        page.press(key)
        assert place(page) == expected, key
    for key, button in (("h", "#hands"), ("w", "#wall")):
        for pressed in ("true", "false"):
            page.press(key)
            assert page.value(f"document.querySelector('{button}').getAttribute('aria-pressed')") == pressed
    page.press("End")
    addresses = {"2": "2.0.1", "2.9999.2": "2.0.2", "1.5": "1.5.2", "x.y": "1.5.2", "1.3.1": "1.3.1"}
    for typed, shown in addresses.items():
        page.value(f"location.hash = '#{typed}'")
        page.wait(f"location.hash === '#{shown}'")
    page.press("Home")
    page.press("n")
    deal, step, _ = place(page)
    decisions = values["deals"][deal - 1]["steps"][step - 1]["decisions"]
    assert any(decision["differs"] and decision["seat"] == 0 for decision in decisions)
    assert page.value("document.querySelectorAll('.verdict.differs').length") == 1
    page.press("n")
    page.press("p")
    assert place(page) == (deal, step, 1)
    page.press(" ")
    page.wait(f"location.hash !== '#{deal}.{step}.1'")  # it plays
    page.press(" ")
    page.press("?")
    assert page.value("document.querySelector('#keys').open")
    page.press("ArrowRight")  # belongs to the open dialog


def middle(page: Page, share: float) -> tuple[float, float]:
    """Return a point of the table, ``share`` of its width from the left."""
    box = page.value(
        "(({x, y, width, height}) => [x, y, width, height])(document.querySelector('#table').getBoundingClientRect())"
    )
    return box[0] + share * box[2], box[1] + box[3] / 2


def test_the_mouse_steps_by_halves_of_the_table_the_wheel_and_the_lists(open_game: Open) -> None:
    page = open_game(random_game(0))
    right, left = middle(page, 0.8), middle(page, 0.2)
    page.press_place(*right)
    page.press_place(*right)
    assert place(page)[1] == 2
    page.press_place(*left)
    assert place(page)[1] == 1
    page.turn_wheel(*right, 120)
    page.wait("location.hash === '#1.2.1'")
    page.turn_wheel(*right, -120)
    page.wait("location.hash === '#1.1.1'")
    assert page.click("#deals tbody tr:nth-child(2) button")
    assert place(page)[:2] == (2, 0)
    assert page.click("#moves li:nth-child(4) button")
    assert place(page)[:2] == (2, 3)
    assert page.click("#players .player:nth-child(2)")
    assert place(page)[2] in (2, 3, 4)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390)])
def test_a_finger_swipes_and_taps_and_the_table_fits_the_phone(open_game: Open, width: int, height: int) -> None:
    page = open_game(random_game(0), width=width, height=height)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    right, left = middle(page, 0.8), middle(page, 0.2)
    page.touch(right, middle(page, 0.5), left)
    page.wait("location.hash === '#1.1.1'")
    page.touch(right)
    page.wait("location.hash === '#1.2.1'")
    page.touch(left)
    page.wait("location.hash === '#1.1.1'")
    page.touch(left, middle(page, 0.5), right)
    page.wait("location.hash === '#1.0.1'")
    box = page.value(
        "(({top, bottom, right}) => [top, bottom, right])(document.querySelector('#table').getBoundingClientRect())"
    )
    assert box[0] >= 0
    assert box[1] <= height
    assert box[2] <= width
    assert page.value("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_phone_shows_every_panel_without_overflow_and_readable(scheme: str, open_game: Open) -> None:
    game = random_game(0)
    values = viewer_game(game, agent_opinions(small_agent(), recorded_decisions(game)))
    page = open_game(game, values, width=PHONE, height=740)
    page.show_scheme(scheme)
    page.wait(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
    for key, shown in (
        ("n", ".verdict.differs"),
        ("h", "#hands[aria-pressed=true]"),
        ("w", "#wall-panel:not([hidden])"),
        ("End", "#result:not([hidden])"),
        ("?", "#keys[open]"),
    ):
        page.press(key)
        page.wait(f"document.querySelector('{shown}') !== null")
        assert page.value("document.documentElement.scrollWidth") == PHONE, key
        assert unreadable_texts(page) == [], key


def shown_points(page: Page) -> list[int]:
    """Return the points of the four seats after the deal, as the panel of its result shows them."""
    texts = page.value("[...document.querySelectorAll('#result .changes li b')].map((each) => each.textContent)")
    return [int(text.replace(",", "").replace("−", "-").replace("\u2009", "")) for text in texts]


@pytest.mark.records
@pytest.mark.parametrize("folder", FOLDERS)
def test_real_games_show_the_points_of_their_records_after_each_deal(
    folder: str, records: Path, open_game: Open
) -> None:
    games = list(islice(iter_records([records / folder], quarantine=Quarantine()), GAMES_OF_A_FOLDER))
    assert len(games) == GAMES_OF_A_FOLDER
    for game in games:
        page = open_game(game)
        after = [kyoku.scores for kyoku in game.kyokus[1:]] + ([game.final_scores] if game.final_scores else [])
        assert len(after) >= len(game.kyokus) - 1
        for number, points in enumerate(after, 1):
            page.press("End")
            assert place(page)[0] == number
            assert shown_points(page) == list(points)
            page.press("ArrowDown")
        page.close()


@pytest.mark.records
def test_every_yaku_and_draw_of_the_rare_situations_is_shown_by_its_name(records: Path, open_game: Open) -> None:
    words = VIEWS["riichi"].words()
    seen: set[str] = set()
    for game in iter_records([records / "rare-situations"], quarantine=Quarantine(), is_fragment_allowed=True):
        values = viewer_game(game)
        results = [deal["result"] for deal in values["deals"]]
        names = [{result["kind"], *(name for win in result["wins"] for name in win["yaku"])} for result in results]
        if set().union(*names) <= seen:
            continue
        page = open_game(game, values)
        for number, (result, new) in enumerate(zip(results, names, strict=True), 1):
            if new <= seen:
                continue
            seen |= new
            page.value(f"location.hash = '#{number}.{len(values['deals'][number - 1]['steps'])}.1'")
            page.wait(f"document.querySelector('#deal').value === '{number - 1}'")
            for language in LANGUAGES:
                page.choose("#language", language)
                assert_result_is_shown(page, result, words[language]["words"], words[language]["yaku"])
        page.close()
    assert set(RESULT_NAMES.values()) <= seen
    assert len(seen & set(YAKU_NAMES)) >= 30


def assert_result_is_shown(page: Page, result: dict[str, Any], words: dict[str, str], yaku: dict[str, str]) -> None:
    """Compare the panel of a result, in one language, with what happened."""
    title = page.value("document.querySelector('#result h2').textContent")
    if result["wins"]:
        first = result["wins"][0]
        assert title.endswith(f": {words['tsumo' if first['seat'] == first['loser'] else 'ron']}")
    else:
        assert title.endswith(f": {words['draw ' + result['kind']]}")
    lists = page.value(
        "[...document.querySelectorAll('#result .win')].map((win) => "
        "[...win.querySelectorAll('.yaku li')].map((each) => each.textContent))"
    )
    assert len(lists) == len(result["wins"])
    for win, shown in zip(result["wins"], lists, strict=True):
        assert shown[: len(win["yaku"])] == [yaku[name] for name in win["yaku"]]
