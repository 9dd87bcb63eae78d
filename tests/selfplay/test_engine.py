from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from suphx.experience.observation import FIRST_OLDER, LATEST, WEAK, Observations, OpponentConfig
from suphx.games.learning import LearningConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES, RIICHI_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.models.sampling import masked_logits
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.net_agent import LEARNED_HEADS
from suphx.selfplay.agents.policy_set import save_policy_set
from suphx.selfplay.config import InferenceEngineConfig
from suphx.selfplay.engine import UNLEARNED_VERSION, InferenceEngine, LocalEngine
from suphx.selfplay.requests import Reply, Request
from suphx.selfplay.rollouts.rollout import play_games
from suphx.selfplay.weights import PolicyVersion, Weights
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_pipelines.runs.tile_keeper import keeper

POLICY_SET, WEAK_POLICY_SET = small_policy_set(1), small_policy_set(2)
EXACT = InferenceEngineConfig(precision="fp32")


def new_engine(config: InferenceEngineConfig = EXACT, heads: tuple[int, ...] = (DISCARD_HEAD,)) -> InferenceEngine:
    return InferenceEngine(config, POLICY_SET, WEAK_POLICY_SET, heads=heads, plays_older=True)


def observations(n: int, head: int = DISCARD_HEAD, policy: int = LATEST, seed: int = 0) -> Observations:
    rng = np.random.default_rng(seed)
    layout = find_encoder("mini").layout(head)
    masks = (rng.random((n, 34)) < 0.5).astype(np.uint8) if head == DISCARD_HEAD else np.zeros((n, 0), np.uint8)
    masks[:, :1] = 1
    return Observations(
        decision=head,
        planes=rng.integers(256, size=(n, layout.observation_bytes), dtype=np.uint8),
        masks=masks,
        policies=np.full(n, policy, np.int32),
        uniforms=rng.random(n, np.float32),
    )


def weights(seed: int) -> Weights:
    policy_set = small_policy_set(seed)
    return {
        name: {key: tensor.numpy() for key, tensor in policy_set.nets[head].state_dict().items()}
        for head, name in enumerate(HEAD_NAMES)
    }


def assert_equal(first: Reply, second: Reply) -> None:
    for one, other in zip(first, second, strict=True):
        for name in ("actions", "scores", "log_probs", "versions"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-6)


def test_learning_heads_sample_legal_actions_and_tell_their_log_probs() -> None:
    asked = observations(300)
    (reply,) = new_engine().evaluate([asked])
    assert asked.masks[np.arange(300), reply.actions].all()
    with torch.no_grad():
        logits = POLICY_SET.nets[DISCARD_HEAD](torch.from_numpy(asked.planes))
    log_probs = torch.log_softmax(masked_logits(logits, torch.from_numpy(asked.masks)), dim=1).numpy()
    np.testing.assert_allclose(reply.log_probs, log_probs[np.arange(300), reply.actions], atol=1e-4)
    (again,) = new_engine().evaluate([replace(asked, uniforms=1 - asked.uniforms)])
    assert (again.actions != reply.actions).any()


def test_a_sampled_yes_counts_more_the_more_probable_it_is() -> None:
    (reply,) = new_engine(heads=(DISCARD_HEAD, RIICHI_HEAD)).evaluate([observations(200, RIICHI_HEAD)])
    is_yes = reply.actions == 1
    assert 0 < is_yes.sum() < 200
    assert not reply.scores[~is_yes].any()
    np.testing.assert_allclose(reply.scores[is_yes], np.exp(reply.log_probs[is_yes]), rtol=1e-5)


def test_other_heads_answer_without_sampling() -> None:
    engine = new_engine()
    asked = observations(100, RIICHI_HEAD)
    (reply,) = engine.evaluate([asked])
    assert_equal([reply], engine.evaluate([replace(asked, uniforms=1 - asked.uniforms)]))
    assert set(reply.versions.tolist()) == {UNLEARNED_VERSION}


