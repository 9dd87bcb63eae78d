"""Agents whose nets value candidates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game, find_learning
from suphx.models.net_config import CandidateNetConfig
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import load_policy_set, random_policy_set, save_policy_set
from tests.games.doudizhu.builders import new_agent, save_nets

GAME = "doudizhu"
ENCODER = find_learning(GAME).encoders[0]


def test_a_set_of_nets_is_an_agent(tmp_path: Path) -> None:
    saved = random_policy_set(ENCODER, CandidateNetConfig(units=4, hidden=8, layers=2), 3, game=GAME)
    save_policy_set(tmp_path, saved, ENCODER, rules={"scoring": "win"}, step=5, extra={})
    assert load_policy_set(tmp_path, ENCODER, game=GAME).digest() == saved.digest()
    assert load_agent("rule", game=GAME).name == "rule"
    best, sampled = load_agent(tmp_path, game=GAME), load_agent(f"{tmp_path}:sampled", game=GAME)
    game = candidate_game(GAME)
    player = NetAgent("nets", saved.nets, ENCODER, rules=game.new_rules({}))
    tables = game.open_tables(20, game.new_rules({}))
    tables.begin(np.arange(20), list(range(20)))
    differ = 0
    while (waiting := tables.waiting()).size:
        moves = best.act(tables.state, waiting)
        assert moves.tolist() == player.act(tables.state, waiting).tolist()
        differ += int((sampled.act(tables.state, waiting) != moves).sum())
        tables.advance(waiting, moves.astype(np.int64))
    assert differ > 100


def test_nets_are_loaded_with_the_rules_of_one_training(tmp_path: Path) -> None:
    points = Rules(scoring="points")
    save_nets(tmp_path, points)
    agent = load_agent(tmp_path, game=GAME)
    assert isinstance(agent, NetAgent)
    assert agent.rules == points
    up, down = tmp_path / "landlord_up.safetensors", tmp_path / "landlord_down.safetensors"
    own = up.read_bytes()
    up.write_bytes(down.read_bytes())
    with pytest.raises(ValueError, match=r"it is a landlord_down net, this run needs a landlord_up net"):
        load_agent(tmp_path, game=GAME)
    (save_nets(tmp_path / "other") / up.name).write_bytes(own)
    with pytest.raises(ValueError, match="learned different rules"):
        load_agent(tmp_path / "other", game=GAME)
    up.unlink()
    with pytest.raises(ValueError, match="has no checkpoint of the landlord_up net"):
        load_agent(tmp_path, game=GAME)


def test_nets_do_not_play_by_rules_with_other_moves_than_they_learned() -> None:
    tables = candidate_game(GAME).open_tables(2, Rules(douzero_kickers=True))
    tables.begin(np.arange(2), range(2))
    message = f"learned rules with 27,472 moves, but the game is played by rules with {tables.num_moves:,}: use nets"
    player = new_agent()
    for ask in (player.act, player.candidate_values):
        with pytest.raises(ValueError, match=message):
            ask(tables, np.arange(2))
