from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from suphx.environments import ENVIRONMENT_ID
from suphx.environments.riichi_env import RiichiEnv
from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.features.encoder import encode_rows, find_encoder
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tables import ScriptedAgent
from tests.environments.random_action import random_action

START_POINTS = 25_000
ONE = np.zeros(1, np.int64)


@pytest.mark.parametrize("settings", [{"encoder": "suphx", "reward": "placement"}, {"packed": True, "seat": 2}])
def test_the_checker_of_gymnasium_accepts_it(settings: dict[str, Any]) -> None:
    check_env(gymnasium.make(ENVIRONMENT_ID, opponents="random", **settings).unwrapped)


def test_a_game_is_the_one_of_the_engine() -> None:
    """The same wall, the scripted agents' own actions at the other seats; planes, masks, and the score."""
    env = RiichiEnv(opponents=["random", "tsumogiri", "ukeire"])
    observation, info = env.reset(seed=5)
    simulator = Simulator(1, tenhou())
    simulator.reset([int(env._tables.simulator.tables["wall_seed"][0])])
    table, mini = simulator.tables[0], find_encoder("mini")
    opponents = dict(enumerate(map(ScriptedAgent, ("random", "tsumogiri", "ukeire")), start=1))
    total, ended = 0.0, False
    random = np.random.default_rng(1)
    while simulator.waiting().size:
        place = (int(table["actor"]) - info["seat"]) % 4
        if place:
            simulator.advance(ONE, opponents[place].act(simulator.tables, ONE))
            continue
        assert not ended
        assert (info["action_mask"] == table["legal"]).all()
        row = encode_rows(mini, DISCARD_HEAD, simulator.tables, ONE, np.full(1, -1))
        assert (unpack_planes(row[0], mini.public.num_planes) == observation[: mini.public.num_planes]).all()
        action = random_action(random, info["action_mask"])
        simulator.advance(ONE, np.array([action]))
        observation, reward, ended, _, info = env.step(action)
        total += reward
    assert ended
    assert START_POINTS + 10_000 * total == pytest.approx(simulator.scores()[0, info["seat"]])
    assert info["placement"] == simulator.placements()[0, info["seat"]]
    assert env.observation_space.contains(observation)
    assert not info["action_mask"].any()


def play(env: RiichiEnv, seed: int | None) -> tuple[list[int], float]:
    """Play a game of random legal actions; return them and the sum of the rewards."""
    _, info = env.reset(seed=seed)
    random, actions, total, ended = np.random.default_rng(0), [], 0.0, False
    while not ended:
        actions.append(random_action(random, info["action_mask"]))
        _, reward, ended, _, info = env.step(actions[-1])
        total += reward
    return actions, total


def test_a_seed_gives_the_same_game_and_the_next_game_is_another() -> None:
    env, same = RiichiEnv(opponents="random"), RiichiEnv(opponents="random")
    games = [play(env, 3), play(env, None), play(env, 4)]
    assert games[:2] == [play(same, 3), play(same, None)]
    assert len({tuple(actions) for actions, _ in games}) == 3


def test_the_placement_is_the_reward_of_a_whole_game() -> None:
    env = RiichiEnv(opponents="random", reward="placement", seat=1)
    for seed in range(4):
        _, total = play(env, seed)
        place = int(env._tables.simulator.placements()[0, 1])
        assert total == pytest.approx((2.5 - place) / 1.5)


def test_an_illegal_action_ends_the_episode_or_is_an_error() -> None:
    env = RiichiEnv(opponents="random", illegal_reward=-2.5)
    _, info = env.reset(seed=1)
    illegal = int(info["action_mask"].argmin())
    _, reward, terminated, truncated, _ = env.step(illegal)
    assert (reward, terminated, truncated) == (-2.5, True, False)
    with pytest.raises(ValueError, match="call reset before step"):
        env.step(illegal)
    strict = RiichiEnv(opponents="random", illegal_reward=None)
    strict.reset(seed=1)
    with pytest.raises(ValueError, match="is not legal"):
        strict.step(illegal)
    with pytest.raises(ValueError, match="unknown action 500 is not legal"):
        strict.step(500)


def test_the_table_is_shown_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    env = RiichiEnv(opponents="random", seat=0, render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert text is not None
    assert text.startswith("East 1, 0 sticks, dora indicators ")
    RiichiEnv(opponents="random", seat=0, render_mode="human").reset(seed=1)
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("settings", "lowest"), [({}, -10.0), ({"points_per_reward": 1_000.0}, -100.0), ({"reward": "placement"}, -2.0)]
)
def test_an_illegal_action_never_pays(settings: dict[str, Any], lowest: float) -> None:
    """By default it costs all points of a table, or more than fourth place."""
    env = RiichiEnv(opponents="random", **settings)
    _, info = env.reset(seed=1)
    assert env.step(int(info["action_mask"].argmin()))[1] == lowest


@pytest.mark.parametrize("action", [3.9, np.array([5]), np.zeros(120), "3", True, None])
def test_an_action_that_is_no_integer_is_refused(action: Any) -> None:
    env = RiichiEnv(opponents="random")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"action (is|has the shape) .*: give (an|one) integer from 0 to 119"):
        env.step(action)


def test_masks_have_the_name_that_maskable_ppo_looks_for() -> None:
    env = gymnasium.make(ENVIRONMENT_ID, opponents="random")
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert (masks == info["action_mask"]).all()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_continues_the_game_and_is_small(duplicate: Callable[[RiichiEnv], RiichiEnv]) -> None:
    env = RiichiEnv(opponents="random")
    _, info = env.reset(seed=1)
    assert len(pickle.dumps(env)) < 1_000_000, "the tables of the engine have 25 MB"
    twin, random = duplicate(env), np.random.default_rng(1)
    for _ in range(50):
        action = random_action(random, info["action_mask"])
        observation, reward, ended, _, info = env.step(action)
        same, paid, over, _, known = twin.step(action)
        assert (observation == same).all()
        assert (reward, ended) == (paid, over)
        assert (info["action_mask"] == known["action_mask"]).all()
