"""A registered agent in MLflow's own words: ``mlflow.pyfunc.load_model("models:/suphx@champion")``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.rules import tonpuu
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.agents.mjai.mjai_arena import MjaiPlayer
from suphx_platform.agents.pyfunc_agent import PyfuncAgent
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.pyfunc_form import columns_of
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.small_agents import GAMES, legal_moves, save_small


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(save_random(tmp_path_factory.mktemp("nets")))


def test_the_champion_is_a_model_of_mlflow_with_signature_example_and_nothing_pickled(
    nets: Path, runs: Path, tmp_path: Path
) -> None:
    store = TrackingStore(runs)
    registry = ModelRegistry(store, RegistryConfig())
    with store.start("night", key="night") as tracker:
        assert registry.promote(nets, tracker, Promotion(digest="a", replaces=None, night="1")) == "1"
    import mlflow

    stored = [path.name for path in (runs / "artifacts").rglob("*") if path.is_file()]
    assert "MLmodel" in stored
    assert not [name for name in stored if name.endswith((".pkl", ".pickle", ".bin"))]
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(store.uri)
    try:
        model = mlflow.pyfunc.load_model("models:/suphx@champion")
    finally:
        mlflow.set_tracking_uri(before)
    assert [column.name for column in model.metadata.get_input_schema()] == ["events"]
    assert [column.name for column in model.metadata.get_output_schema()] == ["action", "probabilities"]
    answer = model.predict(model.input_example)
    move, others = (json.loads(answer[name][0]) for name in ("action", "probabilities"))
    assert (move["type"] in ("dahai", "reach"), move["actor"]) == (True, 0)
    assert move in [each["move"] for each in others]
    discards = [each["p"] for each in others if each["move"]["type"] == "dahai"]
    assert sum(discards) == pytest.approx(1, abs=0.01), "riichi is the answer of another net"
    (text,) = model.input_example["events"]
    answers = model.predict({"events": ["[]", text]})  # MLflow makes one row of it
    assert answers["action"].tolist() == ['{"type": "none"}', answer["action"][0]]
    fetched = AgentSource(store).fetch("models:/suphx@champion", tmp_path / "agent", "riichi")
    assert sorted(path.name for path in Path(fetched).iterdir()) == sorted(path.name for path in nets.iterdir())
    assert load_agent(fetched).name == fetched


def positions_of_a_game(nets: Path) -> list[list[dict[str, Any]]]:
    """Return what seat 2 has seen whenever anything happened in a game."""
    (game,) = play_games([load_agent(str(nets))], np.zeros((1, 4), np.int64), [5], tonpuu())
    events = [json.loads(line) for line in write_mjai(game).splitlines()]
    events[0] = {**events[0], "id": 2}
    return [events[:end] for end in range(2, len(events))]


def test_many_positions_at_once_get_the_moves_that_the_player_makes(nets: Path) -> None:
    positions = positions_of_a_game(nets)
    player = MjaiPlayer(load_agent(str(nets)))
    player.see(positions[0])
    expected = [player.answer()]
    for position in positions[1:]:
        player.see(position[-1])
        expected.append(player.answer())
    sample = slice(0, 120)
    table = pd.DataFrame({"events": [json.dumps(position) for position in positions[sample]]})
    answers = PyfuncAgent(nets).predict(table)
    assert [json.loads(text) for text in answers["action"]] == expected[sample]
    assert any(move["type"] == "dahai" for move in expected[sample])
    pairs = zip(answers["action"], answers["probabilities"], strict=True)
    assert ('{"type": "none"}', "[]") in list(pairs), "positions in which others decide"


@pytest.mark.parametrize("game", [game for game in GAMES if game != "riichi"])
def test_nets_of_every_game_play_a_game_move_by_move_from_its_record(game: str, tmp_path: Path) -> None:
    folder = save_small(tmp_path / game, game)
    agent = PyfuncAgent(folder)
    agent.warm_up()
    record, num_moves = json.loads(columns_of(folder).example), 40
    for _ in range(num_moves):
        text = json.dumps(record)
        (move,) = agent.predict(pd.DataFrame({"record": [text]}))["move"]
        legal = legal_moves(game, text)
        if not legal:
            break
        assert move in legal
        record["moves"].append(move)
    assert len(record["moves"]) == num_moves or move == ""
    with pytest.raises(ValueError, match="row 1 of the column record"):
        agent.predict(pd.DataFrame({"record": [text, "[]"]}))
