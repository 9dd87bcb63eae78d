"""A game with only rules and two scripted agents is played, evaluated and rated as the games of the platform are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchSetup, first_game, play_match
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.rating import rate_agents
from suphx.evaluation.sequential import play_sequential_match
from suphx.evaluation.tournament import Player, TournamentSetup, play_tournament, replay_deals
from suphx.games.registry import GAMES, GameEntry, find_learning, load_game, register
from suphx.selfplay.rollouts.rollout import play_games
from suphx_cli import cli
from tests.games.toy_game import GAME, ToyAgent, ToyRules

GAMES.pop("toy", None)  # registered by the import, for worker processes
SETUP = MatchSetup("greedy", "random", seed=1, game="toy")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The game is there for these tests only: others ask for all games."""
    entry = GameEntry(name="toy", title=GAME.title, module="tests.games.toy_game", record_mark="num_values")
    GAMES["toy"] = entry
    yield
    del GAMES["toy"]


def test_the_game_is_played_by_any_agents_in_any_order() -> None:
    agents, seating = [ToyAgent("greedy"), ToyAgent("random")], np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 1]])
    records = list(play_games(agents, seating, [5, 5, 6], ToyRules(), game="toy"))
    assert [record["players"].count("greedy") for record in records] == [1, 2, 0]
    assert list(play_games(agents, seating, [5, 5, 6], ToyRules(), game="toy", num_tables=1)) == records


def test_the_better_agent_wins_a_match_whatever_plays_it(tmp_path: Path) -> None:
    kept, games = KeptResults(tmp_path / "kept"), tmp_path / "games"
    report = play_match(SETUP, 400, runner=GameRunner(kept=kept, records=games))
    assert report.difference.is_significant
    assert report.difference.mean < 0
    assert sum(report.statistics.placements) == 400
    assert report.to_json()["win_rate"] is None, "the game counts nothing but places"
    assert len(list(GAME.read_records(games))) == 400
    assert len(kept) == 7
    assert repr(play_match(SETUP, 400, runner=GameRunner(kept=kept))) == repr(report)
    assert repr(play_match(SETUP, 400, runner=GameRunner(workers=2, load=ToyAgent))) == repr(report)
    assert play_match(MatchSetup("random", "random", seed=1, game="toy"), 40).difference.mean == 0
    assert first_game(SETUP, load=ToyAgent)["players"] == ["candidate", "opponent", "opponent", "opponent"]


def test_a_match_stops_when_it_is_decided() -> None:
    config = SequentialConfig(difference=0.3, error=0.05)
    report = play_sequential_match(SETUP, config, max_deals=1000, fresh_deals=6)
    assert report.outcome.decision == "better"
    assert report.outcome.deals < 1000
    assert report.fresh is not None


def test_agents_are_rated_over_a_tournament_and_its_games_are_played_again() -> None:
    players = [Player(f"{name}-{number}", name, name) for name in ("random", "greedy") for number in range(2)]
    games = play_tournament(TournamentSetup(players=players, anchor="random-0", seed=1, game="toy"), 40)
    assert len(games) == 160
    ratings = {digest: rating.rating for digest, rating in rate_agents(games, anchor="random-0").items()}
    assert min(ratings["greedy-0"], ratings["greedy-1"]) > max(ratings["random-0"], ratings["random-1"])
    again = replay_deals(players, {1: games[:4]}, game="toy")
    assert again == {1: [list(game.places) for game in games[:4]]}


def test_the_command_evaluates_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["evaluate", "--game", "toy", "--candidate", "greedy", "--opponent", "random", "--hanchans", "80"]
    assert cli.main([*command, "--workers", "1", "--runs", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found["paired_difference"]["average_placement"] < 0


RECIPE = """
name = "toys"
game = "toy"
night = "1"
workers = 1
pool = { agents = ["random", "lowest", "highest", "greedy"], newest = 0 }
leaderboard = { games = 400, anchor = "random" }
decision = { opponent = "random" }
"""


def test_the_command_rates_its_agents_in_a_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "toys.toml").write_text(RECIPE)
    runs = tmp_path / "runs"
    assert cli.main(["tournament", str(tmp_path / "toys.toml"), "--runs", str(runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    ratings = {name: row["rating"] for name, row in found["agents"].items()}
    assert ratings["random"] == 1000
    assert max(ratings, key=lambda name: ratings[name]) == "greedy"


def test_it_is_played_in_the_terminal_and_viewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = iter(["13", "x", "5", "3", "6", "6", "8", "", "3", "q"])
    monkeypatch.setattr("suphx_platform.console.console.typed_line", lambda prompt: next(typed))
    monkeypatch.chdir(tmp_path)
    command = ["play", "--game", "toy", "--agent", "greedy", "--seat", "2", "--name", "Anna", "--seed", "5", "--json"]
    assert cli.main(command) == 0
    shown = capsys.readouterr()
    result = json.loads(shown.out.splitlines()[-1])
    assert result["deals"] == 1
    for text in ("'13' is not a move", "'x' is not a move", "there is no card 5", "  east: 3", "of 1 deals won so far"):
        assert text in shown.err
    (record,) = GAME.read_records(Path(result["records"]))
    assert result["records"].endswith(GAME.record_suffix)
    assert record["players"] == ["greedy", "Anna", "greedy", "greedy"]
    assert (
        cli.main(["view", result["records"], "--player", "Anna", "--out", "game.html", "--no-browser", "--json"]) == 0
    )
    page = Path("game.html").read_text(encoding="utf-8")
    assert f"<td>{' '.join(map(str, record['moves']))}</td>" in page
    assert cli.main(["view", result["records"], "--agent", "greedy"]) == 2
    assert "--agent has no meaning for the toy game" in capsys.readouterr().err


def test_what_it_does_not_have_is_told() -> None:
    with pytest.raises(ValueError, match="the toy game cannot be learned: it has no nets"):
        find_learning("toy")
    with pytest.raises(ValueError, match="there is a game 'toy' already"):
        register(GameEntry(name="toy", title="another", module="elsewhere"))
    with pytest.raises(ValueError, match="'expert' is not an agent of toy"):
        load_game("toy").scripted_agent("expert")
