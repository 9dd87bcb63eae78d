from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from ray.rllib.env.env_context import EnvContext
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.features.encoder import encode_rows, find_encoder
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import CLAIM, PASS
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import kind_of_face
from suphx_platform.reference.riichi_env import ACTION_MASK, OBSERVATIONS, PLAYER, SEATS, HanchanEnv

START_POINTS = 25_000
UNIT = 10_000


def lowest_legal(observation: dict[str, NDArray[Any]]) -> int:
    return int(observation[ACTION_MASK].argmax())


def play(
    env: HanchanEnv, seed: int | None = None
) -> tuple[list[tuple[str, int]], list[dict[Any, Any]], dict[Any, Any]]:
    """Play a game of lowest legal actions; return the moves, all rewards and the last ``terminated``."""
    observations, infos = env.reset(seed=seed)
    assert infos == {}
    moves, rewards = [], []
    terminated: dict[Any, Any] = {}
    while observations:
        ((agent, observation),) = observations.items()
        moves.append((str(agent), lowest_legal(observation)))
        observations, paid, terminated, truncated, infos = env.step({agent: moves[-1][1]})
        rewards.append(paid)
        assert not any(truncated.values())
        assert infos == {}
        assert terminated["__all__"] == (not observations)
    return moves, rewards, terminated


@pytest.mark.parametrize("encoder", ["mini", "suphx"])
@pytest.mark.parametrize("opponent", ["", "random"])
def test_the_checker_of_rllib_accepts_it(encoder: str, opponent: str) -> None:
    check_multiagent_environments(HanchanEnv({"encoder": encoder, "opponent": opponent}))


def test_a_game_is_the_one_that_the_simulator_plays() -> None:
    """The same actions of the same wall, with the planes and masks of each decision and the points of each kyoku."""
    env = HanchanEnv({})
    observations, _ = env.reset(seed=5)
    simulator = Simulator(1, tenhou())
    simulator.reset([int(env._tables.simulator.tables["wall_seed"][0])])
    table = simulator.tables[0]
    mini = find_encoder("mini")
    points = np.zeros(4)
    num_passes = 0
    while observations:
        ((agent, observation),) = observations.items()
        assert agent == SEATS[table["actor"]]
        assert env.get_observation_space(agent).contains(observation)
        assert (observation[ACTION_MASK] == table["legal"]).all()
        row = encode_rows(mini, DISCARD_HEAD, simulator.tables, np.zeros(1, np.int64), np.full(1, -1))
        planes = observation[OBSERVATIONS][:, 0, :].T
        assert (unpack_planes(row[0], mini.public.num_planes) == planes[: mini.public.num_planes]).all()
        if table["phase"] == CLAIM:
            claimed = planes[env.layout["claimed_tile"].first]
            assert np.flatnonzero(claimed).tolist() == [kind_of_face(int(table["claimed_face"]))]
        action = lowest_legal(observation)
        num_passes += observation[ACTION_MASK][PASS]
        simulator.advance(np.zeros(1, np.int64), np.array([action]))
        observations, rewards, _, _, _ = env.step({agent: action})
        points += [rewards.get(seat, 0.0) * UNIT for seat in SEATS]
    assert np.allclose(points + START_POINTS, simulator.scores()[0])
    assert simulator.placements()[0].any()
    assert num_passes > 0, "no seat was asked for a claim"


def test_rewards_are_paid_to_all_seats_when_a_kyoku_ends_and_only_then() -> None:
    env = HanchanEnv({"points_per_reward": 100.0})
    observations, _ = env.reset(seed=1)
    kyokus = 0
    while observations:
        ((agent, observation),) = observations.items()
        before = int(env._tables.simulator.tables["num_kyoku"][0])
        observations, rewards, terminated, _, _ = env.step({agent: lowest_legal(observation)})
        has_ended = terminated["__all__"] or env._tables.simulator.tables["num_kyoku"][0] != before
        kyokus += bool(has_ended)
        assert has_ended or rewards == {agent: 0.0}
        assert abs(sum(rewards.values())) <= 4 * 10, "points come from the other seats and from sticks"
    assert kyokus >= 4


def test_with_an_opponent_only_the_player_decides_and_sits_anywhere() -> None:
    env = HanchanEnv({"opponent": "random"})
    seats = set()
    for _ in range(8):
        moves, rewards, terminated = play(env)
        assert {agent for agent, _ in moves} == {PLAYER}
        seats.add(env._player_seat)
        points = START_POINTS + UNIT * sum(paid[PLAYER] for paid in rewards)
        assert points == pytest.approx(env._tables.simulator.scores()[0, env._player_seat])
        assert terminated == {PLAYER: True, "__all__": True}
    assert len(seats) > 1


def test_opponents_play_as_the_scripted_agent_does() -> None:
    env = HanchanEnv({"opponent": "ukeire"})
    env.reset(seed=3)
    simulator = Simulator(1, tenhou())
    simulator.reset([int(env._tables.simulator.tables["wall_seed"][0])])
    agent, first = ScriptedAgent("ukeire"), np.zeros(1, np.int64)
    while simulator.tables["actor"][0] != env._player_seat:
        simulator.advance(first, agent.act(simulator.tables, first))
    assert simulator.tables.tobytes() == env._tables.simulator.tables.tobytes()


def test_equal_seeds_give_equal_games_and_the_next_game_is_another() -> None:
    first, again, other = (play(HanchanEnv({}), seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    env = HanchanEnv({"seed": 5})
    one, two = play(env), play(env)
    assert one != two
    assert [one, two] == [play(same) for same in [HanchanEnv({"seed": 5})] for _ in range(2)]


def test_workers_and_envs_of_a_worker_get_other_games_though_rllib_checks_all_with_one_seed() -> None:
    """RLlib issue 46986."""
    walls = set()
    for worker, vector in ((1, 0), (1, 1), (2, 0), (2, 1)):
        context = EnvContext({"seed": 7}, worker_index=worker, vector_index=vector)
        env = HanchanEnv(context)
        check_multiagent_environments(env)
        for seed in (None, None, 9):
            env.reset(seed=seed)
            walls.add(int(env._tables.simulator.tables["wall_seed"][0]))
    assert len(walls) == 4 * 3


def test_samples_of_the_action_space_are_legal() -> None:
    env = HanchanEnv({})
    observations, _ = env.reset(seed=2)
    for _ in range(200):
        ((agent, observation),) = observations.items()
        action = env.get_action_space(agent).sample()
        assert observation[ACTION_MASK][action]
        observations, *_ = env.step({agent: action})
        if not observations:
            observations, _ = env.reset()


def test_what_is_not_legal_is_refused() -> None:
    env = HanchanEnv({})
    ((agent, observation),) = env.reset(seed=1)[0].items()
    illegal = int(observation[ACTION_MASK].argmin())
    with pytest.raises(ValueError, match="is not legal"):
        env.step({agent: illegal})
    with pytest.raises(ValueError, match=f"give the one of {agent}, who decides"):
        env.step({"seat_3": 0})
    with pytest.raises(ValueError, match="actions of nobody"):
        env.step({})
