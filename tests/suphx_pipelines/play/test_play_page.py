"""The page of ``suphx play``: its words and scripts, and whole games in a real browser that clicks what is visible."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from suphx_pipelines.play import riichi_server
from suphx_pipelines.play.riichi_seats import play_words
from suphx_pipelines.play.riichi_server import SCRIPTS, SHARED_SCRIPTS, PlayApp, play_page
from suphx_pipelines.viewer.viewer_page import LANGUAGES, VIEWS, shared_script
from tests.browser import Browser, Page
from tests.page_checks import unreadable_texts
from tests.pictures import screenshot
from tests.suphx_pipelines.play.clicking_player import (
    READY,
    ClickingPlayer,
    assert_saved,
    needs_chromium,
    play_to_the_end,
    tables,
)
from tests.suphx_platform.local_web.running_server import running_server

PAGE = Path(riichi_server.__file__).parent / "page"
BOXES = """[...document.querySelectorAll("#table, #hand button")].map((each) => {
  const box = each.getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom];
})"""

_COUNT_NOTICES = """(() => {
  window.tries = window.notices = 0;
  window.WebSocket = class extends WebSocket {
    constructor(...values) {
      super(...values);
      window.tries += 1;
    }
  };
  const watched = { childList: true, characterData: true, subtree: true };
  new MutationObserver(() => { window.notices += 1; }).observe(document.querySelector("#notice"), watched);
})()"""


def test_each_language_has_all_words() -> None:
    english = json.loads((PAGE / "words" / "en.json").read_text(encoding="utf-8"))
    for language in LANGUAGES:
        words = json.loads((PAGE / "words" / f"{language}.json").read_text(encoding="utf-8"))
        assert words["words"].keys() == english["words"].keys()
        assert words["keys"].keys() == english["keys"].keys()
        for key, text in english["words"].items():
            assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", words["words"][key])), key


def test_every_word_that_scripts_and_page_name_exists() -> None:
    known = play_words()["en"]["words"].keys()
    text = "".join(path.read_text(encoding="utf-8") for path in (PAGE / "script").glob("*.js"))
    text += "".join([*map(shared_script, SHARED_SCRIPTS), *map(VIEWS["riichi"].script, VIEWS["riichi"].scripts)])
    html = (PAGE / "play.html").read_text(encoding="utf-8")
    used = set(re.findall(r"word\(\"([^\"]+)\"", text)) | set(re.findall(r'data-word="([^"]+)"', html))
    assert used <= known


def test_all_scripts_are_part_of_the_page_and_read_no_html() -> None:
    assert {path.stem for path in (PAGE / "script").iterdir()} == {"seat", *SCRIPTS}
    for path in (PAGE / "script").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)


def test_the_page_refers_to_nothing_outside() -> None:
    page = play_page(host="127.0.0.1:1")
    assert set(re.findall(r"(?:https?|wss?)://[^\"';` )]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "ws://127.0.0.1:1",
        "ws://${location.host}/play${location.search}",
    }
    assert "url(" not in page


@pytest.mark.slow
@needs_chromium
def test_a_game_is_played_by_clicks_and_followed_by_another(tmp_path: Path) -> None:
    games = tables(tmp_path)
    with running_server(PlayApp(games).asgi()) as server, Browser() as browser:
        person = ClickingPlayer(browser, server.link())
        page, address = person.page, person.address
        table = games.find(person.table)
        assert table is not None
        play_to_the_end({person: table.session}, seconds=300, reload_after=40)
        (record,) = tmp_path.iterdir()
        assert_saved(record, page)
        viewer = browser.open(page.value("document.querySelector('#viewer').href"))
        viewer.wait("document.querySelectorAll('#moves li').length > 3")
        page.reload()
        page.wait("document.querySelector('#viewer') !== null")
        assert page.click("#again")
        page.wait(f"location.href !== {json.dumps(address)}")
        page.wait(READY)


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("scheme", screenshot.SCHEMES)
def test_a_whole_deal_on_a_phone_has_no_overflow_and_only_readable_text(tmp_path: Path, scheme: str) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        person = ClickingPlayer(browser, server.link(), 360, 740)
        page = person.page
        page.show_scheme(scheme)
        page.press("h")
        page.wait("document.querySelector('#hint-panel [aria-pressed=true]') !== null")
        has_ended = False
        while not has_ended:
            page.wait(READY)
            has_ended = page.value("document.querySelector('#next:enabled, #viewer') !== null")
            assert page.value("document.documentElement.scrollWidth") == 360
            assert unreadable_texts(page) == []
            if not has_ended:
                person.click_something()
        assert person.clicks > 3


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(("width", "height"), [(667, 375), (844, 390), (932, 430)])
def test_a_phone_on_its_side_shows_table_and_hand_at_once(tmp_path: Path, width: int, height: int) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        page = ClickingPlayer(browser, server.link(), width, height).page
        page.wait("document.querySelectorAll('#hand button').length >= 13")
        assert page.value("document.documentElement.scrollWidth") == width
        places = page.value(BOXES)
        assert len(places) >= 14
        assert [box for box in places if box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height] == []
        table, *tiles = places
        assert table[2] - table[0] > height * 0.75
        assert all(tile[0] >= table[2] and tile[2] - tile[0] >= 20 for tile in tiles)


@pytest.mark.slow
@needs_chromium
def test_keys_discard_show_hints_and_cancel(tmp_path: Path) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        page = ClickingPlayer(browser, server.link()).page
        page.wait("document.querySelector('#hand button:enabled') !== null")
        page.press("h")
        page.wait("document.querySelector('.best') !== null")
        page.press("ArrowLeft")
        assert page.value("document.activeElement.classList.contains('drawn')")
        assert page.value("document.activeElement.getAttribute('aria-label').endsWith(', just drawn')")
        page.press("d")
        page.wait("document.querySelectorAll('.seat.own .river .tile').length === 1")


@pytest.mark.slow
@needs_chromium
def test_a_page_whose_server_has_stopped_says_so(tmp_path: Path) -> None:
    with Browser() as browser:
        with running_server(PlayApp(tables(tmp_path)).asgi()) as server:
            page = ClickingPlayer(browser, server.link()).page
        page.wait("!document.querySelector('#notice').hidden")
        assert "connection to the server is lost" in page.text()
        assert "if it was started again, open its new link" in page.text()
        page.value(_COUNT_NOTICES)
        page.wait("window.tries >= 3")
        assert page.value("window.notices") == 0, "a screen reader would read it again after each try"


def wait_for_turn(page: Page, refuse: Callable[[], None]) -> None:
    """Refuse every claim until a tile can be discarded."""
    for _ in range(20):
        page.wait(READY)
        if page.value("document.querySelector('#hand button:enabled') !== null"):
            return
        refuse()
    raise AssertionError("twenty claims, and no turn")


@pytest.mark.slow
@needs_chromium
def test_the_keyboard_goes_from_the_result_of_a_deal_into_the_hand(tmp_path: Path) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        page = ClickingPlayer(browser, server.link()).page
        for _ in range(200):
            page.wait(READY)
            if page.value("document.querySelector('#next') !== null"):
                break
            page.press("0")
            page.press("d")
        page.press("Tab")
        page.value("document.querySelector('#next').focus()")
        page.press("Enter")
        page.wait("document.querySelector('#next') === null")
        wait_for_turn(page, lambda: page.press("0"))
        page.wait("document.querySelector('#hand').contains(document.activeElement)", 5)


FOCUSED = "document.activeElement.dataset.action ?? ''"
FOCUSED_PLACE = "[...document.querySelectorAll('#hand button')].indexOf(document.activeElement)"


@pytest.mark.slow
@needs_chromium
def test_the_focus_stays_in_the_hand_when_a_hint_comes_and_after_a_discard(tmp_path: Path) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        person = ClickingPlayer(browser, server.link())
        page = person.page
        page.wait("document.querySelector('#hand button:enabled') !== null")
        for _ in range(3):
            page.press("ArrowRight")
        action, tile = page.value(FOCUSED), page.value(FOCUSED_PLACE)
        assert (action, tile) != ("", -1)
        page.press("h")
        page.wait("document.querySelector('.best') !== null")
        assert (page.value(FOCUSED), page.value(FOCUSED_PLACE)) == (action, tile)
        page.press("Enter")
        page.wait("document.querySelectorAll('.seat.own .river .tile').length === 1")

        def press_pass() -> None:
            page.value("document.querySelector('.call.pass').focus()")
            page.press("Enter")

        wait_for_turn(page, press_pass)
        page.wait(f"{FOCUSED_PLACE} === {tile}", 5)


@pytest.mark.slow
@needs_chromium
def test_offered_moves_are_told_in_a_live_region(tmp_path: Path) -> None:
    words = play_words()["en"]["words"]
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        person = ClickingPlayer(browser, server.link())
        page = person.page
        claims = 0
        while not claims:
            page.wait(READY)
            names = page.value("[...document.querySelectorAll('.call b')].map((each) => each.textContent)")
            told = page.value("document.querySelector('[aria-live=polite]#offer').textContent")
            assert all(name in told for name in names)
            if words["pass"] in names:
                claims += 1
                assert told.startswith(words["choose_claim"])
                tile = page.value("document.querySelector('.call .faces .tile').getAttribute('aria-label')")
                assert tile in told
            person.click_something()
