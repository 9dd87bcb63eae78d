"""One seat of a hanchan as an environment of gymnasium; agents of your choice play the other three seats.

>>> import gymnasium
>>> import suphx.environments
>>> env = gymnasium.make("suphx/Riichi-v0", opponents="ukeire")
>>> observation, info = env.reset(seed=1)
>>> action = env.action_space.sample(info["action_mask"])
>>> observation, reward, terminated, truncated, info = env.step(action)

Many hanchans side by side are a vector environment: one call of the kernels steps all tables.

>>> env = RiichiVectorEnv(num_envs=512, opponents="random", copy=False)
>>> observations, infos = env.reset(seed=1)
>>> observations, rewards, terminations, truncations, infos = env.step(infos["action_mask"].argmax(axis=1))

Table ``i`` plays the same games as a RiichiEnv whose first reset has the seed ``seed + i``.

With ``opponents=None`` one policy plays all four seats (self-play): each step is a decision of whichever seat must
decide, ``infos["seat"]`` names the seat that decides next, and ``infos["rewards"]`` has the rewards of all four.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError
from gymnasium.spaces import Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from suphx.environments.seat_tables import (
    NUM_SEATS,
    EnvironmentConfig,
    IllegalReward,
    RewardKind,
    SeatTables,
    observation_space,
    read_action,
    three_opponents,
)
from suphx.games.riichi.bots import EVERY_SEAT
from suphx.games.riichi.records.decisions import seat_text
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.simulator import MAX_SEED
from suphx.games.riichi.table import NUM_ACTIONS
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, U8, as_integers
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
        episode; "lowest": see ``EnvironmentConfig.illegal_reward``; None: ValueError.
        """
        check_render_mode(render_mode)
        self._vector = RiichiVectorEnv(
            encoder=encoder,
            opponents=three_opponents(opponents),
            seat=seat,
            rules=rules,
            reward=reward,
            points_per_reward=points_per_reward,
            packed=packed,
            illegal_reward=illegal_reward,
            autoreset_mode=AutoresetMode.DISABLED,
        )
        self._tables, self.layout = self._vector.tables, self._vector.layout
        self.render_mode = render_mode
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[U8, dict[str, Any]]:
        """Start a hanchan; return the player's first observation and its info. No option has an effect.

        ClosedEnvironmentError after ``close``, as for ``step``.
        """
        super().reset(seed=seed)
        self._vector.randoms[0] = self.np_random
        observations, infos = self._vector.reset()
        if self.render_mode == "human":
            self.render()
        return observations[0], _single(infos)

    def step(self, action: np.int64 | int) -> tuple[U8, float, bool, bool, dict[str, Any]]:
        """Apply the player's action and play on to its next one; an episode is never truncated.

        ValueError when no game is running, for what is not an integer, and for an illegal action without an
        ``illegal_reward``.
        """
        check_open(is_closed=self._vector.closed)
        observations, rewards, ended, _, infos = self._vector.step(read_action(action))
        if self.render_mode == "human":
            self.render()
        return observations[0], float(rewards[0]), bool(ended[0]), False, _single(infos)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal now, bool (120,): the name that MaskablePPO of sb3-contrib looks for."""
        legal: NDArray[np.bool_] = self._tables.masks[0] == 1
        return legal

    def render(self) -> str | None:  # type: ignore[override]
        """Return the table as the player sees it (``ansi``), or write it to standard output (``human``)."""
        return render_table(self._tables, int(self._tables.seats[0]), self.render_mode)

    def close(self) -> None:
        """Refuse further games; there is nothing to clean up."""
        self._vector.close()


def _single(infos: dict[str, Any]) -> dict[str, Any]:
    return {
        "action_mask": infos["action_mask"][0],
        "seat": int(infos["seat"][0]),
        "placement": int(infos["placement"][0]),
    }


def render_table(tables: SeatTables, seat: int, mode: str | None) -> str | None:
    """Return the first table as ``seat`` sees it (``ansi``), or write it to standard output (``human``)."""
    if mode is None:
        gymnasium.logger.warn("render() has no effect: pass render_mode='ansi' or 'human' when you make it")
        return None
    text = seat_text(tables.simulator.tables[0], seat)
    if mode == "ansi":
        return text
    sys.stdout.write(text)
    return None


def check_render_mode(mode: str | None, known: Sequence[str] = RENDER_MODES) -> None:
    """Raise ValueError for a mode that does not exist."""
    if mode not in (None, *known):
        raise ValueError(f"render_mode is {mode!r}: use {' or '.join(known)}")


def check_open(*, is_closed: bool) -> None:
    """Raise gymnasium's ClosedEnvironmentError for an environment that was closed."""
    if is_closed:
        raise ClosedEnvironmentError("this environment was closed: make another one")


