"""Games are found by name, keep their contract, and are named by no module that is not named after them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.experience.seat_observations import SeatObservations
from suphx.games.candidate_game import KeptGames, candidate_game
from suphx.games.head_game import GroupConfig, head_game
from suphx.games.registry import (
    DEFAULT_GAME,
    GAMES,
    candidate_games,
    find_game,
    find_side_game,
    game_of_files,
    game_of_records,
)
from suphx.kernel.record import I64
from tests.repository import REPOSITORY

LAYERS = ("platform", "pipelines", "suphx/training", "suphx/evaluation", "suphx/models", "suphx/selfplay")
RECIPES = {f"pipelines/suphx_pipelines/recipe/{name}.py" for name in ("recipe", "tournament_recipe")}
"""A recipe has the rules of its game."""


def importers(game: str) -> Iterator[str]:
    """Yield the modules of the layers above that import a game."""
    for folder in LAYERS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
            names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
            if any(f"{name}.".startswith(f"suphx.games.{game}.") for name in names):
                yield path.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("game", [name for name in GAMES if name != DEFAULT_GAME])
def test_only_modules_named_after_a_game_import_it(game: str) -> None:
    assert [path for path in importers(game) if game not in path and path not in RECIPES] == []


def test_above_the_nets_only_modules_named_after_riichi_or_its_protocol_import_it() -> None:
    paths = [path for path in importers(DEFAULT_GAME) if path.startswith(("platform/", "pipelines/"))]
    assert [path for path in paths if "riichi" not in path and "/mjai/" not in path] == []
    assert paths != []


def test_a_folder_of_games_is_in_the_registry_and_the_other_way_round() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "suphx" / "games").glob("*/game.py")}
    assert folders == set(GAMES)


def test_an_unknown_game_is_told_with_the_next_word() -> None:
    with pytest.raises(ValueError, match="'doudizu' is not a game: did you mean 'doudizhu'"):
        find_game("doudizu")
    with pytest.raises(ValueError, match="riichi is not learned by Deep Monte-Carlo: use doudizhu"):
        candidate_game(DEFAULT_GAME)
    with pytest.raises(ValueError, match="DouDizhu has no heads: its seats choose among candidates"):
        head_game("doudizhu")


def test_a_game_is_known_by_the_files_of_its_nets() -> None:
    for name in candidate_games():
        files = [f"{seat}.safetensors" for seat in candidate_game(name).seat_names]
        assert game_of_files(["config.json", *files]) == name
    assert game_of_files(["discard.safetensors", "riichi.safetensors"]) is None


def test_a_record_is_known_by_its_beginning(tmp_path: Path) -> None:
    for name, text in (
        ("riichi", '<mjloggm ver="2.3"><UN n0="landlord"/>'),
        ("riichi", '{"type":"start_game","names":["doudizhu","game","landlord_down:","d"]}'),
        ("riichi", ""),
        ("doudizhu", '{"rules": {}, "game": "doudizhu"}'),
        ("doudizhu", '\n{"game":"doudizhu"}'),
        ("doudizhu", "landlord: 3\nlandlord_down: 4\n"),
    ):
        file = tmp_path / "inner" / "record"
        file.parent.mkdir(exist_ok=True)
        assert file.exists() or game_of_records(tmp_path) == DEFAULT_GAME
        file.write_text(text, encoding="utf-8")
        assert (game_of_records(file), game_of_records(tmp_path)) == (name, name)


def test_what_is_no_file_beside_records_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "nothing")
    (tmp_path / "c.jsonl").symlink_to(tmp_path / "c.jsonl")
    assert game_of_records(tmp_path) == DEFAULT_GAME
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "e.jsonl").write_text('{"game":"doudizhu"}', encoding="utf-8")
    assert game_of_records(tmp_path) == "doudizhu"
    (tmp_path / "inner" / "e.jsonl").unlink()
    (tmp_path / "d.jsonl").write_text('{"game":"doudizhu"}', encoding="utf-8")
    assert game_of_records(tmp_path) == "doudizhu"


@pytest.mark.parametrize("name", [name for name, entry in GAMES.items() if entry.has_heads])
def test_a_head_game_keeps_its_contract(name: str) -> None:
    game, learned = head_game(name), (0,)
    assert game.name == name
    assert len({head.name for head in game.heads}) == len(game.heads)
    encoder = "mini"
    tables = game.new_tables(GroupConfig(num_tables=4, heads=learned), encoder, first_seed=1)
    deals = decisions = 0
    while not deals:
        observed = tables.observe()
        for part in observed:
            head = game.heads[part.head]
            assert part.masks.shape == (len(part), head.num_choices)
            assert len(head.outputs) == (head.num_choices or 2)
            assert part.planes.shape[1] == game.observation_bytes(encoder, part.head, has_oracle=False)
        ended = tables.step([first_legal(part) for part in observed])
        deals, decisions = deals + ended.num_deals, decisions + ended.num_decisions
        assert ended.num_games <= ended.num_deals
    (learned_part,) = ended.with_rewards(np.zeros((ended.num_deals, 4), np.float32))
    assert learned_part.head == learned[0]
    assert len(learned_part) > 0
    assert decisions >= len(learned_part)
    other = game.new_tables(GroupConfig(num_tables=4, heads=learned), encoder, first_seed=1)
    other.restore(tables.state())
    for mine, restored in zip(tables.observe(), other.observe(), strict=True):
        assert (mine.planes == restored.planes).all()
    with pytest.raises(ValueError, match="nobody"):
        game.new_tables(GroupConfig(num_tables=4, heads=learned), "nobody", first_seed=1)


def first_legal(part: Observations) -> PolicyOutputs:
    """Answer the first legal action, and no where yes and no are asked."""
    outputs = PolicyOutputs.blank(len(part), 0)
    if part.masks.shape[1]:
        outputs.actions[:] = part.masks.argmax(axis=1)
    return outputs


class FirstMove:
    """Plays the first candidate, and checks what it sees."""

    def __init__(self, game: str) -> None:
        self.game = candidate_game(game)
        self.columns = self.game.candidate_columns(self.game.new_rules({}))
        self.seats: set[int] = set()

    def choose(self, simulator: object, seen: SeatObservations) -> I64:
        expected = self.game.net_columns(seen.seat)
        assert seen.states.shape == (len(seen.tables), expected.state)
        assert (len(seen.history), seen.history.shape[2]) == (len(seen.tables), expected.history)
        assert seen.offsets[-1] == len(seen.moves)
        assert (np.diff(seen.offsets) > 0).all()
        self.seats.add(seen.seat)
        return seen.offsets[:-1].copy()


@pytest.mark.parametrize("name", candidate_games())
def test_a_candidate_game_keeps_its_contract(name: str, tmp_path: Path) -> None:
    game, player = candidate_game(name), FirstMove(name)
    rules = game.new_rules({})
    assert game.name == name
    assert player.columns.shape[1] == game.net_columns(0).candidate
    scores = game.play(rules, range(5), player)
    assert game.new_rules(game.rules_values(rules)) == rules
    assert scores.shape == (5, len(game.seat_names))
    assert scores.dtype == np.float32
    assert (scores == game.play(rules, range(5), player)).all()
    assert player.seats == set(range(len(game.seat_names)))
    lines: list[str] = []
    game.play_match(2, rules, player, player, first_seed=7, kept=KeptGames(("a", "b"), lines.append))
    file = tmp_path / "games.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert game_of_records(file) == name
    for other in ("README.txt", "about.md", "games-1-to-20.html"):
        (tmp_path / other).write_text("not a record")
    assert game_of_records(tmp_path) == name
    records = list(game.read_records(file))
    assert len(records) == 2 * len(game.sides)
    assert {player for record in records for player in record.players} == {"a", "b"}
    shown = game.viewer_game(records)
    assert (shown["game"], shown["names"]) == (name, list(game.seat_names))
    assert [deal["number"] for deal in shown["deals"]] == [1, 2, 3, 4]
    assert sum(len(seen.tables) for seen in game.recorded_decisions(records[0]).seen) > 0
    assert [game.read_record(line) for line in lines] == records
    assert game.next_decision(records[0]) is None
    first = game.next_decision(game.read_record(game.new_record(rules, seed=7)))
    assert first is not None
    (seen,) = first.seen
    moves = [game.recorded_move(rules, move) for move in seen.moves.tolist()]
    assert len(set(moves)) == len(moves) > 0
    with pytest.raises(ValueError, match="no record"):
        game.read_record("[]")
    for agent in game.agents:
        results = game.play_match(3, rules, game.scripted_player(agent), player, first_seed=7)
        assert tuple(results) == game.sides
        for reached in results.values():
            assert (reached.wins == (reached.points > 0)).all()
            assert len(reached.wins) == 3
    with pytest.raises(ValueError, match="nobody"):
        game.scripted_player("nobody")
    with pytest.raises((TypeError, ValueError)):
        game.new_rules({"winds": 4})


@pytest.mark.parametrize(
    ("agents", "game"),
    [
        (["models:/doudizhu@champion", "rule"], "doudizhu"),
        (["rule", "models:/doudizhu/3"], "doudizhu"),
        (["models:/suphx@champion", "ukeire"], None),
        (["models:/doudizhu-old/3", "rule"], None),
    ],
)
def test_the_registered_model_with_the_name_of_a_game_tells_the_game(agents: list[str], game: str | None) -> None:
    assert find_side_game(None, agents) == game
    assert find_side_game("riichi", agents) is None
