from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.games.riichi.playthroughs.golden_game import FOLDER, GAMES, text_of


@pytest.mark.parametrize("game", GAMES, ids=lambda game: str(game.__name__))
def test_a_game_is_played_as_it_was_reviewed(game: Callable[[], str]) -> None:
    kept = (FOLDER / f"{game.__name__}.txt").read_text(encoding="utf-8")
    assert text_of(game).splitlines() == kept.splitlines(), "the game changed: review what `make golden` writes"


def test_there_is_a_file_for_each_game_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(game.__name__ for game in GAMES)
