"""A game in the terminal: what is typed, what is shown, and that hidden tiles are not shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.text import Text

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.play import GameSession
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.tile import face_name
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.riichi_terminal import LeftGameError, TerminalGame, TerminalText, play_in_terminal
from suphx_pipelines.play.seated_game import Agents, PlayConfig, SeatedGame
from suphx_pipelines.viewer.viewer_page import LANGUAGES


def loader() -> Agents:
    return Agents("ukeire", load_agent)


def discard_drawn(prompt: str) -> str:
    """Type what lets every tile pass and discards what was drawn."""
    return {"number": "0", "tile": "d"}.get(prompt.split(",")[0], "")


class Typist:
    """Types random offered moves of a session; ``shown`` are the lines of the game."""

    def __init__(self, session: GameSession, seed: int) -> None:
        self.session = session
        self.rng = np.random.default_rng(seed)
        self.shown: list[str] = []
        self.typed: list[str] = []
        self.next: list[str] = []

    def show(self, line: Text) -> None:
        self.shown.append(line.plain)

    def read(self, prompt: str) -> str:
        text = self.next.pop(0) if self.next else self._choose(self.session.view()["moves"])
        self.typed.append(text)
        return text

    def _choose(self, moves: list[dict[str, Any]]) -> str:
        if not moves:
            return ""
        eager = [move for move in moves if move["move"] in ("tsumo", "ron", "riichi")]
        move = eager[0] if eager else moves[int(self.rng.integers(len(moves)))]
        if move["move"] == "riichi":
            discards = [each for each in moves if each["action"] in move["discards"]]
            self.next = [face_name(discards[0]["faces"][0])]
            return "riichi"
        return face_name(move["faces"][0]) if move["move"] == "discard" else str(move["move"])


def new_game(folder: Path, seed: int, seat: int = 0) -> SeatedGame:
    return SeatedGame.new(PlayConfig(agent="ukeire", seed=seed, seat=seat, length="tonpuu", out=folder), loader(), 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_game_is_played_by_typed_moves(language: str, tmp_path: Path) -> None:
    game = new_game(tmp_path, 1)
    session = game.session
    typist = Typist(session, 1)
    TerminalGame(game, TerminalText(language), typist.show, typist.read).play()
    game.close()
    assert session.is_over
    final = [f"{points:,}" for points in session.view()["final"]]
    assert all(points in typist.shown[-1] for points in final)
    assert not [line for line in typist.shown if "{" in line or "terminal_" in line]
    assert len(typist.typed) > 50


def test_a_finished_game_is_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = PlayConfig(agent="ukeire", seed=5, seat=1, length="tonpuu", out=tmp_path)
    result = play_in_terminal(config, loader(), "en", discard_drawn)
    (game,) = iter_records([Path(str(result["record"]))], quarantine=Quarantine())
    assert list(game.final_scores or ()) == result["final"]
    assert game.names[1] == "Player"
    shown = capsys.readouterr().err
    assert f"{result['placement']}. Player" in shown
    assert "\x1b[" not in shown  # no colours outside a terminal


def test_only_the_own_hand_is_shown_while_a_deal_goes_on(tmp_path: Path) -> None:
    game = new_game(tmp_path, 2, seat=2)
    session = game.session
    typist = Typist(session, 2)

    def read(prompt: str) -> str:
        view = session.view()
        if view["moves"]:
            table = [line.plain for line in TerminalText("en").table(view)]
            hands = [line for line in table if line.startswith("      ") and not line.lstrip().startswith("[")]
            assert len(hands) == 1
            assert "??" not in "".join(table)
        return typist.read(prompt)

    TerminalGame(game, TerminalText("en"), typist.show, read).play()
    game.close()


def lines_after(folder: Path, typed: list[str], seed: int = 1) -> list[str]:
    """Return what is shown after these lines were typed at the first decision."""
    game = new_game(folder, seed)
    session = game.session
    typist = Typist(session, 0)
    typist.next = [*typed, "q"]
    with pytest.raises(LeftGameError):
        TerminalGame(game, TerminalText("en"), typist.show, typist.read).play()
    assert session.number == 0
    return typist.shown


def test_what_is_not_offered_is_refused_and_hint_and_help_are_shown(tmp_path: Path) -> None:
    shown = lines_after(tmp_path, ["9x", "", "ron", "1", "h", "?"])
    assert [line for line in shown if "is not one of your moves" in line] == [
        f"  {typed} is not one of your moves: type ? for help" for typed in ("9x", "ron", "1")
    ]
    assert any("→" in line for line in shown)
    assert sum("Type a tile" in line for line in shown) == 2


def test_a_game_that_was_left_goes_on_until_new_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def leave_after(count: int) -> Callable[[str], str]:
        typed = iter([*["d"] * count, "q"])
        return lambda prompt: next(typed) if prompt.startswith("tile") else "q" if count == 0 else discard_drawn(prompt)

    config = PlayConfig(agent="ukeire", seed=5, length="tonpuu", out=tmp_path)
    left = play_in_terminal(config, loader(), "en", leave_after(5))
    assert (left["final"], left["record"]) == (None, None)
    assert "Saved: the same command continues this game" in capsys.readouterr().err
    other = play_in_terminal(replace(config, continues=False), loader(), "en", leave_after(0))
    assert "Continuing" not in capsys.readouterr().err
    result = play_in_terminal(config, loader(), "en", discard_drawn)
    assert f"Continuing {left['game']}" in capsys.readouterr().err
    assert (result["game"], other["record"]) == (left["game"], None)
    assert [path.name for path in tmp_path.iterdir()] == [f"{left['game']}.mjlog"]


def test_the_end_of_input_leaves_the_game(tmp_path: Path) -> None:
    def read(prompt: str) -> str:
        raise EOFError

    result = play_in_terminal(PlayConfig(agent="ukeire", seed=1, out=tmp_path / "out"), loader(), "en", read)
    assert (result["final"], result["record"]) == (None, None)
    assert not (tmp_path / "out").exists()
