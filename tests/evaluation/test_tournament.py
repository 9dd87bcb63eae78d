from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from suphx.evaluation import tournament
from suphx.evaluation.game_runner import ONE_PROCESS, GameRunner
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchSetup, play_side_match
from suphx.evaluation.rating import RatedGame, rate_agents
from suphx.evaluation.tournament import (
    PlayedLineup,
    Player,
    TournamentSetup,
    head_to_head,
    placements_of,
    play_tournament,
)
from suphx.games.riichi.rules import tonpuu
from suphx.games.scoring import SeatScoring
from tests.evaluation.synthetic_games import interval_of

PLAYERS = [
    Player("ukeire", "ukeire", "ukeire"),
    Player("tsumogiri", "tsumogiri", "tsumogiri"),
    Player("random", "random", "random"),
    Player("second", "ukeire", "second"),
    Player("third", "ukeire", "third"),
]


def play(
    num_hanchans: int = 64,
    *,
    players: list[Player] = PLAYERS,
    seed: int = 1,
    earlier: Sequence[RatedGame] = (),
    runner: GameRunner = ONE_PROCESS,
) -> list[RatedGame]:
    setup = TournamentSetup(players=players, anchor="ukeire", seed=seed, earlier=earlier, rules=tonpuu())
    return play_tournament(setup, num_hanchans // 4, runner=runner)


@pytest.fixture(scope="module")
def games() -> list[RatedGame]:
    return play(seed=20)


def test_a_game_has_four_places_and_a_lineup_takes_every_seat(games: list[RatedGame]) -> None:
    assert len(games) == 64
    assert all(sorted(game.places) == [1, 2, 3, 4] and len(set(game.seats)) == 4 for game in games)
    for first in range(0, len(games), 4):
        wall = games[first : first + 4]
        assert len({game.wall for game in wall}) == 1
        assert all(len({game.seats[seat] for game in wall}) == 4 for seat in range(4))
    assert len({game.wall for game in games}) == 16
    task = tournament._task(SeatScoring(deal="wall"), (0, 1, 2, 4), 2, range(12, 13), 10, PLAYERS)
    assert (task.title, task.seeds) == ("ukeire, tsumogiri, random, third on wall 3 of 10", (12, 12, 12, 12))


def test_the_stronger_agent_wins_the_paired_difference_and_the_rating(games: list[RatedGame]) -> None:
    difference = head_to_head(games, "ukeire", "random")
    assert difference.is_significant
    assert difference.mean < -0.5
    assert head_to_head(games, "random", "ukeire").mean == -difference.mean
    ratings = rate_agents(games, anchor="ukeire")
    worse = max(interval_of(ratings["tsumogiri"]).high, interval_of(ratings["random"]).high)
    assert all(interval_of(ratings[name]).low > worse for name in ("ukeire", "second", "third"))
    for name in ("second", "third"):
        assert abs(ratings[name].rating - 1000) < 150, "they are the same agent"
    assert len(placements_of(games, "random")) == ratings["random"].games


def test_the_order_of_the_players_changes_nothing(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path)
    assert play(16, seed=20, runner=GameRunner(kept=kept)) == play(16, seed=20, players=PLAYERS[::-1])
    played: list[float] = []
    found: list[float] = []
    runner = GameRunner(kept=kept, progress=played.append, note_kept=found.append)
    play(16, seed=20, players=PLAYERS[2:] + PLAYERS[:2], runner=runner)
    assert (len(kept), played, found) == (4, [], [4.0] * 4), "all games were there"


def test_workers_kills_and_the_order_of_earlier_games_change_nothing(games: list[RatedGame], tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "games")
    first = play(24, earlier=games, runner=GameRunner(kept=kept))
    files = sorted(kept.folder.iterdir())
    for path in files[::2]:
        path.unlink()
    assert play(24, earlier=games[::-1], runner=GameRunner(workers=2, kept=kept)) == first
    assert sorted(kept.folder.iterdir()) == files
    assert play(24, seed=2, earlier=games) != first


def test_every_deck_is_played_on_both_sides_as_in_a_match() -> None:
    """In a game of two sides."""
    blocks: list[PlayedLineup] = []
    players = [Player(f"digest of {address}", address, address) for address in ("rule", "random")]
    setup = TournamentSetup(game="doudizhu", players=players, anchor="digest of rule", first_deal=77_000)
    games = play_tournament(setup, 50, note_lineup=blocks.append)
    assert len(games) == 2 * 50
    assert sorted({game.wall for game in games}) == list(range(77_000, 77_050))
    figures = play_side_match(MatchSetup("rule", "random", seed=0, game="doudizhu", first_deal=77_000), 50).figures
    for number, side in enumerate(("landlord", "peasant")):
        own = [game for game in games if game.seats[number] == "digest of rule"]
        assert len(own) == 50
        wins = sum(game.places[number] == 1 for game in own)
        assert wins / 50 == figures[f"wp_{side}"].mean
        points = sum(block.points["digest of rule"][number] for block in blocks)
        assert points / 50 == pytest.approx(figures[f"adp_{side}"].mean)
        assert sum(block.points["digest of random"][1 - number] for block in blocks) == -points
