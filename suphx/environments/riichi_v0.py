"""A hanchan as an AEC environment of PettingZoo: four agents, each of which sees its own seat.

>>> from suphx.environments import riichi_v0
>>> env = riichi_v0.env(encoder="mini")
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, terminated, truncated, info = env.last()
...     is_over = terminated or truncated
...     env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))

An import of this module registers ``suphx/Riichi-v0`` with PettingZoo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils import seeding
from gymnasium.vector.utils import batch_space

from suphx.environments import ENVIRONMENT_ID
from suphx.environments.riichi_env import RENDER_MODES, check_open, check_render_mode, draw_game, render_table
from suphx.environments.seat_tables import (
    EnvironmentConfig,
    IllegalReward,
    RewardKind,
    SeatTables,
    observation_space,
    read_action,
)
from suphx.games.riichi.bots import EVERY_SEAT, observe_seats
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.table import NUM_ACTIONS
from suphx.kernel.record import I8, U8

try:
    import pettingzoo
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pettingzoo is not installed: run pip install pettingzoo, or install this package with its extra pettingzoo",
        name="pettingzoo",
    ) from error

AGENTS = tuple(f"seat_{seat}" for seat in range(4))


def env(*, illegal_reward: IllegalReward = "lowest", **settings: Any) -> Any:
    """Return the environment with PettingZoo's usual wrappers: an illegal action ends the game with ``illegal_reward``.

    "lowest": see ``EnvironmentConfig.illegal_reward``. ``settings``: those of ``raw_env``. ValueError for None.
    """
    if illegal_reward is None:
        raise ValueError("illegal_reward is None: use raw_env, in which an illegal action is a ValueError")
    raw = raw_env(**settings)
    wrapped = wrappers.TerminateIllegalWrapper(raw, illegal_reward=raw.config.illegal_reward(illegal_reward))
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class raw_env(pettingzoo.AECEnv):  # type: ignore[misc] # noqa: N801 # PettingZoo's own name for it
    """The environment without wrappers: an illegal action is a ValueError.

    All seats get their rewards when a kyoku ends (``points``) or at the end of the game (``placement``). A deep copy,
    also through pickle, continues the game as the original does. ``layout``: the names and places of the planes.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "riichi_v0",
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(
        self,
        *,
        encoder: str = "mini",
        rules: Rules | None = None,
        reward: RewardKind = "points",
        points_per_reward: float = 10_000.0,
        packed: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment; ValueError for settings that do not exist.

        ``rules``: Tenhou's if None. ``encoder``, ``reward``, ``points_per_reward``: see EnvironmentConfig. ``packed``:
        observations are packed rows instead of planes.
        """
        super().__init__()
        check_render_mode(render_mode)
        self.config = EnvironmentConfig(
            encoder=encoder, rules=rules or tenhou(), reward=reward, points_per_reward=points_per_reward
        )
        self._tables = SeatTables(1, self.config)
        self.layout = self._tables.layout
        self._is_packed = packed
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        planes = observation_space(self.layout, packed=packed)
        masks = Box(0, 1, (NUM_ACTIONS,), np.int8)
        self.observation_spaces = {agent: Dict({"observation": planes, "action_mask": masks}) for agent in AGENTS}
        self.state_space = batch_space(planes, len(AGENTS))
        self.action_spaces: dict[str, Discrete[np.int64]] = {agent: Discrete(NUM_ACTIONS) for agent in AGENTS}
        self._np_random, _ = seeding.np_random()
        self._is_closed = False

    def observation_space(self, agent: str) -> Dict:
        """Return the space of ``{"observation": uint8 planes, "action_mask": int8 (120,)}``."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete[np.int64]:
        """Return the action table of a seat: 120 actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a hanchan; equal seeds give equal walls. No option has an effect.

        ClosedEnvironmentError after ``close``, as for ``step``.
        """
        check_open(is_closed=self._is_closed)
        if seed is not None:
            self._np_random, _ = seeding.np_random(seed)
        wall, _ = draw_game(self._np_random, None)
        self._tables.start(self._tables.everything, np.array([wall]), np.array([EVERY_SEAT]))
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {"placement": 0} for agent in AGENTS}
        self._select()

    def step(self, action: int | np.integer | None) -> None:
        """Apply the action of the agent that decides; None for an agent whose game is over."""
        check_open(is_closed=self._is_closed)
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(
                f"the action of {self.agent_selection} is None: give a legal action until its game is over"
            )
        tables = self._tables
        tables.act(tables.everything, read_action(action))
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = dict(zip(AGENTS, tables.pay(tables.everything)[0].tolist(), strict=True))
        self._accumulate_rewards()
        if tables.is_over(tables.everything)[0]:
            self.terminations = dict.fromkeys(AGENTS, True)
            places = tables.simulator.placements()[0].tolist()
            self.infos = {agent: {"placement": place} for agent, place in zip(AGENTS, places, strict=True)}
        self._select()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what ``agent`` sees; its mask is empty unless it decides now."""
        planes, masks = self._observe([AGENTS.index(agent)])
        return {"observation": planes[0], "action_mask": masks[0]}

    def state(self) -> U8:
        """Return the observations of all seats, uint8 [4, planes, 34] (packed: [4, observation_bytes]), for a critic.

        They have all hands, but not the wall.
        """
        return self._observe(range(len(AGENTS)))[0]

    def _observe(self, seats: Sequence[int]) -> tuple[U8, I8]:
        tables = self._tables.simulator.tables.repeat(len(seats))
        return observe_seats(self._tables.encoder, self.layout, tables, np.array(seats), packed=self._is_packed)

    def render(self) -> str | None:
        """Return the table as the agent that decides sees it (``ansi``), or write it to standard output (``human``)."""
        return render_table(self._tables, int(self._tables.simulator.tables["actor"][0]), self.render_mode)

    def close(self) -> None:
        """Refuse further games: the environment holds no window, file or process."""
        self._is_closed = True

    def _select(self) -> None:
        self.agent_selection = AGENTS[int(self._tables.simulator.tables["actor"][0])]
        if self.render_mode == "human":
            self.render()


if ENVIRONMENT_ID not in pettingzoo.aec_registry:
    pettingzoo.register("aec", ENVIRONMENT_ID, entry_point="suphx.environments.riichi_v0:env")