def draw_game(random: np.random.Generator, seat: int | None) -> tuple[int, int]:
    """Return the seed of a game's wall and the player's seat, which is drawn unless ``seat`` names it."""
    wall, drawn = int(random.integers(MAX_SEED)), int(random.integers(NUM_SEATS))
    return wall, drawn if seat is None else seat


VECTOR_RENDER_MODES = ("ansi",)
_Step = tuple[U8, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class RiichiVectorEnv(VectorEnv[U8, NDArray[np.integer], NDArray[Any]]):
    """``num_envs`` hanchans; spaces, rewards, illegal actions and infos are those of RiichiEnv, batched."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        encoder: str = "mini",
        opponents: AgentLike | Sequence[AgentLike] | None = "ukeire",
        seat: int | None = None,
        rules: Rules | None = None,
        reward: RewardKind = "points",
        points_per_reward: float = 10_000.0,
        packed: bool = False,
        illegal_reward: IllegalReward | None = "lowest",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        """Make the tables; ValueError for settings that do not exist.

        ``opponents``: as for RiichiEnv; None: actions are given for all four seats, and no ``seat`` may be named.
        ``autoreset_mode``: gymnasium's; with DISABLED call ``reset(options={"reset_mask": …})``. ``copy``: return a
        copy of the observations and masks; without it they are always the same arrays, which the next step overwrites.
        ``render_mode``: "ansi", or None. The other settings are those of RiichiEnv.
        """
        if seat is not None and not 0 <= seat < NUM_SEATS:
            raise ValueError(f"seat is {seat}: use 0 to 3, or None for another one in each game")
        if opponents is None and seat is not None:
            raise ValueError(f"seat is {seat} without opponents: leave it out, because every seat is played")
        check_render_mode(render_mode, VECTOR_RENDER_MODES)
        config = EnvironmentConfig(
            encoder=encoder,
            opponents=() if opponents is None else three_opponents(opponents),
            rules=rules or tenhou(),
            reward=reward,
            points_per_reward=points_per_reward,
        )
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._plays_all = opponents is None
        self.tables = SeatTables(num_envs, config)
        self.layout = self.tables.layout
        self._seat, self._is_packed, self._is_copied = seat, packed, copy
        self._illegal_reward = config.illegal_reward(illegal_reward)
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": list(VECTOR_RENDER_MODES), "autoreset_mode": self._mode}
        self.single_observation_space = observation_space(self.layout, packed=packed)
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observations = self.tables.planes
        if not packed:
            self._observations = np.zeros((num_envs, *self.single_observation_space.shape), np.uint8)
        self.randoms = [seeding.np_random()[0] for _ in range(num_envs)]
        self._rewards = np.zeros((num_envs, NUM_SEATS))
        """Of all seats, for the last step."""
        self._has_begun = np.zeros(num_envs, np.bool_)
        self._has_ended = np.ones(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[U8, dict[str, Any]]:
        """Start a hanchan at every table, or at those of ``options["reset_mask"]``, bool (num_envs,).

        ``seed``: of table 0, the others get those that follow; or one seed for each table. ValueError for another
        number of seeds or a mask of another shape, ClosedEnvironmentError after ``close``.
        """
        check_open(is_closed=self.closed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ValueError(f"reset_mask is {mask!r}: give bool ({self.num_envs},), True for each table to reset")
        indices = np.flatnonzero(mask)
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + index for index in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} tables: give one for each table")
        for index in indices:
            if seeds[index] is not None:
                self.randoms[index], _ = seeding.np_random(seeds[index])
        self._start(indices)
        self._rewards[indices] = 0
        self._show(indices)
        return self._returned(self._observations), self._infos()

    def step(self, actions: ArrayLike) -> _Step:
        """Apply an action at each table and play on to the players' next decisions; no episode is truncated.

        ``actions``: integers (num_envs,). ValueError for another shape or type, for a table that was never reset or
        (mode DISABLED) is finished, and for illegal actions without an ``illegal_reward``; ClosedEnvironmentError after
        ``close``.
        """
        check_open(is_closed=self.closed)
        chosen = as_integers(actions, "actions", self.num_envs)
        if not self._has_begun.all():
            raise ValueError(f"table {self._has_begun.argmin()} has no game: call reset before step")
        begins = self._has_ended.copy()
        if self._mode != AutoresetMode.NEXT_STEP and begins.any():
            raise ValueError(f"the game of table {np.flatnonzero(begins)[0]} is over: call reset before step")
        illegal = np.zeros(self.num_envs, np.bool_)
        if self._illegal_reward is not None:  # else SeatTables.act refuses them
            illegal = ~self.tables.is_legal(self.tables.everything, chosen) & ~begins
        playing = np.flatnonzero(~begins & ~illegal)
        tables, seats = self.tables, self._deciding()
        tables.act(playing, chosen[playing])
        self._rewards[:] = 0
        self._rewards[playing] = tables.pay(playing)
        if illegal.any():
            self._rewards[illegal, seats[illegal]] = self._illegal_reward
        rewards = self._rewards[tables.everything, seats]
        self._has_ended = illegal | (tables.is_over(tables.everything) & ~begins)
        ended = self._has_ended.copy()
        extra: dict[str, Any] = {}
        if begins.any():
            self._start(np.flatnonzero(begins))
        if self._mode == AutoresetMode.SAME_STEP and ended.any():
            self._show(tables.everything)
            extra = self._final(ended)
            self._start(np.flatnonzero(ended))
            self._show(np.flatnonzero(ended))
        else:
            self._show(tables.everything)
        none_truncated = np.zeros(self.num_envs, np.bool_)
        return self._returned(self._observations), rewards, ended, none_truncated, extra | self._infos()

    def render(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """Return each table as the seat that decides sees it; None without a render mode."""
        if self.render_mode is None:
            return None
        tables, seats = self.tables.simulator.tables, self._deciding()
        return tuple(seat_text(tables[index], int(seats[index])) for index in range(self.num_envs))

    def _deciding(self) -> I64:
        """Return the seat whose decision each table waits for, int64 (num_envs,)."""
        if self._plays_all:
            return self.tables.simulator.tables["actor"].astype(np.int64)
        return self.tables.seats.copy()

    def _start(self, indices: I64) -> None:
        games = [draw_game(self.randoms[index], self._seat) for index in indices]
        walls, seats = (np.array([game[part] for game in games], np.int64) for part in range(2))
        if self._plays_all:
            seats[:] = EVERY_SEAT
        self.tables.start(indices, walls, seats)
        self._has_begun[indices] = True
        self._has_ended[indices] = False

    def _show(self, indices: I64) -> None:
        if not self._is_packed:
            _fill_planes(self.tables.planes, indices, self._observations.reshape(self.num_envs, -1))

    def _returned(self, array: NDArray[Any]) -> Any:
        return array.copy() if self._is_copied else array

    def _infos(self) -> dict[str, Any]:
        tables = self.tables
        infos = {
            "action_mask": self._returned(tables.masks),
            "seat": self._deciding(),
            "placement": tables.places(tables.everything),
        }
        if self._plays_all:
            infos["placement"] = tables.simulator.tables["placement"].astype(np.int64)  # of all seats, (num_envs, 4)
            infos["rewards"] = self._rewards.copy()
        return infos | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in infos}

    def _final(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the last observations and infos of the games that ended, as gymnasium's SyncVectorEnv does."""
        observations = np.full(self.num_envs, None, object)
        for index in np.flatnonzero(ended):
            observations[index] = self._observations[index].copy()
        final: dict[str, Any] = {}
        for name, values in self._infos().items():
            if not name.startswith("_"):
                final[name] = np.where(ended.reshape(-1, *[1] * (values.ndim - 1)), values, 0).astype(values.dtype)
                final[f"_{name}"] = ended.copy()
        seen = {"final_obs": observations, "final_info": final}
        return seen | {f"_{name}": ended.copy() for name in seen}


@jit
def _fill_planes(rows: U8, indices: I64, planes: U8) -> None:
    """Unpack ``indices`` of ``rows``, uint8 [n, observation_bytes], into ``planes``, uint8 [n, columns] of 0 and 1."""
    num_columns = planes.shape[1]
    for index in indices:
        row, unpacked = rows[index], planes[index]
        for byte in range(num_columns >> 3):
            bits = row[byte]
            for k in range(8):
                unpacked[8 * byte + k] = bits >> k & 1
        for column in range(num_columns & ~7, num_columns):
            unpacked[column] = row[column >> 3] >> (column & 7) & 1