def test_every_policy_answers_with_its_own_weights() -> None:
    engine = new_engine()
    engine.load([PolicyVersion(number, weights(number)) for number in (9, 3, 6)])
    policies = np.array([LATEST, WEAK, FIRST_OLDER, FIRST_OLDER + 1] * 10, np.int32)
    asked = replace(observations(40), policies=policies)
    (reply,) = engine.evaluate([asked])
    assert reply.versions[:4].tolist() == [9, UNLEARNED_VERSION, 3, 6]
    for policy, seed in ((LATEST, 9), (WEAK, 2), (FIRST_OLDER, 3), (FIRST_OLDER + 1, 6)):
        alone = InferenceEngine(EXACT, small_policy_set(seed), WEAK_POLICY_SET, heads=(DISCARD_HEAD,))
        (expected,) = alone.evaluate([replace(asked, policies=np.zeros(40, np.int32))])
        own = policies == policy
        np.testing.assert_array_equal(reply.actions[own], expected.actions[own])
        np.testing.assert_allclose(reply.log_probs[own], expected.log_probs[own], atol=1e-5)


def test_too_few_older_versions_are_repeated() -> None:
    engine = new_engine()
    engine.load([PolicyVersion(4, weights(4)), PolicyVersion(1, weights(5))])
    asked = [observations(3, policy=FIRST_OLDER), observations(3, policy=FIRST_OLDER + 1)]
    assert_equal([engine.evaluate(asked[:1])[0]], [engine.evaluate(asked[1:])[0]])


def test_requests_that_are_answered_together_get_what_they_get_alone() -> None:
    requests: list[Request] = [[observations(5 + i, seed=i), observations(3, RIICHI_HEAD, seed=i)] for i in range(8)]
    engine = new_engine()
    for request, reply in zip(requests, engine.evaluate_together(requests), strict=True):
        assert_equal(reply, engine.evaluate(request))


def test_without_nets_every_head_samples_evenly_among_what_is_legal() -> None:
    engine = new_engine(InferenceEngineConfig(nets="null"))
    engine.load([PolicyVersion(7, weights(7))])
    discards, riichis = observations(3000, policy=WEAK), observations(3000, RIICHI_HEAD)
    discards.masks[:, 20:] = 0
    (discard, riichi) = engine.evaluate([discards, riichis])
    assert discards.masks[np.arange(3000), discard.actions].all()
    np.testing.assert_allclose(discard.log_probs, -np.log(discards.masks.sum(axis=1)), atol=1e-5)
    np.testing.assert_array_equal(discard.versions, UNLEARNED_VERSION)
    np.testing.assert_array_equal(riichi.versions, 7)
    assert 1400 < riichi.actions.sum() < 1600
    np.testing.assert_array_equal(riichi.scores > 0, riichi.actions == 1)


def test_an_error_reaches_the_caller_and_the_engine_goes_on() -> None:
    engine = LocalEngine(new_engine())
    bad = replace(observations(4), planes=np.zeros((4, 7), np.uint8))
    with pytest.raises(ValueError, match="rows of 288 planes must be"):
        engine.submit([bad]).result()
    assert len(engine.submit([observations(4)]).result()) == 1
    engine.close()


@pytest.mark.parametrize("heads", [(DISCARD_HEAD,), tuple(range(len(HEAD_NAMES)))])
def test_a_sampled_agent_plays_the_games_of_self_play(tmp_path: Path, heads: tuple[int, ...]) -> None:
    encoder, policy_set = find_encoder("mini"), keeper(1.0)
    engine = InferenceEngine(EXACT, policy_set, policy_set, heads=heads)
    config = LearningConfig(num_tables=2, learned=heads, opponents=OpponentConfig(latest=1.0, older=0.0, weak=0.0))
    group = TableGroup(config, encoder, tenhou(), first_seed=7)
    scores: list[tuple[int, ...]] = []
    while len(scores) < 4:
        ends = group.step(engine.evaluate(group.observe())).ends
        scores += map(tuple, ends.scores_after[ends.games == 7].tolist())
    learned = {LEARNED_HEADS: [HEAD_NAMES[head] for head in heads]}
    save_policy_set(tmp_path, policy_set, encoder.name, rules="tenhou", step=1, extra=learned)
    (log,) = play_games([load_agent(f"{tmp_path}:sampled")], np.zeros((1, 4), np.int64), [7], tenhou())
    assert [tuple(kyoku.scores) for kyoku in log.kyokus[1:4]] == scores[:3]
    (plain,) = play_games([load_agent(str(tmp_path))], np.zeros((1, 4), np.int64), [7], tenhou())
    assert [tuple(kyoku.scores) for kyoku in plain.kyokus[1:4]] != scores[:3]
