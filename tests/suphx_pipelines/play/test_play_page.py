"""The page of ``suphx play``: its words and scripts, and whole games in a real browser that clicks what is visible."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

import pytest

from suphx.games.riichi import Quarantine, iter_records
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play import play_page as page_module
from suphx_pipelines.play.play_app import PlayApp
from suphx_pipelines.play.play_config import PlayConfig
from suphx_pipelines.play.play_page import SCRIPTS, SHARED_SCRIPTS, play_page, play_words
from suphx_pipelines.play.play_tables import PlayTables
from suphx_pipelines.play.seated_agents import AgentLoader
from suphx_pipelines.viewer.page_parts import LANGUAGES, VIEWER, page_file
from tests import screenshot
from tests.browser import Browser, Page
from tests.suphx_platform.local_web.running_server import running_server

PAGE = Path(page_module.__file__).parent / "page"
HAS_CHROMIUM = any(shutil.which(name) for name in screenshot.PROGRAMS)
needs_chromium = pytest.mark.skipif(not HAS_CHROMIUM, reason="no Chromium: run apt-get install chromium")
TABLE = (
    "[...document.querySelectorAll('.felt .tile, .tray .tile')].map((each) => each.getAttribute('aria-label')).join()"
)
READY = "document.querySelector('.call, #hand button:enabled, #next:enabled, #viewer') !== null"


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
    text += "".join(page_file(VIEWER, f"script/{name}.js") for name in SHARED_SCRIPTS)
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


def tables(out: Path, agent: str = "ukeire") -> PlayTables:
    config = PlayConfig(agent=agent, seed=1, length="tonpuu", out=out)
    return PlayTables(config, AgentLoader(agent, load_agent))


def open_page(browser: Browser, link: str, width: int = 1280, height: int = 800) -> Page:
    page = browser.open(link, width=width, height=height)
    page.wait(READY)
    page.choose("#pace", "instant")
    return page


def click_something(page: Page) -> str:
    """Press what a player in a hurry would, if something can be pressed; return what."""
    for selector in (".win-call", ".call.pass", "#next"):
        if page.click(selector):
            return selector
    if page.click(".call[aria-pressed=false]"):  # riichi, and then one of its discards
        page.wait("document.querySelector('.call.pressed') !== null")
        assert page.click("#hand button:enabled")
        return "riichi"
    return "tile" if page.click("#hand button:enabled:last-child") or page.click("#hand button:enabled") else ""


def is_over(page: Page) -> bool:
    return bool(page.value("document.querySelector('#viewer') !== null"))


@pytest.mark.slow
@needs_chromium
def test_a_game_is_played_by_clicks_with_a_reload_in_the_middle(tmp_path: Path) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        page = open_page(browser, server.link())
        address = page.value("location.href")
        clicks = 0
        end = time.monotonic() + 300
        while not is_over(page) and time.monotonic() < end:
            clicks += bool(click_something(page))
            if clicks == 40:
                page.wait(READY)
                before = page.value(TABLE)
                page.reload()
                page.wait(f"{READY} && location.href === {json.dumps(address)}")
                assert page.value(TABLE) == before
                clicks += 1
        assert is_over(page), page.text()
        (record,) = tmp_path.iterdir()
        (game,) = iter_records([record], quarantine=Quarantine())
        final = [f"{points:,}" for points in game.final_scores or ()]
        assert all(points in page.text() for points in final)
        viewer = browser.open(page.value("document.querySelector('#viewer').href"))
        viewer.wait("document.querySelectorAll('#moves li').length > 3")
        page.reload()
        page.wait("document.querySelector('#viewer') !== null")
        assert page.click("#again")
        page.wait(f"location.href !== {json.dumps(address)}")
        page.wait(READY)


@pytest.mark.slow
@needs_chromium
def test_two_browsers_play_at_two_tables(tmp_path: Path) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as one, Browser() as two:
        first, second = open_page(one, server.link()), open_page(two, server.link(), 390, 844)
        assert first.value("location.hash") != second.value("location.hash")
        before = second.value("document.querySelector('#hand').innerHTML")
        for _ in range(10):
            first.wait(READY)
            click_something(first)
        assert second.value("document.querySelector('#hand').innerHTML") == before
        assert click_something(second)


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("width", [360, 390, 820, 1280])
def test_the_page_fits_its_window(tmp_path: Path, width: int) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        page = open_page(browser, server.link(), width, 800)
        assert page.value("document.documentElement.scrollWidth") == width


@pytest.mark.slow
@needs_chromium
def test_keys_discard_show_hints_and_cancel(tmp_path: Path) -> None:
    with running_server(PlayApp(tables(tmp_path)).asgi()) as server, Browser() as browser:
        page = open_page(browser, server.link())
        page.wait("document.querySelector('#hand button:enabled') !== null")
        page.press("h")
        page.wait("document.querySelector('.best') !== null")
        page.press("ArrowLeft")
        assert page.value("document.activeElement.classList.contains('drawn')")
        page.press("d")
        page.wait("document.querySelectorAll('.seat.own .river .tile').length === 1")


@pytest.mark.slow
@needs_chromium
def test_a_page_whose_server_has_stopped_says_so(tmp_path: Path) -> None:
    with Browser() as browser:
        with running_server(PlayApp(tables(tmp_path)).asgi()) as server:
            page = open_page(browser, server.link())
        page.wait("!document.querySelector('#notice').hidden")
        assert "connection to the server is lost" in page.text()
