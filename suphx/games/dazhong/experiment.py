"""The matches that compare the Fanfou agents in the paper (agents.py): whole hands inside one kernel.

>>> for hands in play_group(1, num_decided=1000, seed=7):
...     print(hands.agents, hands.wins.sum(axis=0))

Group 1 is fanfou_ba and fanfou_op with two robots, group 2 is fanfou_op and fanfou_mc with two robots, both in all 12
orders of seats; group 3 is two of fanfou_op and two of fanfou_mc, in four orders. Each order is played until as many
hands as wanted have a winner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from suphx.games.dazhong.agents import Tools, choose_scripted, load_tools
from suphx.games.dazhong.engine import deal, step
from suphx.games.dazhong.names import AGENTS
from suphx.games.dazhong.records import new_tables
from suphx.games.dazhong.table import ENDED, NUM_SEATS, Rules
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.scoring import deal_seeds
from suphx.kernel.jit import jit, map_on_threads
from suphx.kernel.record import I8, I32, I64, Records

PAPER_RULES = Rules(ting="paper", winners="first")
GROUPS = (1, 2, 3)
_ORDERS_OF_PAIRS = ((1, 0, 1, 0), (1, 1, 0, 0), (0, 1, 0, 1), (0, 0, 1, 1))
_SEEDS_PER_ORDER = 1 << 32
_HANDS_A_CALL = 32  # hands that a thread takes at a time


@dataclass(frozen=True, slots=True)
class PlayedHands:
    """Hands that the same agents played in the same seats, one a row."""

    agents: tuple[str, ...]
    """By seat."""
    seeds: I64
    """int64 (n,): of the walls."""
    wins: I8
    """int8 (n, 4): 1 for a seat that won."""
    losers: I8
    """int8 (n,): the seat that gave a winner its tile; -1 after a draw or a self-drawn win."""
    fan: I32
    """int32 (n, 4): what each seat was paid."""

    def to_json(self) -> dict[str, Any]:
        """Return the hands as lists."""
        columns = {name: getattr(self, name).tolist() for name in _COLUMNS}
        return {"agents": list(self.agents), **columns}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> PlayedHands:
        """Return the hands of ``to_json``."""
        columns = (np.array(values[name], kind) for name, kind in _COLUMNS.items())
        return cls(tuple(values["agents"]), *columns)


_COLUMNS = {"seeds": np.int64, "wins": np.int8, "losers": np.int8, "fan": np.int32}


def group_agents(group: int, mc: str = "fanfou_mc") -> tuple[str, str]:
    """Return the two agents that a group compares; ``mc``: which fanfou_mc plays. ValueError for other numbers."""
    if group not in GROUPS:
        raise ValueError(f"group is {group}: use 1, 2 or 3")
    return ("fanfou_ba", "fanfou_op") if group == 1 else ("fanfou_op", mc)


def group_orders(group: int, mc: str = "fanfou_mc") -> list[tuple[str, ...]]:
    """Return who sits where in the matches of a group."""
    pair = group_agents(group, mc)
    if group == 3:
        return [tuple(pair[place] for place in order) for order in _ORDERS_OF_PAIRS]
    return sorted(set(permutations((*pair, "robot", "robot"))), key=lambda order: [order.index(name) for name in pair])


def play_group(group: int, num_decided: int, *, mc: str = "fanfou_mc", **options: Any) -> Iterator[PlayedHands]:
    """Yield the hands of each order; ``options``: those of ``play_order``."""
    for number in range(len(group_orders(group, mc))):
        yield play_order(group, number, num_decided, mc=mc, **options)


def play_order(
    group: int,
    number: int,
    num_decided: int,
    *,
    mc: str = "fanfou_mc",
    rules: Rules = PAPER_RULES,
    seed: int = 0,
    has_common_walls: bool = False,
    num_threads: int = 1,
) -> PlayedHands:
    """Play the hands of ``group_orders(group, mc)[number]``.

    ``has_common_walls``: all orders play the same walls, as far as they get.
    """
    first = deal_seeds(seed, 1).start + (0 if has_common_walls else number * _SEEDS_PER_ORDER)
    return play_until_decided(group_orders(group, mc)[number], num_decided, first, rules, num_threads=num_threads)


def play_until_decided(
    agents: Sequence[str], num_decided: int, first_seed: int, rules: Rules, *, num_threads: int = 1
) -> PlayedHands:
    """Play walls, in order from ``first_seed`` on, until ``num_decided`` hands have a winner; the last one has."""
    parts = list[PlayedHands]()
    missing, seed = num_decided, first_seed
    while missing > 0:
        parts.append(play_scripted(agents, range(seed, seed + missing), rules, num_threads=num_threads))
        seed += missing
        missing -= int(parts[-1].wins.any(axis=1).sum())
    columns = [np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS]
    return PlayedHands(tuple(agents), *columns)


def play_scripted(agents: Sequence[str], seeds: Sequence[int], rules: Rules, *, num_threads: int = 1) -> PlayedHands:
    """Play a hand for each wall; the result does not depend on ``num_threads``. ValueError for an unknown agent."""
    if len(agents) != NUM_SEATS or not set(agents) <= set(AGENTS):
        raise ValueError(f"agents are {list(agents)}: give {NUM_SEATS} of {', '.join(AGENTS)}")
    numbers, walls = np.array([AGENTS.index(name) for name in agents]), np.array(seeds, np.int64)
    wins, losers = np.zeros((walls.size, NUM_SEATS), np.int8), np.zeros(walls.size, np.int8)
    fan = np.zeros((walls.size, NUM_SEATS), np.int32)

    def play_part(first: int) -> None:
        part = slice(first, first + _HANDS_A_CALL)
        _play(
            new_tables(1, rules), load_suits(), load_tools(), numbers, walls[part], wins[part], losers[part], fan[part]
        )

    map_on_threads(play_part, range(0, walls.size, _HANDS_A_CALL), num_threads)
    return PlayedHands(tuple(agents), walls, wins, losers, fan)


@jit
def _play(
    tables: Records, suits: Suits, tools: Tools, agents: I64, seeds: I64, wins: I8, losers: I8, fan: I32
) -> None:  # fmt: skip
    """Play a hand for each of ``seeds``; ``tables`` (1,) is scratch and must outlive its record."""
    t = tables[0]
    for i in range(len(seeds)):
        deal(t, suits, seeds[i])
        while t.phase != ENDED:
            step(t, suits, choose_scripted(t, suits, tools, agents[t.actor]))
        losers[i] = t.loser
        fan[i] = t.fan
        for seat in range(NUM_SEATS):
            wins[i, seat] = t.win_fan[seat] > 0
