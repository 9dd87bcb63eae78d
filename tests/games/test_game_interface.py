"""docs/riichi_interface.md is current."""

from __future__ import annotations

from suphx.games import riichi
from tests.games.game_interface import PAGE, text, users


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), "run python -m tests.games.game_interface"


def test_the_page_has_every_name_that_the_layers_import() -> None:
    assert set(users()) <= set(dir(riichi))
    assert users()["find_encoder"][:2] == ["selfplay", "environments"]
