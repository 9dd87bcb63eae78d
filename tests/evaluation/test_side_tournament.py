"""Games of a tournament in a game of two sides: the same decks on both sides, kept and played by any processes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.game_runner import GameRunner, LoadAgent
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchSetup, play_side_match
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.tournament import PlayedLineup, Player, TournamentSetup, play_tournament
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.kernel.record import I64

BLOCK_DECKS, GAMES_PER_DECK = 20, 2
GAME = candidate_game("doudizhu")
FIRST_DEAL = 77_000


class LongestMove:
    """Plays the last of the legal moves, which are listed by type."""

    name = "last"

    def act(self, tables: Any, indices: I64) -> Any:
        offsets, legal = tables.legal(indices)
        return legal[offsets[1:] - 1]


def load(address: str) -> Any:
    """Return an agent; a function of a module, so that processes can load it."""
    return LongestMove() if address == "last" else GAME.scripted_agent(address)


def refuse(first: str, address: str) -> Any:
    raise AssertionError(f"{first}: {address} is loaded although all blocks are kept")


def setup(*addresses: str, earlier: tuple[RatedGame, ...] = ()) -> TournamentSetup:
    players = [Player(f"digest of {address}", address, address) for address in addresses]
    return TournamentSetup(
        game="doudizhu",
        rules=Rules(),
        players=players,
        anchor="digest of rule",
        first_deal=FIRST_DEAL,
        earlier=earlier,
    )


def play(folder: Path | None, *addresses: str, workers: int = 1, load: LoadAgent = load) -> list[RatedGame]:
    kept = None if folder is None else KeptResults(folder)
    runner = GameRunner(load=load, workers=workers, kept=kept)
    return play_tournament(setup(*addresses), 5 * BLOCK_DECKS, runner=runner)


def test_every_deck_is_played_on_both_sides_as_in_a_match() -> None:
    blocks: list[PlayedLineup] = []
    games = play_tournament(setup("rule", "random"), 50, runner=GameRunner(load=load), note_lineup=blocks.append)
    assert len(games) == GAMES_PER_DECK * 50
    assert sorted({game.wall for game in games}) == list(range(FIRST_DEAL, FIRST_DEAL + 50))
    figures = play_side_match(MatchSetup("rule", "random", seed=0, game="doudizhu", first_deal=FIRST_DEAL), 50).figures
    for number, side in enumerate(GAME.sides):
        own = [game for game in games if game.seats[number] == "digest of rule"]
        assert len(own) == 50
        wins = sum(game.places[number] == 1 for game in own)
        assert wins / 50 == figures[f"wp_{side}"].mean
        points = sum(block.points["digest of rule"][number] for block in blocks)
        assert points / 50 == pytest.approx(figures[f"adp_{side}"].mean)
        assert sum(block.points["digest of random"][1 - number] for block in blocks) == -points


def test_what_is_kept_is_not_played_again(tmp_path: Path) -> None:
    expected = play(tmp_path / "games", "rule", "random", "last")
    files = {path.name: path.read_bytes() for path in (tmp_path / "games").iterdir()}
    assert len(files) == 5
    (tmp_path / "games" / max(files)).unlink()
    assert play(tmp_path / "games", "rule", "random", "last") == expected
    assert {path.name: path.read_bytes() for path in (tmp_path / "games").iterdir()} == files
    refusing = partial(refuse, "kept")
    assert play(tmp_path / "games", "rule", "random", "last", load=refusing) == expected
    with pytest.raises(AssertionError, match="is loaded although"):
        play(tmp_path / "empty", "rule", "random", "last", load=refusing)
