from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from suphx.environments import ENVIRONMENT_ID, riichi_v0
from suphx.environments.riichi_env import RiichiEnv, RiichiVectorEnv
from tests.environments.random_action import random_actions

NUM_ENVS = 3


def both(mode: AutoresetMode, **settings: Any) -> tuple[RiichiVectorEnv, SyncVectorEnv]:
    """Return the vector environment and gymnasium's own one of as many single environments."""
    single = [lambda: RiichiEnv(opponents="random", **settings)] * NUM_ENVS
    ours = RiichiVectorEnv(NUM_ENVS, opponents="random", autoreset_mode=mode, **settings)
    return ours, SyncVectorEnv(single, autoreset_mode=mode)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("settings", [{}, {"packed": True, "reward": "placement", "seat": 3}])
def test_every_table_equals_a_single_environment_over_its_resets(mode: AutoresetMode, settings: dict[str, Any]) -> None:
    """Observations, rewards, ends and infos of gymnasium's SyncVectorEnv, illegal actions included."""
    ours, theirs = both(mode, **settings)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    random, num_ends = np.random.default_rng(2), 0
    result: Any = ours.reset(seed=7)
    expected: Any = theirs.reset(seed=7)
    assert data_equivalence(result, expected, exact=True)
    for _ in range(400):
        masks = result[-1]["action_mask"]
        actions = random_actions(random, masks if random.random() < 0.99 else 1 - masks)
        step = ours.step(actions)
        assert data_equivalence(step, theirs.step(actions), exact=True)
        num_ends += int(step[2].sum())
        result = step
    assert num_ends > NUM_ENVS


def test_without_autoreset_the_caller_starts_finished_games() -> None:
    ours, theirs = both(AutoresetMode.DISABLED)
    random = np.random.default_rng(3)
    result: Any = ours.reset(seed=1)
    expected: Any = theirs.reset(seed=1)
    num_ends = 0
    assert data_equivalence(result, expected, exact=True)
    for _ in range(350):
        actions = random_actions(random, result[-1]["action_mask"])
        step = ours.step(actions)
        assert data_equivalence(step, theirs.step(actions), exact=True)
        result = step
        if step[2].any():
            num_ends += 1
            with pytest.raises(ValueError, match="is over: call reset before step"):
                ours.step(actions)
            result = ours.reset(options={"reset_mask": step[2]})
            expected = theirs.reset(options={"reset_mask": step[2].copy()})
            assert (result[0] == expected[0]).all()
    assert num_ends > 0


def test_without_copies_the_same_arrays_are_overwritten() -> None:
    env = RiichiVectorEnv(3, opponents="random", packed=True, copy=False)
    first, infos = env.reset(seed=1)
    before = first.copy()
    second, *_, later = env.step(random_actions(np.random.default_rng(0), infos["action_mask"]))
    assert first is second is env.tables.planes
    assert infos["action_mask"] is later["action_mask"]
    assert (before != second).any()


def test_gymnasium_makes_it_by_its_name() -> None:
    env = gymnasium.make_vec(ENVIRONMENT_ID, num_envs=2, vectorization_mode="vector_entry_point", opponents="random")
    assert isinstance(env.unwrapped, RiichiVectorEnv)
    assert env.reset(seed=1)[0].shape == env.observation_space.shape


def test_without_opponents_one_policy_plays_all_seats_as_in_pettingzoo() -> None:
    """Seats, observations, masks, rewards and places of whole games, decision by decision."""
    ours = RiichiVectorEnv(NUM_ENVS, opponents=None, autoreset_mode="Disabled", illegal_reward=None)
    theirs = [riichi_v0.raw_env() for _ in range(NUM_ENVS)]
    for number, env in enumerate(theirs):
        env.reset(seed=21 + number)
    observations, infos = ours.reset(seed=21)
    random, is_over = np.random.default_rng(4), np.zeros(NUM_ENVS, np.bool_)
    while not is_over.any():
        for number, env in enumerate(theirs):
            assert env.agent_selection == f"seat_{infos['seat'][number]}"
            expected = env.observe(env.agent_selection)
            assert (observations[number] == expected["observation"]).all()
            assert (infos["action_mask"][number] == expected["action_mask"]).all()
        actors = infos["seat"]
        actions = random_actions(random, infos["action_mask"])
        observations, rewards, is_over, _, infos = ours.step(actions)
        for number, env in enumerate(theirs):
            env.step(int(actions[number]))
            assert infos["rewards"][number].tolist() == [env.rewards[f"seat_{seat}"] for seat in range(4)]
            assert rewards[number] == infos["rewards"][number, actors[number]]
            assert is_over[number] == all(env.terminations.values())
    (first, *_) = np.flatnonzero(is_over)
    assert sorted(infos["placement"][first]) == [1, 2, 3, 4]
    assert (infos["placement"][~is_over] == 0).all()


def test_an_illegal_action_of_self_play_costs_the_seat_that_acted() -> None:
    env = RiichiVectorEnv(2, opponents=None, illegal_reward=-2.0)
    _, infos = env.reset(seed=1)
    seats = infos["seat"]
    _, rewards, ended, _, infos = env.step(np.array([int(infos["action_mask"][0].argmax()), -1]))
    assert (rewards.tolist(), ended.tolist()) == ([0.0, -2.0], [False, True])
    assert infos["rewards"][1].tolist() == [-2.0 if seat == seats[1] else 0.0 for seat in range(4)]


def test_before_a_reset_there_is_nothing_to_step() -> None:
    env = RiichiVectorEnv(2, opponents="random")
    with pytest.raises(ValueError, match="table 0 has no game: call reset before step"):
        env.step([37, 37])
    env.reset(seed=1, options={"reset_mask": np.array([True, False])})
    with pytest.raises(ValueError, match="table 1 has no game: call reset before step"):
        env.step([37, 37])


def test_tables_are_rendered_as_text_with_the_hand_of_the_seat_that_decides() -> None:
    env = RiichiVectorEnv(2, opponents="random", render_mode="ansi")
    env.reset(seed=3)
    single = RiichiEnv(opponents="random", render_mode="ansi")
    single.reset(seed=4)
    texts = env.render()
    assert texts is not None
    assert len(texts) == 2
    assert texts[1] == single.render() != texts[0]
    assert RiichiVectorEnv(1).render() is None
    with pytest.raises(ValueError, match="render_mode is 'human': use ansi"):
        RiichiVectorEnv(1, render_mode="human")


@pytest.mark.parametrize(
    "make", [lambda: RiichiVectorEnv(2, opponents=None), lambda: RiichiEnv(opponents="random"), riichi_v0.raw_env]
)
def test_no_environment_plays_on_after_it_was_closed(make: Callable[[], Any]) -> None:
    env = make()
    env.reset(seed=1)
    for _ in range(2):
        env.close()
    with pytest.raises(ClosedEnvironmentError, match="this environment was closed: make another one"):
        env.step(0)
    with pytest.raises(ClosedEnvironmentError):
        env.reset(seed=1)
