"""Hanchans from the view of their players: what every environment is made of.

>>> tables = SeatTables(256, EnvironmentConfig(opponents=("ukeire",) * 3))
>>> tables.start(tables.everything, seeds=np.arange(256), seats=np.zeros(256, np.int64))
>>> tables.act(tables.everything, tables.masks.argmax(axis=1))
>>> tables.planes, tables.masks  # uint8 [256, observation_bytes], int8 [256, 120]
>>> tables.pay(tables.everything)  # [256, 4]

A player sees the planes of ``layout``, the public ones of its encoder and those of the decision, and the legal actions;
nothing hidden gets into any array here but ``simulator.tables``, the state of the game itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import ArrayLike, NDArray

from suphx.games.mahjong.planes import NUM_COLUMNS, PlaneLayout
from suphx.games.mahjong.shanten import load_suits
from suphx.games.registry import agent_names
from suphx.games.riichi.bots import EVERY_SEAT, NO_SCRIPT, advance_tables, play_to_seats, see_tables
from suphx.games.riichi.features.encoder import decision_layout, find_encoder
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, NUM_ACTIONS, action_name
from suphx.kernel.record import I8, I32, I64, U8, as_integers
from suphx.selfplay.agents.agent import AgentLike, as_agent, ask
from suphx.selfplay.rollouts.rollout import GameFollower

NUM_SEATS = 4
RewardKind = Literal["points", "placement"]
IllegalReward = float | Literal["lowest"]
"""Of an action that is not legal: a number, or as little as ``EnvironmentConfig.illegal_reward`` says."""
PLACEMENT_REWARDS = np.array([0, 1, 1 / 3, -1 / 3, -1])
"""By place 1-4; 0 while the game goes on."""
_BELOW_LAST_PLACE = -2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentConfig:
    """What a seat sees, who plays the others, by which rules, and what is a reward."""

    encoder: str = "mini"
    """Whose public planes are in the observation, in front of the decision planes: ``mini``, ``suphx`` or
    ``suphx-plain`` (docs/features.md)."""
    opponents: tuple[AgentLike, ...] = ()
    """The agents at the seats to the player's right, opposite and left, or their addresses for ``load_agent``; empty:
    the environment plays no seat."""
    rules: Rules = field(default_factory=tenhou)
    """Of the games: ``Rules(num_winds=1)`` is East only."""
    reward: RewardKind = "points"
    """``points``: the change of the score, at the end of each kyoku. ``placement``: 1, 1/3, -1/3 or -1 for the place in
    the game, at its end."""
    points_per_reward: float = 10_000.0
    """Points that are a reward of 1."""

    def __post_init__(self) -> None:
        find_encoder(self.encoder)
        if self.reward not in get_args(RewardKind):
            raise ValueError(f"reward is {self.reward!r}: use {' or '.join(get_args(RewardKind))}")
        if not self.points_per_reward > 0:
            raise ValueError(f"points_per_reward is {self.points_per_reward}: use more than 0")

    def illegal_reward(self, given: IllegalReward | None) -> float | None:
        """Return the number that ``given`` stands for, None for None; ValueError for another word than "lowest".

        "lowest" never pays: with ``points`` the loss of all points of a table, -10 by the default settings; with
        ``placement`` -2, below fourth place.
        """
        if not isinstance(given, str):
            return given
        if given != "lowest":
            raise ValueError(f"illegal_reward is {given!r}: use a number, or lowest")
        if self.reward == "placement":
            return _BELOW_LAST_PLACE
        return -NUM_SEATS * self.rules.start_points / self.points_per_reward


def three_opponents(opponents: AgentLike | Sequence[AgentLike]) -> tuple[AgentLike, ...]:
    """Return three opponents; one agent is all three. ValueError for another number."""
    if isinstance(opponents, str | Path) or not isinstance(opponents, Sequence):
        return (opponents,) * (NUM_SEATS - 1)
    if len(opponents) != NUM_SEATS - 1:
        raise ValueError(f"there are {len(opponents)} opponents: give one agent, or three")
    return tuple(opponents)


def observation_space(layout: PlaneLayout, *, packed: bool) -> Box:
    """Return the space of planes, uint8 [planes, 34] of 0 and 1.

    ``packed``: uint8 (observation_bytes,), bit ``plane * 34 + kind``, low bits first.
    """
    if packed:
        return Box(0, 255, (layout.observation_bytes,), np.uint8)
    return Box(0, 1, (layout.num_planes, NUM_COLUMNS), np.uint8)


class SeatTables:
    """``num_tables`` hanchans with a player each; ``config.opponents`` play the other seats, or nobody does.

    ``planes``, uint8 [n, observation_bytes], and ``masks``, int8 [n, NUM_ACTIONS], are overwritten in place.
    """

    def __init__(self, num_tables: int, config: EnvironmentConfig) -> None:
        """Make empty tables; ValueError for fewer than one, and for an opponent that is not an agent."""
        self.config = config
        self.encoder = find_encoder(config.encoder)
        self.layout = decision_layout(self.encoder.public)
        self.simulator = Simulator(num_tables, config.rules)
        self.everything: I64 = np.arange(num_tables)
        self.seats: I64 = np.full(num_tables, EVERY_SEAT, np.int64)
        self.planes: U8 = np.zeros((num_tables, self.layout.observation_bytes), np.uint8)
        self.masks: I8 = np.zeros((num_tables, NUM_ACTIONS), np.int8)
        self._settled: I32 = np.zeros((num_tables, 4), np.int32)
        """Scores when the last kyoku ended."""
        self._paid: I32 = np.zeros((num_tables, 4), np.int32)
        """Scores that rewards were paid for."""
        self._scripts: I64 = np.full(4, NO_SCRIPT, np.int64)
        seats: dict[str | int, list[int]] = {}
        for offset, opponent in enumerate(config.opponents, start=1):
            if isinstance(opponent, str) and opponent in agent_names("riichi"):
                self._scripts[offset] = agent_names("riichi").index(opponent)
            else:
                # Agents need no hash, and may be equal.
                key = str(opponent) if isinstance(opponent, str | Path) else id(opponent)
                seats.setdefault(key, []).append(offset)
        self._agents = [(as_agent(config.opponents[own[0] - 1]), own) for own in seats.values()]
        """Opponents that are no scripted agents, with their seats counted from the player's."""
        for agent, _ in self._agents:
            if isinstance(agent, GameFollower):
                raise ValueError(f"{agent.name} follows whole games and cannot play in an environment: use another one")

    def start(self, indices: I64, seeds: NDArray[np.integer], seats: NDArray[np.integer]) -> None:
        """Start a game at the tables ``indices``, and play on to the first decision of its player.

        ``seeds``: of the walls; ``seats``: the player's seat, or EVERY_SEAT if it answers for all of them.
        """
        self.simulator.reset(seeds, indices)
        self.seats[indices] = seats
        self._settled[indices] = self._paid[indices] = self.simulator.tables["scores"][indices]
        self._play_opponents(indices)
        self.look(indices)

    def is_legal(self, indices: I64, actions: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell of each action whether the actor of its table may do it, bool (n,)."""
        known = (actions >= 0) & (actions < NUM_ACTIONS)
        legal: NDArray[np.bool_] = self.simulator.tables["legal"][indices, np.where(known, actions, 0)] == 1
        return legal & known

    def act(self, indices: I64, actions: ArrayLike) -> None:
        """Apply the players' actions, integers (n,), and play on to their next decisions.

        ValueError for actions of another shape or type, and for one that is not legal.
        """
        self._apply(indices, as_integers(actions, "actions", indices.size), "")
        self._play_opponents(indices)
        self.look(indices)

    def _apply(self, indices: I64, actions: I64, who: str) -> None:
        """Apply an action at each of ``indices``; ValueError, which begins with ``who``, for one that is not legal."""
        legal = self.is_legal(indices, actions)
        if not legal.all():
            bad = int(np.flatnonzero(~legal)[0])
            table = self.simulator.tables[indices[bad]]
            allowed = ", ".join(action_name(int(a)) for a in np.flatnonzero(table["legal"]))
            raise ValueError(
                f"{who}table {indices[bad]}, seat {table['actor']}: {action_name(int(actions[bad]))} is not legal; "
                f"legal: {allowed or 'nothing, because the game is over'}"
            )
        advance_tables(self.simulator.tables, load_suits(), indices, actions, self._settled)

    def _play_opponents(self, indices: I64) -> None:
        tables, suits = self.simulator.tables, load_suits()
        play_to_seats(tables, suits, indices, self.seats, self._scripts, self._settled)
        while self._agents:
            offsets = (tables["actor"][indices] - self.seats[indices]) % 4
            is_waiting = (offsets > 0) & (self.seats[indices] != EVERY_SEAT) & ~self.is_over(indices)
            if not is_waiting.any():
                return
            for agent, own in self._agents:  # one batch, whichever of its seats decide
                asked = indices[is_waiting & np.isin(offsets, own)]
                if asked.size:
                    self._apply(asked, ask(agent, tables, asked), f"opponent {agent.name}: ")
            play_to_seats(tables, suits, indices, self.seats, self._scripts, self._settled)

    def look(self, indices: I64) -> None:
        """Write what the players see into ``planes`` and ``masks``; nothing is legal at the end of a game."""
        encoder, tables = self.encoder, self.simulator.tables
        num_planes = encoder.public.num_planes
        see_tables(encoder.id, num_planes, load_lookup(), tables, indices, self.seats, self.planes, self.masks)

    def is_over(self, indices: I64) -> NDArray[np.bool_]:
        """Tell which games are over, bool (n,)."""
        over: NDArray[np.bool_] = self.simulator.tables["phase"][indices] == GAME_END
        return over

    def places(self, indices: I64) -> I64:
        """Return the player's place 1-4 of each game that is over, else 0, int64 (n,)."""
        return self.simulator.tables["placement"][indices, self.seats[indices]].astype(np.int64)

    def pay(self, indices: I64) -> NDArray[np.float64]:
        """Return the rewards of all seats since the last payment, float64 [n, 4]; ``config.reward`` says for what."""
        if self.config.reward == "placement":
            rewards: NDArray[np.float64] = PLACEMENT_REWARDS[self.simulator.tables["placement"][indices]]
            return rewards
        owed: NDArray[np.float64] = (self._settled[indices] - self._paid[indices]) / self.config.points_per_reward
        self._paid[indices] = self._settled[indices]
        return owed


def read_action(action: ArrayLike) -> I64:
    """Return the action of a single table, int64 (1,); ValueError for what is not an integer."""
    given = np.asarray(action)
    if given.shape != ():
        raise ValueError(f"action has the shape {list(given.shape)}: give one integer from 0 to {NUM_ACTIONS - 1}")
    if given.dtype.kind not in "iu":
        raise ValueError(f"action is {action!r}: give an integer from 0 to {NUM_ACTIONS - 1}")
    return given.astype(np.int64).reshape(1)
