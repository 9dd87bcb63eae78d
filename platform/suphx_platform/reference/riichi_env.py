"""The simulator as an environment of RLlib: a hanchan is an episode, four seats are its agents.

>>> env = HanchanEnv({"encoder": "mini", "seed": 7})
>>> observations, _ = env.reset()
>>> seat, observation = next(iter(observations.items()))  # the one seat that decides now
>>> observations, rewards, terminated, truncated, infos = env.step({seat: observation["action_mask"].argmax()})

Every decision of every seat is a step, passes and forced moves too. Rewards are paid to all seats: for points at the
end of each kyoku, for places at the end of the game. Observations have the keys that RLlib's new API stack expects of
masked actions: ``observations`` and ``action_mask``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.utils.typing import MultiAgentDict
from ray.tune.registry import register_env

from suphx.environments.seat_tables import EnvironmentConfig, RewardKind, SeatTables, read_action, three_opponents
from suphx.games.mahjong.planes import NUM_COLUMNS, unpack_planes
from suphx.games.registry import agent_names
from suphx.games.riichi.bots import EVERY_SEAT
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.simulator import MAX_SEED
from suphx.games.riichi.table import NUM_ACTIONS

HANCHAN_ENV = "suphx_hanchan"
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
PLAYER = "player"
SEATS = tuple(f"seat_{seat}" for seat in range(4))


@dataclass(frozen=True, slots=True, kw_only=True)
class HanchanEnvConfig:
    """The keys of RLlib's ``env_config``."""

    encoder: str = "mini"
    """Whose public planes a seat sees, in front of the decision planes (docs/features.md)."""
    rules: Rules = field(default_factory=tenhou)
    reward: RewardKind = "points"
    points_per_reward: float = 10_000.0
    """These three as in ``EnvironmentConfig``."""
    opponent: str = ""
    """A scripted agent that plays three seats; the only agent is then ``player``, at another seat each game. Empty:
    all four seats are agents, ``seat_0`` to ``seat_3``."""
    seed: int = 0
    """Of the walls, until ``reset`` is given another one."""

    def __post_init__(self) -> None:
        if self.opponent and self.opponent not in agent_names():
            raise ValueError(f"opponent is {self.opponent!r}: use {', '.join(agent_names())}, or nothing")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}: use 0 or more")
        self.of_tables()

    def of_tables(self) -> EnvironmentConfig:
        """Return the settings of the tables. ValueError for what makes no sense."""
        return EnvironmentConfig(
            encoder=self.encoder,
            opponents=three_opponents(self.opponent) if self.opponent else (),
            rules=self.rules,
            reward=self.reward,
            points_per_reward=self.points_per_reward,
        )


class SeatActions(Discrete[np.int64]):
    """The action table of one seat, whose samples are legal: ``legal`` is the mask of its decision now."""

    def __init__(self) -> None:
        super().__init__(NUM_ACTIONS)
        self.legal: NDArray[np.int8] | None = None

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return a random action; without a mask or probabilities of one's own, a legal one."""
        if mask is None and probability is None:
            mask = self.legal
        return super().sample(mask, probability)


