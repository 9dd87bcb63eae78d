"""The viewer with single hands of a mahjong game in a real browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suphx.games.dazhong.game import GAME
from suphx.games.dazhong.table import Rules
from suphx.games.mahjong.tile import kind_name
from suphx.selfplay.rollouts.rollout import play_games
from suphx_pipelines.viewer.viewer_page import LANGUAGES, viewer_page
from tests.browser import SCHEMES, Browser, needs_chromium
from tests.page_checks import unreadable_texts

pytestmark = [pytest.mark.slow, needs_chromium]
NAMES = ("Anna", "</script><img src=x onerror=document.title=1>", "Cleo", "Dan")
PHONE = 360


def test_every_step_shows_the_hands_of_its_state_and_hides_those_of_the_others(tmp_path: Path) -> None:
    agents = [GAME.scripted_agent("fanfou_op")] * 4
    records = list(play_games(agents, np.array([[0, 1, 2, 3]] * 2), range(2), Rules(), game="dazhong", names=NAMES))
    values = GAME.viewer_game(records)
    path = tmp_path / "page.html"
    path.write_text(viewer_page(values, title="hands"), encoding="utf-8")
    with Browser() as browser:
        page = browser.open(path.as_uri())
        page.wait("document.querySelectorAll('#moves li').length > 0")
        state = dict(values["deals"][0]["start"])
        for number, step in enumerate([None, *values["deals"][0]["steps"]]):
            state.update(step["changes"] if step else {})
            assert page.value("location.hash") == f"#1.{number}.1"
            for seat in range(4):
                faces = page.value(
                    f"[...document.querySelectorAll('.seat')][{seat}].querySelector('.hand').outerHTML"
                    ".match(/#tile-\\w+/g)"
                )
                drawn = [face for owner, face in state["drawn"] if owner == seat]
                is_open = seat == 0 or seat in state["open"]
                names = [f"#tile-{kind_name(kind) if is_open else 'back'}" for kind in state[f"hand{seat}"] + drawn]
                assert faces == names
            page.press("ArrowRight")
        assert page.value("document.title") == "hands"
        phone = browser.open(path.as_uri(), width=PHONE, height=740)
        phone.wait("document.querySelectorAll('#moves li').length > 0")
        for scheme in SCHEMES:
            phone.show_scheme(scheme)
            phone.wait(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
            for language in LANGUAGES:
                phone.choose("#language", language)
                for key in ("Home", "End"):
                    phone.press(key)
                    assert phone.value("document.documentElement.scrollWidth") == PHONE, (language, key)
                    assert unreadable_texts(phone) == [], (language, key)
