"""Games are found by name, keep their contract, and are named by no module that is not named after them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from suphx.games.game import CandidateTables
from suphx.games.learning import CandidateLayout
from suphx.games.registry import (
    DEFAULT_GAME,
    GAMES,
    candidate_game,
    decision_names,
    decision_numbers,
    find_decisions,
    find_game,
    game_of_agents,
    game_of_files,
    game_of_records,
    has_candidates,
    load_game,
)
from suphx.kernel.record import I64
from suphx.selfplay.rollouts.rollout import play_deals
from tests.games.learning_contract import check_learning_tables
from tests.repository import REPOSITORY

LAYERS = ("platform", "pipelines", "suphx/training", "suphx/evaluation", "suphx/models", "suphx/selfplay")
RECIPES = {f"pipelines/suphx_pipelines/{name}.py" for name in ("recipe/recipe", "recipe/tournament_recipe", "fanfou")}
"""A recipe has the rules of its game; fanfou is an experiment with Dazhong."""
OF_RIICHI = {
    "platform/suphx_platform/agents/pyfunc_agent.py",
    "platform/suphx_platform/selfplay/self_play_match.py",
    "pipelines/suphx_cli/commands/review.py",
    "pipelines/suphx_cli/commands/view.py",
    "pipelines/suphx_pipelines/play/seated_game.py",
    "pipelines/suphx_pipelines/report/report_nets.py",
    "pipelines/suphx_pipelines/review.py",
    "pipelines/suphx_pipelines/stages/evaluation.py",
    "pipelines/suphx_pipelines/stages/records.py",
}
"""They are for riichi, or read its records by the identifiers of their games; only riichi has an archive."""


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
    others = [path for path in paths if not re.search("riichi|/mjai/|suphx_platform/bench/", path)]
    assert set(others) <= OF_RIICHI
    assert paths != []


def test_a_folder_of_games_is_in_the_registry_and_the_other_way_round() -> None:
    folders = {path.parent.name for path in (REPOSITORY / "suphx" / "games").glob("*/game.py")}
    assert folders == set(GAMES)


def test_an_unknown_game_is_told_with_the_next_word() -> None:
    with pytest.raises(ValueError, match="'doudizu' is not a game: did you mean 'doudizhu'"):
        find_game("doudizu")
    with pytest.raises(ValueError, match="riichi has no candidate moves: use doudizhu"):
        candidate_game(DEFAULT_GAME)


def test_a_game_is_known_by_the_files_of_its_nets() -> None:
    for name in GAMES:
        if not decision_names(name):
            continue
        files = [f"{decision}.safetensors" for decision in decision_names(name)]
        assert game_of_files(["config.json", *files]) == name
    assert game_of_files(["discard.safetensors", "riichi.safetensors"]) is None


@pytest.mark.parametrize("game", GAMES)
def test_what_decides_a_game_is_known_before_it_is_loaded(game: str) -> None:
    assert load_game(game).scoring.decides == find_game(game).decides


def test_decisions_are_numbered_and_named() -> None:
    for name in GAMES:
        kinds = find_decisions(name)
        assert kinds == load_game(name).decisions
        assert [(kind.number, kind.game) for kind in kinds] == [(number, name) for number in range(len(kinds))]
        assert len(set(decision_names(name))) == len(kinds)
    assert decision_numbers(("kong", "discard"), "riichi") == (0, 4)
    for wrong in ((), ("discard", "discard"), ("landlord",)):
        with pytest.raises(ValueError, match="use one or more of discard, riichi, chow, pong, kong, each once"):
            decision_numbers(wrong, "riichi")


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


@pytest.mark.parametrize("name", [name for name in GAMES if decision_names(name) and not has_candidates(name)])
def test_learning_tables_keep_their_contract(name: str) -> None:
    check_learning_tables(name)


class FirstMove:
    """Plays the first candidate."""

    name = "first"

    def act(self, tables: CandidateTables, indices: I64) -> I64:
        offsets, legal = tables.legal(indices)
        return legal[offsets[:-1]].astype(np.int64)


@pytest.mark.parametrize("name", [name for name in GAMES if has_candidates(name)])
def test_a_candidate_game_keeps_its_contract(name: str, tmp_path: Path) -> None:
    game, player = candidate_game(name), FirstMove()
    rules, encoder = game.new_rules({}), game.learning.encoders[0]
    assert game.name == name
    assert game.new_rules(game.rules_values(rules)) == rules
    features, kinds, tables = game.learning.candidate_features(encoder, rules), set(), game.open_tables(5, rules)
    assert features is not None
    assert len(features) == tables.num_moves
    tables.begin(np.arange(5), range(5))
    while (waiting := tables.waiting()).size:
        observed = game.learning.observe(tables.state, waiting, encoder)
        assert sorted(np.concatenate([places for places, _ in observed]).tolist()) == list(range(waiting.size))
        for places, seen in observed:
            layout = game.learning.layout(encoder, seen.decision)
            assert isinstance(layout, CandidateLayout)
            assert seen.planes.shape == (len(places), layout.num_planes)
            assert features.shape[1] == layout.candidate
            assert seen.candidates is not None
            assert (np.diff(seen.candidates.offsets) > 0).all()
            kinds.add(seen.decision)
        tables.advance(waiting, player.act(tables.state, waiting))
    assert kinds == set(range(len(game.decisions)))
    assert tables.scores().shape == (5, len(game.seat_names))
    assert tables.scores().dtype == np.float32
    file = tmp_path / f"games{game.record_suffix}"
    played = play_deals(game, rules, player, player, [7, 8], names=("a", "b"))
    game.write_records([each.record for each in played], file)
    lines = file.read_text(encoding="utf-8").splitlines()
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
    assert game.recorded_decisions(records[0]).waiting().size > 0
    assert [game.read_record(line) for line in lines] == records
    assert not game.next_decision(records[0]).waiting().size
    _, legal = game.next_decision(game.read_record(game.new_record(rules, seed=7))).legal(np.zeros(1, np.int64))
    moves = [game.recorded_move(rules, move) for move in legal.tolist()]
    assert len(set(moves)) == len(moves) > 0
    with pytest.raises(ValueError, match=r"no record|not a record"):
        game.read_record("[]")
    for agent in game.agents:
        played = play_deals(game, rules, game.scripted_agent(agent), player, range(7, 10))
        assert len(played) == 3 * len(game.sides)
        assert all(len(each.points) == len(game.seat_names) for each in played)
    with pytest.raises(ValueError, match="nobody"):
        game.scripted_agent("nobody")
    with pytest.raises((TypeError, ValueError)):
        game.new_rules({"winds": 4})


@pytest.mark.parametrize(
    ("agents", "game"),
    [
        (["models:/doudizhu@champion", "rule"], "doudizhu"),
        (["rule", "models:/doudizhu/3"], "doudizhu"),
        (["models:/suphx@champion", "ukeire"], "riichi"),
        (["models:/doudizhu-old/3", "ukeire"], "riichi"),
        (["random", "fan_plan"], "mcr"),
        (["ukeire", "tsumogiri"], "riichi"),
    ],
)
def test_the_name_of_a_model_or_of_an_agent_tells_the_game(agents: list[str], game: str) -> None:
    assert game_of_agents(None, agents) == game
    assert game_of_agents("riichi", agents) == "riichi"


@pytest.mark.parametrize("place", ["", "discard"])
def test_nets_in_a_folder_or_below_it_tell_the_game(place: str, tmp_path: Path) -> None:
    for name in decision_names("mcr"):
        folder = tmp_path / (place and name)
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.safetensors").touch()
    assert game_of_agents(None, ["random", str(tmp_path)]) == "mcr"
