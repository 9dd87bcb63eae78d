from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModule
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from suphx.games.riichi.table import NUM_ACTIONS
from suphx_platform.reference.riichi_env import ACTION_MASK, OBSERVATIONS, SEATS, HanchanEnv, register_hanchan_env
from suphx_platform.reference.rllib_ppo import POLICY, MaskedPPOModule, ReferenceConfig, ppo_config
from tests.repository import REPOSITORY


@pytest.fixture(scope="module")
def module() -> MaskedPPOModule:
    env = HanchanEnv({})
    spaces = {POLICY: (env.get_observation_space(SEATS[0]), env.get_action_space(SEATS[0]))}
    built = ppo_config(ReferenceConfig(channels=8)).get_multi_rl_module_spec(spaces=spaces).build()
    assert isinstance(built, MultiRLModule)
    module = built[POLICY]
    assert isinstance(module, MaskedPPOModule)
    return module


def batch_of(num_rows: int) -> dict[str, dict[str, torch.Tensor]]:
    env = HanchanEnv({})
    observations, _ = env.reset(seed=4)
    rows = []
    for _ in range(num_rows):
        ((agent, observation),) = observations.items()
        rows.append(observation)
        observations, *_ = env.step({agent: observation[ACTION_MASK].argmax()})
    return {
        Columns.OBS: {
            key: torch.from_numpy(np.stack([row[key] for row in rows])) for key in (OBSERVATIONS, ACTION_MASK)
        }
    }


@torch.no_grad()
def test_only_legal_actions_have_a_probability(module: MaskedPPOModule) -> None:
    batch = batch_of(20)
    for forward in (module.forward_inference, module.forward_exploration, module.forward_train):
        logits = forward(batch)[Columns.ACTION_DIST_INPUTS]
        assert logits.shape == (20, NUM_ACTIONS)
        probabilities = logits.softmax(dim=1)
        assert (probabilities[batch[Columns.OBS][ACTION_MASK] == 0] == 0).all()
        assert (probabilities[batch[Columns.OBS][ACTION_MASK] == 1] > 0).all()
    assert set(batch[Columns.OBS]) == {OBSERVATIONS, ACTION_MASK}, "the batch belongs to the caller"


def reference(*options: str) -> tuple[dict[str, float], str]:
    """Run the command as users do; return its JSON and its messages."""
    command = [sys.executable, "-m", "suphx_cli.cli", "reference", "--json", *options]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result, done.stderr


@pytest.mark.slow
@pytest.mark.ray
def test_the_command_trains_on_local_ray() -> None:
    result, messages = reference("--iterations", "2", "--decisions", "256", "--opponent", "self")
    assert result["iterations"] == 2
    assert result["decisions"] >= 512
    assert 0 < result["entropy"] < np.log(14)
    assert "iteration 2:" in messages


@pytest.mark.slow
@pytest.mark.ray
def test_it_learns_to_beat_random_players() -> None:
    result, messages = reference("--iterations", "24", "--opponent", "random")
    assert result["hanchans"] > 200
    later = np.array([float(text) for text in re.findall(r"return ([+-]\d+\.\d+)", messages)])[12:]
    assert len(later) == 12
    assert later.mean() > 2 * later.std(ddof=1) / np.sqrt(len(later)), later


def first_walls(env_runners: int, seed: int | None) -> list[list[int]]:
    """Return the wall seeds of the first games of some of RLlib's env runners."""
    register_hanchan_env()
    config = ppo_config(ReferenceConfig(channels=8)).debugging(seed=seed)
    walls = []
    for index in range(1, env_runners + 1):
        runner = MultiAgentEnvRunner(config=config, worker_index=index)
        runner.sample(num_timesteps=1, random_actions=True)
        assert runner.env is not None
        assert runner.env.envs is not None
        walls.append([int(env.unwrapped._tables.simulator.tables["wall_seed"][0]) for env in runner.env.envs])
        runner.stop()
    return walls


@pytest.mark.filterwarnings("ignore:.*Overriding environment rllib-multi-agent-env")
@pytest.mark.parametrize("seed", [None, 3])
def test_all_envs_of_all_env_runners_play_other_games_and_the_same_ones_again(seed: int | None) -> None:
    walls = first_walls(2, seed)
    assert len({wall for of_runner in walls for wall in of_runner}) == 8
    assert first_walls(2, seed) == walls
