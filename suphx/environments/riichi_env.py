"""One seat of a hanchan as an environment of gymnasium; agents of your choice play the other three seats.

>>> import gymnasium
>>> import suphx.environments
>>> env = gymnasium.make("suphx/Riichi-v0", opponents="ukeire")
>>> observation, info = env.reset(seed=1)
>>> action = env.action_space.sample(info["action_mask"])
>>> observation, reward, terminated, truncated, info = env.step(action)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from suphx.environments.environment_config import (
    NUM_SEATS,
    EnvironmentConfig,
    IllegalReward,
    RewardKind,
    three_opponents,
)
from suphx.environments.observation_space import packed_space, planes_space
from suphx.environments.seat_tables import SeatTables, read_action
from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.records.decisions import seat_text
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.simulator import MAX_SEED
from suphx.games.riichi.table import NUM_ACTIONS
from suphx.kernel.record import U8
from suphx.selfplay.agents.agent import AgentLike

RENDER_MODES = ("ansi", "human")


class RiichiEnv(gymnasium.Env[U8, np.int64]):
    """An episode is a hanchan, a step is any decision of the player: discards, claims, passes and forced moves.

    An action that is not legal ends the episode with ``illegal_reward``, or is a ValueError if that is None. ``info``:
    ``action_mask``, int8 (120,); ``seat``, the player's; ``placement``, its place at the end of the game, before it 0.
    ``layout``: the names and places of the planes, such as ``env.unwrapped.layout["drawn_tile"].first``.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self,
        *,
        encoder: str = "mini",
        opponents: AgentLike | Sequence[AgentLike] = "ukeire",
        seat: int | None = None,
        rules: Rules | None = None,
        reward: RewardKind = "points",
        points_per_reward: float = 10_000.0,
        packed: bool = False,
        illegal_reward: IllegalReward | None = "lowest",
        render_mode: str | None = None,
    ) -> None:
        """Make an environment; ValueError for settings that do not exist.

        ``opponents``: an agent, or three from the player's right on: objects such as a ``PolicyAgent``, or addresses
        for ``load_agent``. ``seat``: the player's, 0-3 (0 is the first dealer); None: another one in each game.
        ``rules``: Tenhou's if None. ``encoder``, ``reward``, ``points_per_reward``: see EnvironmentConfig. ``packed``:
        observations are packed rows instead of planes. ``illegal_reward``: of an illegal action, which ends the
        episode; "lowest": ``EnvironmentConfig.lowest_reward``; None: ValueError.
        """
        check_seat(seat)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode is {render_mode!r}: use {' or '.join(RENDER_MODES)}")
        config = EnvironmentConfig(
            encoder=encoder,
            opponents=three_opponents(opponents),
            rules=rules or tenhou(),
            reward=reward,
            points_per_reward=points_per_reward,
        )
        self._tables = SeatTables(1, config)
        self.layout = self._tables.layout
        self._seat, self._is_packed = seat, packed
        self._illegal_reward = config.illegal_reward(illegal_reward)
        self._has_ended = True
        self._is_closed = False
        self.render_mode = render_mode
        self.observation_space = (packed_space if packed else planes_space)(self.layout)
        self.action_space = Discrete(NUM_ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[U8, dict[str, Any]]:
        """Start a hanchan; return the player's first observation and its info. No option has an effect.

        ClosedEnvironmentError after ``close``, as for ``step``.
        """
        check_open(is_closed=self._is_closed)
        super().reset(seed=seed)
        wall, seat = draw_game(self.np_random, self._seat)
        self._tables.start(self._tables.everything, np.array([wall]), np.array([seat]))
        self._has_ended = False
        self._show()
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[U8, float, bool, bool, dict[str, Any]]:
        """Apply the player's action and play on to its next one; an episode is never truncated.

        ValueError when no game is running, for what is no integer, and for an illegal action without an
        ``illegal_reward``.
        """
        check_open(is_closed=self._is_closed)
        if self._has_ended:
            raise ValueError("no game is running: call reset before step")
        tables, actions = self._tables, read_action(action)
        if self._illegal_reward is not None and not tables.is_legal(tables.everything, actions)[0]:
            self._has_ended = True
            return self._observation(), self._illegal_reward, True, False, self._info()
        tables.act(tables.everything, actions)
        self._has_ended = bool(tables.is_over(tables.everything)[0])
        reward = float(tables.pay(tables.everything)[0, tables.seats[0]])
        self._show()
        return self._observation(), reward, self._has_ended, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal now, bool (120,): the name that MaskablePPO of sb3-contrib looks for."""
        legal: NDArray[np.bool_] = self._tables.masks[0] == 1
        return legal

    def render(self) -> str | None:  # type: ignore[override]
        """Return the table as the player sees it (``ansi``), or write it to standard output (``human``)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() has no effect: pass render_mode='ansi' or 'human' when you make it")
            return None
        text = seat_text(self._tables.simulator.tables[0], int(self._tables.seats[0]))
        if self.render_mode == "ansi":
            return text
        sys.stdout.write(text)
        return None

    def close(self) -> None:
        """Refuse further games; there is nothing to clean up."""
        self._is_closed = True

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _observation(self) -> U8:
        row = self._tables.planes[0]
        return row.copy() if self._is_packed else unpack_planes(row, self.layout.num_planes)

    def _info(self) -> dict[str, Any]:
        tables = self._tables
        return {
            "action_mask": tables.masks[0].copy(),
            "seat": int(tables.seats[0]),
            "placement": int(tables.places(tables.everything)[0]),
        }


def check_seat(seat: int | None) -> None:
    """Raise ValueError for a seat that does not exist."""
    if seat is not None and not 0 <= seat < NUM_SEATS:
        raise ValueError(f"seat is {seat}: use 0 to 3, or None for another one in each game")


def check_open(*, is_closed: bool) -> None:
    """Raise gymnasium's ClosedEnvironmentError for an environment that was closed."""
    if is_closed:
        raise ClosedEnvironmentError("this environment was closed: make another one")


def draw_game(random: np.random.Generator, seat: int | None) -> tuple[int, int]:
    """Return the seed of a game's wall and the player's seat, which is drawn unless ``seat`` names it."""
    wall, drawn = int(random.integers(MAX_SEED)), int(random.integers(NUM_SEATS))
    return wall, drawn if seat is None else seat
