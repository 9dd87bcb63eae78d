"""The simulator as an environment of RLlib: a hanchan is an episode, four seats are its agents.

>>> env = HanchanEnv({"encoder": "mini", "seed": 7})
>>> observations, _ = env.reset()
>>> seat, observation = next(iter(observations.items()))  # the one seat that decides now
>>> observations, rewards, terminated, truncated, infos = env.step({seat: observation["action_mask"].argmax()})

Every decision of every seat is a step, passes and forced moves too. Rewards are paid to all seats at the end of each
kyoku: what their points have changed by. Observations have the keys that RLlib's new API stack expects of masked
actions: ``observations`` and ``action_mask``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.utils.typing import MultiAgentDict
from ray.tune.registry import register_env

from suphx.games.riichi import (
    DISCARD_HEAD,
    GAME_END,
    MAX_SEED,
    NUM_ACTIONS,
    NUM_COLUMNS,
    Simulator,
    encode_batch,
    find_encoder,
    tenhou,
    unpack,
)
from suphx.kernel.record import I64
from suphx.selfplay.agents.agent import BaselineAgent
from suphx.selfplay.agents.choice import BASELINES

HANCHAN_ENV = "suphx_hanchan"
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
PLAYER = "player"
SEATS = tuple(f"seat_{seat}" for seat in range(4))
_TABLE: I64 = np.zeros(1, np.int64)  # the only table of the simulator
_NO_CANDIDATE: I64 = np.full(1, -1, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class HanchanEnvConfig:
    """The keys of RLlib's ``env_config``."""

    encoder: str = "mini"
    """Whose public planes a seat sees (docs/features.md)."""
    points_per_reward: float = 10_000.0
    """Points that are a reward of 1."""
    opponent: str = ""
    """A shipped baseline that plays three seats; the only agent is then ``player``, at another seat each game. Empty:
    all four seats are agents, ``seat_0`` to ``seat_3``."""
    seed: int = 0
    """Of the walls, until ``reset`` is given another one."""

    def __post_init__(self) -> None:
        find_encoder(self.encoder)
        if not self.points_per_reward > 0:
            raise ValueError(f"points_per_reward is {self.points_per_reward}: use more than 0")
        if self.opponent and self.opponent not in BASELINES:
            raise ValueError(f"opponent is {self.opponent!r}: use {', '.join(BASELINES)}, or nothing")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}: use 0 or more")


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
        known = {field.name for field in fields(HanchanEnvConfig)}
        if unknown := sorted(set(config) - known):
            raise ValueError(f"env_config has {', '.join(unknown)}: use {', '.join(sorted(known))}")
        self.config = HanchanEnvConfig(**config)
        # RLlib checks every env with the same seed before it uses it, so a seed alone would give all workers one game.
        self._stream = (getattr(config, "worker_index", 0), getattr(config, "vector_index", 0))
        self._random = np.random.default_rng((self.config.seed, *self._stream))
        self._opponent = BaselineAgent(self.config.opponent) if self.config.opponent else None
        self.possible_agents = [PLAYER] if self._opponent else list(SEATS)
        self.agents = list(self.possible_agents)
        self._layout = find_encoder(self.config.encoder).public
        planes = Box(0, 1, (NUM_COLUMNS, 1, self._layout.num_planes), np.uint8)
        mask = Box(0, 1, (NUM_ACTIONS,), np.uint8)
        self.observation_spaces = {agent: Dict({OBSERVATIONS: planes, ACTION_MASK: mask}) for agent in self.agents}
        self._actions = {agent: SeatActions() for agent in self.agents}
        self.action_spaces = dict(self._actions)
        self._simulator = Simulator(1, tenhou())
        self._player_seat = 0
        self._points = np.zeros(4, np.int64)
        """When the kyoku began."""
        self._owed = np.zeros(4)
        """Rewards that are not paid out yet."""

    def reset(  # type: ignore[override] # RLlib's own class differs from gymnasium's
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[MultiAgentDict, MultiAgentDict]:
        """Start a hanchan; return the observation of the agent that decides, and no infos."""
        if seed is not None:
            self._random = np.random.default_rng((seed, *self._stream))
        self._simulator.reset([int(self._random.integers(MAX_SEED))])
        self._player_seat = int(self._random.integers(len(SEATS)))
        self._points[:] = self._table["scores"]
        self._owed[:] = 0
        self._play_opponents()
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
        self._advance(int(action_dict[actor]))
        self._play_opponents()
        everybody = (*self.agents, "__all__")
        ended: MultiAgentDict = dict.fromkeys(everybody, self._is_over)
        return self._observe(), self._pay(actor), ended, dict.fromkeys(everybody, False), {}

    @property
    def _table(self) -> Any:
        return self._simulator.tables[0]

    @property
    def _is_over(self) -> bool:
        return bool(self._table["phase"] == GAME_END)

    def _agent(self, seat: int) -> str:
        return PLAYER if self._opponent else SEATS[seat]

    def _play_opponents(self) -> None:
        while self._opponent and not self._is_over and self._table["actor"] != self._player_seat:
            self._advance(int(self._opponent.act(self._simulator.tables, _TABLE)[0]))

    def _advance(self, action: int) -> None:
        num_kyoku = int(self._table["num_kyoku"])
        self._simulator.advance(_TABLE, np.array([action]))
        if self._is_over or self._table["num_kyoku"] != num_kyoku:
            self._owed += (self._table["scores"] - self._points) / self.config.points_per_reward
            self._points[:] = self._table["scores"]

    def _pay(self, actor: str) -> MultiAgentDict:
        """Return what is owed; the actor of a step is always told, if only that it is nothing."""
        seats = [self._player_seat] if self._opponent else range(len(SEATS))
        owed = {self._agent(seat): float(self._owed[seat]) for seat in seats}
        self._owed[:] = 0
        return {agent: reward for agent, reward in owed.items() if reward or agent == actor}

    def _observe(self) -> MultiAgentDict:
        """Return what the one who decides sees, public planes in claims too; nothing at the end of the game."""
        if self._is_over:
            return {}
        agent = self._agent(self._table["actor"])
        row = np.zeros((1, self._layout.row_bytes), np.uint8)
        encode_batch(
            find_encoder(self.config.encoder), DISCARD_HEAD, self._simulator.tables, _TABLE, _NO_CANDIDATE, row
        )
        planes = unpack(row[0], self._layout.num_planes)
        legal = self._table["legal"].copy()
        self._actions[agent].legal = legal
        return {agent: {OBSERVATIONS: planes.T[:, None, :], ACTION_MASK: legal.astype(np.uint8)}}


def register_hanchan_env() -> None:
    """Make the env known to RLlib by the name ``HANCHAN_ENV``, with other games for every env of a worker."""

    def create(context: Any) -> HanchanEnv:
        env = HanchanEnv(context)
        context.vector_index += 1  # RLlib gives the same context to all envs of a worker
        return env

    register_env(HANCHAN_ENV, create)
