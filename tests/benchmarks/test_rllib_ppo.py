"""RLlib's PPO as a reference: its net plays legal actions only, and learns."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.tune.registry import register_env

from benchmarks import rllib_ppo
from benchmarks.rllib_ppo import ACTION_MASK, ENV, OBSERVATIONS, MaskedPPOModule, new_env, ppo_config
from suphx.json_text import parse_json


@torch.no_grad()
def test_only_legal_actions_have_a_probability() -> None:
    env = new_env({"encoder": "mini", "opponent": "random"})
    spec = ppo_config(opponent="random").rl_module_spec
    spec.observation_space, spec.action_space = env.observation_space, env.action_space
    module = spec.build()
    assert isinstance(module, MaskedPPOModule)
    rows = [env.reset(seed=4)[0]]
    for _ in range(19):
        rows.append(env.step(rows[-1][ACTION_MASK].argmax())[0])
        assert env.observation_space.contains(rows[-1])
    observations = {key: torch.from_numpy(np.stack([row[key] for row in rows])) for key in (OBSERVATIONS, ACTION_MASK)}
    for forward in (module.forward_inference, module.forward_exploration, module.forward_train):
        logits = forward({Columns.OBS: observations})[Columns.ACTION_DIST_INPUTS]
        assert ((logits.softmax(dim=1) > 0) == (observations[ACTION_MASK] == 1)).all()


@pytest.mark.filterwarnings("ignore:.*Overriding environment rllib-single-agent-env")  # each runner registers it
def test_all_envs_of_all_runners_play_other_games() -> None:
    register_env(ENV, new_env)
    walls = []
    for index in (1, 2):
        runner = SingleAgentEnvRunner(config=ppo_config(opponent="random"), worker_index=index)
        runner.sample(num_timesteps=1)
        assert runner.env is not None
        walls += [int(env.unwrapped._tables.simulator.tables["wall_seed"][0]) for env in runner.env.unwrapped.envs]
        runner.stop()
    assert len(set(walls)) == 8


@pytest.mark.slow
@pytest.mark.ray
def test_it_learns_to_beat_random_players(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["rllib_ppo.py", "--iterations", "24"])
    rllib_ppo.main()
    printed = capfd.readouterr()
    assert parse_json(printed.out.splitlines()[-1])["hanchans"] > 200
    figures = [parse_json(line) for line in printed.err.splitlines() if line.startswith('{"iterations"')]
    later = np.array([each["mean_return"] for each in figures])[12:]
    assert later.mean() > 2 * later.std(ddof=1) / np.sqrt(len(later)), later