class HanchanEnv(MultiAgentEnv):
    """See the module. Equal seeds give equal walls; other workers of RLlib, and other envs of a worker, get others."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """``config``: fields of HanchanEnvConfig, or RLlib's EnvContext of them. ValueError for what makes no sense."""
        super().__init__()  # type: ignore[no-untyped-call]
        known = {each.name for each in fields(HanchanEnvConfig)}
        if unknown := sorted(set(config) - known):
            raise ValueError(f"env_config has {', '.join(unknown)}: use {', '.join(sorted(known))}")
        self.config = HanchanEnvConfig(**config)
        # RLlib checks every env with the same seed before it uses it, so a seed alone would give all workers one game.
        self._stream = (getattr(config, "worker_index", 0), getattr(config, "vector_index", 0))
        self._random = np.random.default_rng((self.config.seed, *self._stream))
        self._has_opponents = bool(self.config.opponent)
        self.possible_agents = [PLAYER] if self._has_opponents else list(SEATS)
        self.agents = list(self.possible_agents)
        self._tables = SeatTables(1, self.config.of_tables())
        self.layout = self._tables.layout
        planes = Box(0, 1, (NUM_COLUMNS, 1, self.layout.num_planes), np.uint8)
        mask = Box(0, 1, (NUM_ACTIONS,), np.uint8)
        self.observation_spaces = {agent: Dict({OBSERVATIONS: planes, ACTION_MASK: mask}) for agent in self.agents}
        self._actions = {agent: SeatActions() for agent in self.agents}
        self.action_spaces = dict(self._actions)
        self._player_seat = 0

    def reset(  # type: ignore[override] # RLlib's own class differs from gymnasium's
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[MultiAgentDict, MultiAgentDict]:
        """Start a hanchan; return the observation of the agent that decides, and no infos."""
        if seed is not None:
            self._random = np.random.default_rng((seed, *self._stream))
        wall = self._random.integers(MAX_SEED, size=1)
        self._player_seat = int(self._random.integers(len(SEATS)))
        seat = self._player_seat if self._has_opponents else EVERY_SEAT
        self._tables.start(self._tables.everything, wall, np.array([seat]))
        return self._observe(), {}

    def step(  # type: ignore[override]
        self, action_dict: MultiAgentDict
    ) -> tuple[MultiAgentDict, MultiAgentDict, MultiAgentDict, MultiAgentDict, MultiAgentDict]:
        """Let the agent that decides act; ValueError for an action of another one, or one that is not legal.

        Returns observations, rewards, terminated, truncated (never), infos (none).
        """
        actor = self._agent(self._table["actor"])
        if list(action_dict) != [actor]:
            raise ValueError(
                f"actions of {', '.join(map(str, action_dict)) or 'nobody'}: give the one of {actor}, who decides"
            )
        self._tables.act(self._tables.everything, read_action(action_dict[actor]))
        everybody = (*self.agents, "__all__")
        ended: MultiAgentDict = dict.fromkeys(everybody, self._is_over)
        return self._observe(), self._pay(actor), ended, dict.fromkeys(everybody, False), {}

    @property
    def _table(self) -> Any:
        return self._tables.simulator.tables[0]

    @property
    def _is_over(self) -> bool:
        return bool(self._tables.is_over(self._tables.everything)[0])

    def _agent(self, seat: int) -> str:
        return PLAYER if self._has_opponents else SEATS[seat]

    def _pay(self, actor: str) -> MultiAgentDict:
        """Return the rewards that are not 0; the actor of a step always gets one."""
        paid = self._tables.pay(self._tables.everything)[0]
        seats = [self._player_seat] if self._has_opponents else range(len(SEATS))
        rewards = {self._agent(seat): float(paid[seat]) for seat in seats}
        return {agent: reward for agent, reward in rewards.items() if reward or agent == actor}

    def _observe(self) -> MultiAgentDict:
        """Return what the one who decides sees, public planes in claims too; nothing at the end of the game."""
        if self._is_over:
            return {}
        agent = self._agent(self._table["actor"])
        planes = unpack_planes(self._tables.planes[0], self.layout.num_planes)
        legal = self._tables.masks[0].copy()
        self._actions[agent].legal = legal
        return {agent: {OBSERVATIONS: planes.T[:, None, :], ACTION_MASK: legal.astype(np.uint8)}}


def register_hanchan_env() -> None:
    """Make the env known to RLlib by the name ``HANCHAN_ENV``, with other games for every env of a worker."""

    def create(context: Any) -> HanchanEnv:
        env = HanchanEnv(context)
        context.vector_index += 1  # RLlib gives the same context to all envs of a worker
        return env

    register_env(HANCHAN_ENV, create)
