"""The experiment of the Fanfou agents' paper: its figures for a group of matches, with intervals.

>>> result = run_group(1, num_decided=1000, num_threads=2)
>>> print(result.wins, result.win_difference.mean, result.win_difference.interval)

The agents and the orders of seats of the groups are in suphx/games/dazhong/experiment.py. Hands on one wall are not
independent, so intervals come from whole walls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.games.dazhong.experiment import PlayedHands, group_agents, play_group


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """Figures of a group; the differences are those of the second agent minus the first."""

    agents: tuple[str, str]
    hands: int
    decided: int
    """Hands with a winner."""
    self_drawn: int
    """Decided hands without a deal-in."""
    wins: dict[str, int]
    """By agent, of all its seats together; robots, too."""
    deal_ins: dict[str, int]
    fan: dict[str, float]
    """What a seat of the agent is paid in a hand."""
    win_difference: PairedDifference
    """In wins for each decided hand."""
    deal_in_difference: PairedDifference
    """In shares of all deal-ins."""
    fan_difference: PairedDifference
    """In fan for each seat and hand."""


def run_group(group: int, num_decided: int, **options: Any) -> GroupResult:
    """Play a group until each order has ``num_decided`` decided hands; ``options``: those of ``play_group``."""
    mc = options.get("mc", "fanfou_mc")
    return measure_group(list(play_group(group, num_decided, **options)), group_agents(group, mc))


def measure_group(orders: Sequence[PlayedHands], agents: tuple[str, str]) -> GroupResult:
    """Return the figures of the hands that were played in all orders of a group."""
    walls = np.concatenate([order.seeds for order in orders])
    names = dict.fromkeys((*agents, *orders[0].agents))
    wins = {name: _of_agent(orders, name, [order.wins for order in orders]) for name in names}
    lost = [order.losers[:, None] == np.arange(4) for order in orders]
    deal_ins = {name: _of_agent(orders, name, lost) for name in names}
    seats = {name: sum(agent == name for agent in orders[0].agents) for name in names}
    fan = {name: _of_agent(orders, name, [order.fan for order in orders]) / seats[name] for name in names}
    decided = np.concatenate([order.wins.max(axis=1) > 0 for order in orders])
    dealt_in = np.concatenate([order.losers >= 0 for order in orders])
    first, second = agents

    def difference(of: dict[str, NDArray[np.float64]], hands: NDArray[np.bool_]) -> PairedDifference:
        return paired_difference(of[second][hands], of[first][hands], walls[hands])

    return GroupResult(
        agents=agents,
        hands=walls.size,
        decided=int(decided.sum()),
        self_drawn=int((decided & ~dealt_in).sum()),
        wins={name: int(values.sum()) for name, values in wins.items()},
        deal_ins={name: int(values.sum()) for name, values in deal_ins.items()},
        fan={name: float(values.mean()) for name, values in fan.items()},
        win_difference=difference(wins, decided),
        deal_in_difference=difference(deal_ins, dealt_in),
        fan_difference=difference(fan, np.ones(walls.size, np.bool_)),
    )


def _of_agent(orders: Sequence[PlayedHands], name: str, by_seat: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the sums over an agent's seats, hand by hand, of values [hands, 4] of each order."""
    sums = list[NDArray[np.float64]]()
    for order, values in zip(orders, by_seat, strict=True):
        sums.append(values @ np.array([agent == name for agent in order.agents], np.float64))
    return np.concatenate(sums)
