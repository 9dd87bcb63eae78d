from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from suphx.environments import ENVIRONMENT_ID, riichi_v0
from suphx.games.riichi.table import OWN_TURN
from tests.environments.random_action import random_action

# PettingZoo gives the first two for every dictionary observation but those of its own games, and the third for a seat
# whose game is over.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]


@pytest.mark.parametrize("settings", [{}, {"encoder": "suphx"}, {"packed": True, "reward": "placement"}])
def test_the_checker_of_pettingzoo_accepts_it(settings: dict[str, Any]) -> None:
    api_test(pettingzoo.make("aec", ENVIRONMENT_ID, **settings), num_cycles=400)


def test_a_seed_gives_the_same_game() -> None:
    """PettingZoo's own test; its max_cycles_test is for parallel environments with that argument: this has neither."""
    seed_test(riichi_v0.env, num_cycles=150)


def test_it_can_be_converted_to_a_parallel_environment() -> None:
    parallel, env = turn_based_aec_to_parallel(riichi_v0.env()), riichi_v0.env()
    observations, _ = parallel.reset(seed=1)
    env.reset(seed=1)
    random, num_steps = np.random.default_rng(1), 0
    while parallel.agents:
        (agent,) = (agent for agent in parallel.agents if observations[agent]["action_mask"].any())
        assert agent == env.agent_selection
        action = random_action(random, observations[agent]["action_mask"])
        observations, rewards, terminations, _, _ = parallel.step(dict.fromkeys(parallel.agents, action))
        env.step(action)
        assert rewards == env.rewards
        num_steps += 1
    assert all(terminations.values())
    assert num_steps > 100


def test_it_renders_in_all_its_modes(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(riichi_v0.env)
    assert "dora indicators" in capsys.readouterr().out


def test_masks_are_the_legal_actions_and_rewards_sum_to_the_points_of_the_game() -> None:
    env = riichi_v0.raw_env()
    table = env._tables.simulator.tables[0]
    random, totals = np.random.default_rng(1), dict.fromkeys(riichi_v0.AGENTS, 0.0)
    env.reset(seed=9)
    for agent in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        totals[agent] += reward
        if terminated:
            assert info == {"placement": table["placement"][riichi_v0.AGENTS.index(agent)]}
            env.step(None)
            continue
        assert agent == riichi_v0.AGENTS[table["actor"]]
        assert (observation["action_mask"] == table["legal"]).all()
        env.step(random_action(random, observation["action_mask"]))
    assert env.agents == []
    assert np.allclose([25_000 + 10_000 * totals[agent] for agent in riichi_v0.AGENTS], table["scores"])


def test_no_seat_sees_what_is_hidden_from_it() -> None:
    """Tiles that others hold or draw change nothing that a seat sees, whether it decides or waits."""
    env = riichi_v0.raw_env(encoder="suphx")
    table = env._tables.simulator.tables[0]
    random, num_compared = np.random.default_rng(4), 0
    env.reset(seed=2)
    for _ in range(120):
        for seat, agent in enumerate(riichi_v0.AGENTS):
            if seat == table["actor"]:
                continue
            before, kept = env.observe(agent), table.copy()
            assert not before["action_mask"].any()
            others = [other for other in range(4) if other != seat]
            table["hand"][others] = table["hand"][np.roll(others, 1)]
            table["red"][others] = 7 - table["red"][others]
            if table["phase"] == OWN_TURN:
                table["drawn"] = (table["drawn"] + 5) % 34
            table["legal"] = 1 - table["legal"]
            table["claim_actions"] = 3
            assert (env.observe(agent)["observation"] == before["observation"]).all()
            env._tables.simulator.tables[0] = kept
            num_compared += 1
        env.step(random_action(random, env.observe(env.agent_selection)["action_mask"]))
    assert num_compared == 3 * 120


def test_an_illegal_action_ends_the_game_or_is_an_error() -> None:
    wrapped, raw = riichi_v0.env(illegal_reward=-3.0), riichi_v0.raw_env()
    for env in (wrapped, raw):
        env.reset(seed=1)
    agent = raw.agent_selection
    illegal = int(raw.observe(agent)["action_mask"].argmin())
    wrapped.step(illegal)
    assert wrapped.terminations[agent]
    assert wrapped.rewards[agent] == -3.0
    assert wrapped.infos[agent]["placement"] == 0
    with pytest.raises(ValueError, match="illegal_reward is None: use raw_env"):
        riichi_v0.env(illegal_reward=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is not legal"):
        raw.step(illegal)
    with pytest.raises(ValueError, match="give a legal action"):
        raw.step(None)


@pytest.mark.parametrize("make", [riichi_v0.env, riichi_v0.raw_env])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_continues_the_game(make: Callable[..., Any], duplicate: Callable[[Any], Any]) -> None:
    random, env = np.random.default_rng(2), make(packed=True, points_per_reward=5.0)
    env.reset(seed=6)

    def play(envs: Sequence[Any], moves: int) -> None:
        for _ in range(moves):
            agent = envs[0].agent_selection
            seen = [each.observe(agent) for each in envs]
            action = random_action(random, seen[0]["action_mask"])
            for each, own in zip(envs, seen, strict=True):
                assert each.agent_selection == agent
                assert (own["observation"] == seen[0]["observation"]).all()
                assert (own["action_mask"] == seen[0]["action_mask"]).all()
                each.step(action)
                assert each.rewards == envs[0].rewards

    play([env], 50)
    twin = duplicate(env)
    play([env, twin], 200)
    play([env], 5)  # alone: the twin stays
    assert (env.observe("seat_0")["observation"] != twin.observe("seat_0")["observation"]).any()
    for each in (env, twin):
        each.reset()
    play([env, twin], 20)


@pytest.mark.parametrize("settings", [{}, {"packed": True}])
def test_the_state_has_what_all_seats_see(settings: dict[str, Any]) -> None:
    env = riichi_v0.env(**settings)
    env.reset(seed=3)
    state = env.state()
    assert env.unwrapped.state_space.contains(state)
    for seat, agent in enumerate(riichi_v0.AGENTS):
        assert (state[seat] == env.observe(agent)["observation"]).all()
