"""The viewer's page: self-contained, safe with any name, complete in each language, and right in a real browser."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

from suphx.games.doudizhu.moves import KIND_NAMES
from suphx.games.doudizhu.table import SEAT_NAMES
from suphx.games.riichi.records.game_log import RESULT_NAMES
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.tile import NUM_FACES, face_name
from suphx.games.riichi.yaku_number import YAKU_NAMES
from suphx_pipelines.play.server import SHARED_SCRIPTS, play_page
from suphx_pipelines.viewer import viewer_page as module
from suphx_pipelines.viewer.viewer_page import LANGUAGES, PLAY, VIEWER, VIEWS, page_file, shared_script, viewer_page
from tests.browser import Browser, needs_chromium
from tests.games.riichi.builders.games import random_game

PAGE = Path(module.__file__).parent / "page"
PLACES = re.compile(r"\{\w+\}")
PLAY_PAGE = PAGE.parents[1] / "play" / "page"


class PageText(NamedTuple):
    """What a page is made of."""

    words: dict[str, dict[str, Any]]
    scripts: str
    html: str


def texts_of(game: str) -> PageText:
    """Return those of the viewer's page of a game."""
    html = page_file(VIEWER, "viewer.html.jinja").splitlines()
    has_wall = "wall" in VIEWS[game].words()["en"]["words"]
    shown = [line for line in html if has_wall or "wall-only" not in line]
    return PageText(VIEWS[game].words(), "".join(VIEWS[game].page_scripts()), "\n".join(shown))


RIICHI = VIEWS["riichi"]
TEXTS = {game: texts_of(game) for game in VIEWS} | {
    "play": PageText(
        RIICHI.play_words(),
        "".join(path.read_text(encoding="utf-8") for path in (PLAY_PAGE / "script").glob("*.js"))
        + "".join([*map(shared_script, SHARED_SCRIPTS), *map(RIICHI.script, RIICHI.scripts)]),
        page_file(PLAY, "play.html.jinja"),
    )
}


@pytest.mark.parametrize("page", TEXTS)
def test_each_language_has_all_words(page: str) -> None:
    words = TEXTS[page].words
    english = words["en"]
    assert set(words) == set(LANGUAGES)
    for language in LANGUAGES:
        assert words[language].keys() == english.keys()
        assert words[language]["words"].keys() == english["words"].keys()
        assert words[language]["keys"].keys() == english["keys"].keys()
        for key, text in english["words"].items():
            assert set(PLACES.findall(words[language]["words"][key])) <= set(PLACES.findall(text)), key


@pytest.mark.parametrize("page", TEXTS)
def test_scripts_and_page_name_words_that_exist_and_read_no_html(page: str) -> None:
    words, scripts, html = TEXTS[page]
    used = set(re.findall(r"word\(\"([^\"]+)\"", scripts)) | set(
        re.findall(r"label\(\"[^\"]+\", \"([^\"]+)\"", scripts)
    )
    assert used | set(re.findall(r'data-word="([^"]+)"', html)) <= words["en"]["words"].keys()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", scripts)


def test_the_words_of_a_game_name_all_of_its_pieces_moves_and_results() -> None:
    for words in VIEWS["doudizhu"].words().values():
        assert len(set(words["cards"])) == 15
        assert {f"type {kind}" for kind in KIND_NAMES} <= words["words"].keys()
        assert {*SEAT_NAMES, *(f"short {seat}" for seat in SEAT_NAMES)} <= words["words"].keys()
    for words in VIEWS["riichi"].words().values():
        assert tuple(words["yaku"]) == YAKU_NAMES
        assert len(words["tiles"]) == len(set(words["tiles"])) == 37
        assert {f"draw {name}" for name in RESULT_NAMES.values() if name != "win"} <= words["words"].keys()
    assert {len(words["tiles"]) >= 34 for words in VIEWS["mcr"].words().values()} == {True}


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "{{script}} $& \\u003c &lt;",
    "\u2028'\"` <!--",
)


class Elements(HTMLParser):
    """Collects the start tags of a page and the text in each script and style."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.tags[-1][0] if self.tags else "", data))


def page_of(names: tuple[str, str, str, str] = HOSTILE, title: str = HOSTILE[0]) -> str:
    game = random_game(0)
    game = dataclasses.replace(game, names=names, kyokus=game.kyokus[:2], final_scores=None, id=names[0])
    return viewer_page(viewer_game(game), title=title)


def test_names_of_strangers_are_text_and_nothing_else() -> None:
    found, plain = Elements(page_of()), Elements(page_of(("A", "B", "C", "D"), "title"))
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in plain.tags]
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    (data,) = [text for tag, text in found.texts if tag == "script" and text.startswith('{"game"')]
    assert json.loads(data)["game"]["names"] == list(HOSTILE)


def test_the_policy_allows_our_script_and_style_only() -> None:
    page = page_of()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none';")
    for kind in ("script", "style"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_the_pages_refer_to_nothing_outside() -> None:
    page = page_of()
    addresses = [a[name] for _, a in Elements(page).tags for name in ("src", "href", "action") if a.get(name)]
    assert addresses == []
    own = {"http://www.w3.org/2000/svg", "ws://127.0.0.1:1", "ws://${location.host}/play${location.search}"}
    page += play_page(host="127.0.0.1:1")
    assert set(re.findall(r"(?:https?|wss?)://[^\"';` )]+", page)) <= own
    assert "url(" not in page


@pytest.mark.slow
@needs_chromium
def test_a_browser_shows_the_game_and_runs_nothing_that_a_name_contains(tmp_path: Path) -> None:
    names = ("<img src=x onerror=document.title=1>", "</script><script>document.title=2</script>", "Cleo", "Dora")
    page = tmp_path / "page.html"
    page.write_text(page_of(names, "The title"), encoding="utf-8")
    with Browser() as browser:
        opened = browser.open(page.as_uri())
        opened.wait("document.querySelectorAll('#moves li').length > 0")
        shown = Elements(opened.value("document.documentElement.outerHTML"))
    text = " ".join(data for tag, data in shown.texts if tag not in ("script", "style"))
    assert all(name in text for name in names)
    assert ("title", "The title") in [(tag, data.strip()) for tag, data in shown.texts]
    assert sum(tag == "use" for tag, _ in shown.tags) >= 52
    assert not [tag for tag, _ in shown.tags if tag == "img"]


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("doudizhu", ["card-back", *(f"card-{rank}" for rank in range(15))]),
        ("riichi", ["tile-back", *(f"tile-{face_name(face)}" for face in range(NUM_FACES))]),
    ],
)
def test_every_piece_has_a_drawing_of_its_own_without_a_font(game: str, names: list[str]) -> None:
    symbols = VIEWS[game].symbols()
    root = ElementTree.fromstring(symbols)
    drawings = {symbol.attrib["id"]: ElementTree.tostring(symbol).split(b">", 1)[1] for symbol in root}
    assert sorted(drawings) == sorted(names)
    assert len(set(drawings.values())) == len(names)
    assert "<text" not in symbols
