"""Self-play of a game whose nets value candidates: simulator, engine and decisions fit together."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from suphx.experience.observation import LATEST, OpponentConfig
from suphx.experience.segments import segment_argmax, segment_rows
from suphx.games.doudizhu.table import Rules
from suphx.games.learning import LearningConfig
from suphx.games.registry import candidate_game, find_learning
from suphx.models.candidate_net import CandidateNet
from suphx.models.net_config import CandidateNetConfig
from suphx.selfplay.agents.agent import NetAgent, load_agent
from suphx.selfplay.agents.policy_set import PolicySet, load_policy_set, random_policy_set, save_policy_set
from suphx.selfplay.config import InferenceEngineConfig, SimulatorConfig
from suphx.selfplay.engine import UNLEARNED_VERSION, InferenceEngine, LocalEngine
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from suphx.selfplay.weights import PolicyVersion
from tests.games.doudizhu.builders import new_agent, save_nets

GAME = "doudizhu"
LEARNING = find_learning(GAME)
ENCODER = LEARNING.encoders[0]
FEATURES = LEARNING.candidate_features(ENCODER)
EXACT = InferenceEngineConfig(precision="fp32")
SMALL = CandidateNetConfig(units=4, hidden=8, layers=2)


def nets(seed: int) -> PolicySet:
    return random_policy_set(ENCODER, SMALL, seed, game=GAME)


def values_of(net: torch.nn.Module, planes: np.ndarray, moves: np.ndarray, offsets: np.ndarray) -> torch.Tensor:
    assert isinstance(net, CandidateNet)
    assert FEATURES is not None
    seen, lists = torch.from_numpy(FEATURES[moves]), torch.from_numpy(segment_rows(offsets))
    with torch.inference_mode():
        values: torch.Tensor = net(torch.from_numpy(planes), seen, lists)
    return values


def log_probs_of(values: torch.Tensor, offsets: np.ndarray) -> torch.Tensor:
    return torch.cat([torch.log_softmax(values[first:end], dim=0) for first, end in pairwise(offsets)])


def test_a_simulator_plays_with_an_engine_and_keeps_what_the_nets_said() -> None:
    policy_set = nets(1)
    engine = InferenceEngine(EXACT, policy_set, None, heads=(0, 1, 2), features=FEATURES)
    context = SimulatorContext(game=GAME, encoder=ENCODER, heads=(0, 1, 2), run_seed=3)
    local = LocalEngine(engine)
    played = SelfPlaySimulator(SimulatorConfig(num_tables=16), context, local).play(150)
    local.close()
    assert played.num_games == played.num_deals > 10
    for net, decisions in zip(policy_set.nets, played.decisions, strict=True):
        lists = decisions.candidates
        assert lists is not None
        assert len(decisions) > 50
        assert set(np.abs(decisions.rewards).tolist()) == {1.0}
        values = values_of(net, decisions.planes.dense(), lists.moves, lists.offsets)
        log_probs = log_probs_of(values, lists.offsets)
        taken = log_probs[torch.from_numpy(lists.offsets[:-1] + decisions.actions)]
        torch.testing.assert_close(taken, torch.from_numpy(decisions.log_probs), rtol=1e-4, atol=1e-4)


def test_nets_that_do_not_learn_choose_the_highest_value_and_new_weights_are_used() -> None:
    first, second = nets(1), nets(2)
    engine = InferenceEngine(EXACT, first, None, heads=(0,), features=FEATURES)
    tables = LEARNING.new_learning_tables(LearningConfig(num_tables=30, learned=()), ENCODER, first_seed=7)
    engine.load(PolicyVersion(number=4, weights=second.weights((0,))))
    seen = set[int]()
    for _ in range(12):
        request = tables.observe()
        outputs = engine.evaluate(request)
        for part, output in zip(request, outputs, strict=True):
            lists = part.candidates
            assert lists is not None
            seen.add(part.decision)
            if part.decision:
                best = values_of(first.nets[part.decision], part.planes, lists.moves, lists.offsets).numpy()
                assert output.actions.tolist() == (segment_argmax(best, lists.offsets) - lists.offsets[:-1]).tolist()
                assert (output.versions == UNLEARNED_VERSION).all()
            else:
                values = values_of(second.nets[0], part.planes, lists.moves, lists.offsets)
                log_probs = log_probs_of(values, lists.offsets).numpy()
                own = log_probs[lists.offsets[:-1] + output.actions]
                np.testing.assert_allclose(output.log_probs, own, rtol=1e-4, atol=1e-4)
                assert (output.versions == 4).all()
        tables.step(outputs)
    assert seen == {0, 1, 2}


def test_without_nets_each_candidate_is_as_probable() -> None:
    engine = InferenceEngine(replace(EXACT, nets="null"), nets(1), None, heads=(), features=None)
    opponents = OpponentConfig(latest=1.0)
    config = LearningConfig(num_tables=8, learned=(), opponents=opponents)
    tables = LEARNING.new_learning_tables(config, ENCODER, first_seed=7)
    (part,) = tables.observe()
    (output,) = engine.evaluate([part])
    assert part.candidates is not None
    assert (part.policies == LATEST).all()
    np.testing.assert_allclose(output.log_probs, -np.log(np.diff(part.candidates.offsets)), rtol=1e-5)


def test_nets_of_candidates_need_the_features_of_moves() -> None:
    with pytest.raises(ValueError, match="the decision landlord has candidates: give the features of moves"):
        InferenceEngine(EXACT, nets(1), None, heads=(0,))


def test_a_set_of_nets_is_an_agent(tmp_path: Path) -> None:
    saved = nets(3)
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
