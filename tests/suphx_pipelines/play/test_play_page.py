"""The page of ``suphx play`` in a real browser that clicks what is visible: whole games, keys, phones, readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suphx.games.riichi.play import GameSession
from suphx_pipelines.play.server import PlayTables, play_app
from suphx_pipelines.viewer.viewer_page import VIEWS
from suphx_platform.local_web import LocalServer
from tests.browser import SCHEMES, Browser, Page, needs_chromium
from tests.page_checks import unreadable_texts
from tests.suphx_pipelines.play.clicking_player import READY, ClickingPlayer, assert_saved, play_to_the_end, tables
from tests.suphx_platform.local_web.running_server import running_server

pytestmark = [pytest.mark.slow, needs_chromium]
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
FOCUSED = "document.activeElement.dataset.action ?? ''"
FOCUSED_PLACE = "[...document.querySelectorAll('#hand button')].indexOf(document.activeElement)"
MY_TURN = "document.querySelector('#hand button:enabled') !== null"
Sit = Callable[..., ClickingPlayer]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture
def games(tmp_path: Path) -> PlayTables:
    return tables(tmp_path)


@pytest.fixture
def server(games: PlayTables) -> Iterator[LocalServer]:
    with running_server(play_app(games)) as server:
        yield server


@pytest.fixture
def sit(browser: Browser, server: LocalServer) -> Sit:
    """Return what opens the page in a window of a size."""
    return lambda width=1280, height=800: ClickingPlayer(browser, server.link(), width, height)


def session_of(games: PlayTables, person: ClickingPlayer) -> GameSession:
    table = games.find(person.table)
    assert table is not None
    session: GameSession = table.session
    return session


def test_a_game_is_played_by_clicks_and_followed_by_another(
    games: PlayTables, sit: Sit, browser: Browser, tmp_path: Path
) -> None:
    person = sit()
    page, address = person.page, person.address
    play_to_the_end({person: session_of(games, person)}, seconds=300, reload_after=40)
    (record,) = tmp_path.iterdir()
    assert_saved(record, page)
    viewer = browser.open(page.value("document.querySelector('#viewer').href"))
    viewer.wait("document.querySelectorAll('#moves li').length > 3")
    page.reload()
    page.wait("document.querySelector('#viewer') !== null")
    assert page.click("#again")
    page.wait(f"location.href !== {json.dumps(address)}")
    page.wait(READY)


def test_no_click_and_no_message_makes_an_illegal_move(games: PlayTables, sit: Sit) -> None:
    person = sit()
    page, session = person.page, session_of(games, person)
    while not page.value("document.querySelector('.call.pass') !== null"):  # somebody's discard can be claimed
        person.click_something()
        page.wait(READY)
    before, number, offered, sent = list(session.actions), session.number, person.offered(), person.num_sent()
    assert page.value("document.querySelectorAll('#hand button').length") >= 13
    assert page.value("document.querySelectorAll('#hand button:enabled').length") == 0
    for place in range(1, 14):  # all tiles of the hand, although they are no buttons now
        page.press_at(f"#hand button:nth-child({place})")
    page.press("d")
    page.press("Enter")
    assert person.num_sent() == sent
    for action in sorted(set(range(-1, 122)) - offered):
        person.forge(type="move", number=number, action=action)
    person.forge(type="next", number=number)
    person.forge(type="move", number=number - 1, action=min(offered))
    page.wait("document.querySelector('#notice').innerText.includes('an earlier moment of the game')")
    assert (session.actions, session.number) == (before, number)
    assert page.click(".call.pass")
    page.wait(f"window.sent.at(-1).includes('\"number\":{number},')")
    page.wait(READY)
    assert session.actions[: len(before)] == before
    assert session.number == number + 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_whole_deal_on_a_phone_has_no_overflow_and_only_readable_text(sit: Sit, scheme: str) -> None:
    person = sit(360, 740)
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


@pytest.mark.parametrize(("width", "height"), [(667, 375), (932, 430)])
def test_a_phone_on_its_side_shows_table_and_hand_at_once(sit: Sit, width: int, height: int) -> None:
    page = sit(width, height).page
    page.wait("document.querySelectorAll('#hand button').length >= 13")
    assert page.value("document.documentElement.scrollWidth") == width
    places = page.value(BOXES)
    assert len(places) >= 14
    assert [box for box in places if box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height] == []
    table, *tiles = places
    assert table[2] - table[0] > height * 0.75
    assert all(tile[0] >= table[2] and tile[2] - tile[0] >= 20 for tile in tiles)


def test_keys_discard_show_hints_and_cancel(sit: Sit) -> None:
    page = sit().page
    page.wait(MY_TURN)
    page.press("h")
    page.wait("document.querySelector('.best') !== null")
    page.press("ArrowLeft")
    assert page.value("document.activeElement.classList.contains('drawn')")
    assert page.value("document.activeElement.getAttribute('aria-label').endsWith(', just drawn')")
    page.press("d")
    page.wait("document.querySelectorAll('.seat.own .river .tile').length === 1")


def test_a_page_whose_server_has_stopped_says_so_once(browser: Browser, games: PlayTables) -> None:
    with running_server(play_app(games)) as server:
        page = ClickingPlayer(browser, server.link()).page
    page.wait("!document.querySelector('#notice').hidden")
    assert "connection to the server is lost" in page.text()
    page.value(_COUNT_NOTICES)
    page.wait("window.tries >= 3")
    assert page.value("window.notices") == 0, "a screen reader would read it again after each try"


def wait_for_turn(page: Page, refuse: Callable[[], None]) -> None:
    """Refuse every claim until a tile can be discarded."""
    for _ in range(20):
        page.wait(READY)
        if page.value(MY_TURN):
            return
        refuse()
    raise AssertionError("twenty claims, and no turn")


def test_the_keyboard_goes_from_the_result_of_a_deal_into_the_hand(sit: Sit) -> None:
    page = sit().page
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


def test_the_focus_stays_in_the_hand_when_a_hint_comes_and_after_a_discard(sit: Sit) -> None:
    page = sit().page
    page.wait(MY_TURN)
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


def test_offered_moves_are_told_in_a_live_region(sit: Sit) -> None:
    words = VIEWS["riichi"].play_words()["en"]["words"]
    person = sit()
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
