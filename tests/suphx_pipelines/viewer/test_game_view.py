"""Every game of the registry on the viewer's page: its scripts, words and drawings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from suphx.games.doudizhu import KIND_NAMES, SEAT_NAMES
from suphx.games.registry import GAMES
from suphx_pipelines.viewer import game_view as module
from suphx_pipelines.viewer.game_view import SCRIPTS_AFTER, SCRIPTS_BEFORE, find_view, shared_script
from suphx_pipelines.viewer.page_parts import LANGUAGES, VIEWER, page_file

PAGE = Path(module.__file__).parent / "page"
PLACES = re.compile(r"\{\w+\}")


def words_of(game: str) -> dict[str, dict[str, Any]]:
    return find_view(game).words()


@pytest.mark.parametrize("game", GAMES)
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


@pytest.mark.parametrize("game", GAMES)
def test_every_word_that_scripts_and_page_name_exists(game: str) -> None:
    known = words_of(game)["en"]["words"].keys()
    text = "".join(find_view(game).page_scripts())
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


@pytest.mark.parametrize("game", GAMES)
def test_all_scripts_are_part_of_the_page_and_read_no_html(game: str) -> None:
    view = find_view(game)
    assert {path.stem for path in (PAGE / game / "script").iterdir()} == set(view.scripts)
    assert {path.stem for path in (PAGE / "script").iterdir()} == {*SCRIPTS_BEFORE, *SCRIPTS_AFTER}
    for folder in ("words", f"{game}/words"):
        assert {path.stem for path in (PAGE / folder).iterdir()} == set(LANGUAGES)
    text = "".join(view.page_scripts())
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_the_functions_that_shared_scripts_call(game: str) -> None:
    text = "".join(find_view(game).page_scripts())
    defined = re.findall(r"^function (\w+)\(", text, re.MULTILINE)
    assert len(defined) == len(set(defined))
    shared = "".join(map(shared_script, (*SCRIPTS_BEFORE, *SCRIPTS_AFTER)))
    offered = {name for each in GAMES for name in re.findall(r"^function (\w+)\(", own_scripts(each), re.MULTILINE)}
    hooks = set(re.findall(r"\b(\w+)\(", shared)) & offered - {"drawWall"}
    assert {"drawTable", "stepText", "resultContent", "playerContent", "moveContent"} <= hooks
    assert hooks <= set(defined)


def own_scripts(game: str) -> str:
    view = find_view(game)
    return "".join(map(view.script, view.scripts))
