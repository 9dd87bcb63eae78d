"""The viewer's page: self-contained, safe with any name, complete in each language, and right in a real browser."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from suphx.games.doudizhu.moves import KIND_NAMES
from suphx.games.doudizhu.table import SEAT_NAMES
from suphx.games.riichi.records.viewer_game import RESULT_NAMES, viewer_game
from suphx.games.riichi.tile import NUM_FACES, face_name
from suphx.games.riichi.yaku_number import YAKU_NAMES
from suphx_pipelines.viewer import viewer_page as module
from suphx_pipelines.viewer.viewer_page import (
    LANGUAGES,
    SCRIPTS_AFTER,
    SCRIPTS_BEFORE,
    VIEWER,
    VIEWS,
    page_file,
    shared_script,
    viewer_page,
)
from tests.games.riichi.builders.games import random_game
from tests.pictures import screenshot

PAGE = Path(module.__file__).parent / "page"
PLACES = re.compile(r"\{\w+\}")


def words_of(game: str) -> dict[str, dict[str, Any]]:
    return VIEWS[game].words()


@pytest.mark.parametrize("game", VIEWS)
def test_each_language_has_all_words(game: str) -> None:
    words = words_of(game)
    english = words["en"]
    assert set(words) == set(LANGUAGES)
    for language in LANGUAGES:
        assert words[language].keys() == english.keys()
        assert words[language]["words"].keys() == english["words"].keys()
        assert words[language]["keys"].keys() == english["keys"].keys()
        for key, text in english["words"].items():
            assert set(PLACES.findall(words[language]["words"][key])) <= set(PLACES.findall(text)), key


@pytest.mark.parametrize("game", VIEWS)
def test_every_word_that_scripts_and_page_name_exists(game: str) -> None:
    known = words_of(game)["en"]["words"].keys()
    text = "".join(VIEWS[game].page_scripts())
    used = set(re.findall(r"word\(\"([^\"]+)\"", text)) | set(re.findall(r"label\(\"[^\"]+\", \"([^\"]+)\"", text))
    lines = page_file(VIEWER, "viewer.html").splitlines()
    for line in lines if "wall" in known else [each for each in lines if "wall-only" not in each]:
        used |= set(re.findall(r'data-word="([^"]+)"', line))
    assert used <= known


def test_the_words_of_doudizhu_name_all_types_cards_and_seats() -> None:
    for words in words_of("doudizhu").values():
        assert len(set(words["cards"])) == 15
        assert {f"type {kind}" for kind in KIND_NAMES} <= words["words"].keys()
        assert {*SEAT_NAMES, *(f"short {seat}" for seat in SEAT_NAMES)} <= words["words"].keys()


@pytest.mark.parametrize("game", VIEWS)
def test_all_scripts_are_part_of_the_page_and_read_no_html(game: str) -> None:
    view = VIEWS[game]
    assert {path.stem for path in (PAGE / game / "script").iterdir()} == set(view.scripts)
    assert {path.stem for path in (PAGE / "script").iterdir()} == {*SCRIPTS_BEFORE, *SCRIPTS_AFTER}
    for folder in ("words", f"{game}/words"):
        assert {path.stem for path in (PAGE / folder).iterdir()} == set(LANGUAGES)
    text = "".join(view.page_scripts())
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)


@pytest.mark.parametrize("game", VIEWS)
def test_every_game_has_the_functions_that_shared_scripts_call(game: str) -> None:
    text = "".join(VIEWS[game].page_scripts())
    defined = re.findall(r"^function (\w+)\(", text, re.MULTILINE)
    assert len(defined) == len(set(defined))
    shared = "".join(map(shared_script, (*SCRIPTS_BEFORE, *SCRIPTS_AFTER)))
    offered = {name for each in VIEWS for name in re.findall(r"^function (\w+)\(", own_scripts(each), re.MULTILINE)}
    hooks = set(re.findall(r"\b(\w+)\(", shared)) & offered - {"drawWall"}
    assert {"drawTable", "stepText", "resultContent", "playerContent", "moveContent"} <= hooks
    assert hooks <= set(defined)


def own_scripts(game: str) -> str:
    view = VIEWS[game]
    return "".join(map(view.script, view.scripts))


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "{{script}} $& \\u003c &lt;",
    "\u2028'\"` <!--",
)
HAS_CHROMIUM = any(shutil.which(name) for name in screenshot.PROGRAMS)
needs_chromium = pytest.mark.skipif(not HAS_CHROMIUM, reason="no Chromium: run apt-get install chromium")


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


def test_the_page_refers_to_nothing_outside() -> None:
    page = page_of()
    found = Elements(page)
    addresses = [a[name] for _, a in found.tags for name in ("src", "href", "action") if a.get(name)]
    assert addresses == []
    assert set(re.findall(r"https?://[^\"' )]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in page


def test_the_words_of_riichi_name_all_tiles_yaku_and_results() -> None:
    for words in VIEWS["riichi"].words().values():
        assert tuple(words["yaku"]) == YAKU_NAMES
        assert len(words["tiles"]) == len(set(words["tiles"])) == 37
        assert {f"draw {name}" for name in RESULT_NAMES.values() if name != "win"} <= words["words"].keys()


@pytest.mark.slow
@needs_chromium
def test_a_browser_shows_the_game_and_runs_nothing_that_a_name_contains(tmp_path: Path) -> None:
    names = ("<img src=x onerror=document.title=1>", "</script><script>document.title=2</script>", "Cleo", "Dora")
    page = tmp_path / "page.html"
    page.write_text(page_of(names, "The title"), encoding="utf-8")
    shown = Elements(screenshot.page_content(page))
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
