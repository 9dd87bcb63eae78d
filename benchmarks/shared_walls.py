"""How many hanchans a match needs for the same standard error: with walls and draws as they are, and as they were.

``python benchmarks/shared_walls.py --hanchans 10000``; with ``--pair A B`` for your own agents of similar strength. A
match knows the average placement of its candidate as well as its walls scatter: the number of hanchans for a given
standard error is proportional to the variance over walls. Three schemes are measured on the same seeds: the wall of a
deal by the number of deals before it, with ordinary draws; the wall by kyoku and honba, with ordinary draws; and the
same with draw lanes, as in every match (docs/evaluation.md).

By default agents are measured that differ from ``ukeire`` in one habit: ``ukeire-no-calls`` and the others of HABITS.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import CANDIDATE, MatchSetup, play_deals
from suphx.evaluation.match_config import SEATS, check_hanchans
from suphx.evaluation.player_statistics import PLACE_COLUMN
from suphx.evaluation.stable_rank import F64
from suphx.evaluation.statistics import LEVEL, expanded_level, mean_interval, percentile_interval, resample_sums
from suphx.games.game import Agent
from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.bots import is_yakuhai
from suphx.games.riichi.ending import end_kyoku
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, KYOKU_END, PASS, PON, RIICHI, RON, TSUMO, TSUMOGIRI, shuffle_wall
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import kind_of_face
from suphx.kernel.random_number import mix
from suphx.kernel.record import I16, I64, Records
from suphx.usable_cores import usable_cores
from suphx_platform.agents.agent_loading import load_any_agent

CARELESS_TURNS = 8
MASK32 = 0xFFFFFFFF
STEP = 0x9E3779B9
MEAN_PLACE = 2.5
UKEIRE = "ukeire"


def _change_nothing(tables: Records) -> None:
    pass


def _overrule_nothing(tables: Records, actions: I16) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Habit:
    """What an agent does differently from ``ukeire``."""

    change: Callable[[Records], None] = _change_nothing
    """Changes copies of waiting tables to what the agent makes of them."""
    overrule: Callable[[Records, I16], None] = _overrule_nothing
    """Changes the actions, int16 [n], at the tables."""


def _others_in_riichi(tables: Records) -> NDArray[np.bool_]:
    """Return whether another seat than the actor has declared riichi: bool [n]."""
    declared = tables["riichi"] > 0
    declared[np.arange(len(tables)), tables["actor"]] = False
    return np.asarray(declared.any(axis=1), np.bool_)


def _hide_calls(tables: Records) -> None:
    tables["legal"][:, PON:PASS] = 0


def _hide_riichi(tables: Records) -> None:
    tables["legal"][:, RIICHI] = 0


def _hide_others_riichi(tables: Records) -> None:
    lines, actors = np.arange(len(tables)), tables["actor"]
    own = tables["riichi"][lines, actors]
    tables["riichi"] = 0
    tables["riichi"][lines, actors] = own


def _wait_under_riichi(tables: Records) -> None:
    threatened = _others_in_riichi(tables)
    tables["legal"][threatened, PON:PASS] = 0
    tables["legal"][threatened, RIICHI] = 0


def _call_yakuhai(tables: Records, actions: I16) -> None:
    legal = tables["legal"]
    for line in np.flatnonzero(legal[:, PON] & ~legal[:, RON].astype(np.bool_)).tolist():
        table = tables[line]
        if is_yakuhai(table, int(table["actor"]), kind_of_face(int(table["claimed_face"]))):
            actions[line] = PON


def _discard_drawn(tables: Records, actions: I16) -> None:
    """Discard the drawn tile in an eighth of the turns; in which ones, follows from the table alone."""
    legal = tables["legal"].astype(np.bool_)
    for line in np.flatnonzero(legal[:, TSUMOGIRI] & ~legal[:, TSUMO]).tolist():
        table = tables[line]
        deal = mix((int(table["wall_seed"]) ^ int(table["num_kyoku"]) * STEP) & MASK32)
        if mix((deal + int(table["num_decisions"])) & MASK32) % CARELESS_TURNS == 0:
            actions[line] = TSUMOGIRI


HABITS = {
    "ukeire-no-calls": Habit(_hide_calls),
    "ukeire-careless": Habit(overrule=_discard_drawn),
    "ukeire-blind": Habit(_hide_others_riichi),
    "ukeire-passive": Habit(_wait_under_riichi),
    "ukeire-pong": Habit(overrule=_call_yakuhai),
    "ukeire-no-riichi": Habit(_hide_riichi),
}


class ChangedUkeire:
    """``ukeire`` with a habit."""

    def __init__(self, name: str, habit: Habit) -> None:
        self.name = name
        self._habit = habit
        self._ukeire = ScriptedAgent(UKEIRE)

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table."""
        seen = tables[indices]
        self._habit.change(seen)
        seen["num_legal"] = seen["legal"].sum(axis=1)
        actions = self._ukeire.act(seen, np.arange(len(indices)))
        self._habit.overrule(tables[indices], actions)
        return actions


def load_measured_agent(address: str) -> Agent:
    """Return one of ``HABITS``, or any other agent; ValueError if there is none of that name."""
    habit = HABITS.get(address)
    return load_any_agent(address, "riichi") if habit is None else ChangedUkeire(address, habit)


class OrdinalWallSimulator(Simulator):
    """A simulator in which the wall of a deal follows from the seed and the number of deals before it.

    Games of one seed share no hand any more once they have differed in who stays dealer. It must stop at the end of a
    kyoku, as in ``play_stream``.
    """

    def next_kyoku(self, indices: ArrayLike) -> None:
        """Go on from the end of a deal to the next one or to the end of the game."""
        suits = load_suits()
        for index in np.asarray(indices).tolist():
            table = self.tables[index]
            if table["phase"] != KYOKU_END:
                continue
            end_kyoku(table)
            if table["phase"] != GAME_END:
                # The first deal of a game, East 1 and honba 0, has the number 0 in both schemes.
                shuffle_wall(int(table["wall_seed"]), 0, int(table["num_kyoku"]), table["wall"])
                table["num_kyoku"] += 1
                start_kyoku(table, suits)


SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "walls by the number of deals": {"has_draw_lanes": False, "simulator_type": OrdinalWallSimulator},
    "walls by kyoku and honba": {"has_draw_lanes": False},
    "draw lanes": {"has_draw_lanes": True},
}
"""Title -> options of ``RiichiTables``."""


def measure_pair(candidate: str, opponent: str, *, num_hanchans: int, seed: int, workers: int) -> dict[str, Any]:
    """Play a pair three times on the same seeds; return how many hanchans are saved (``compare_schemes``)."""
    placements = []
    for title, options in SCHEMES.items():
        print(f"{candidate} against {opponent}, {title}", file=sys.stderr)
        setup = MatchSetup(candidate, opponent, seed=seed, options=options)
        runner = GameRunner(workers=workers, load=load_measured_agent)
        blocks = sorted(play_deals(setup, num_hanchans // SEATS, runner=runner), key=lambda block: block.first)
        rows = np.concatenate([block.rows[CANDIDATE] for block in blocks])
        placements.append(rows[:, PLACE_COLUMN].reshape(-1, SEATS).mean(axis=1))
    return {"candidate": candidate, "opponent": opponent, **compare_schemes(*placements)}


def compare_schemes(before: F64, by_walls: F64, now: F64) -> dict[str, Any]:
    """Return the figures of a pair from the candidate's average placements on each wall, float64 [walls] each.

    The difference in average placement in the last scheme with its 95 % interval; four times the variance of the
    average placement over the games of a wall in each scheme (1.25 would be that of independent games of equal
    players); and how many times fewer hanchans give the same standard error: ``fewer_hanchans`` with its 95 % interval
    (bootstrap over walls), ``fewer_by_walls`` for the walls alone. None where all walls have the same result, or too
    few differ for an interval. Walls are drawn together for all schemes: their first deals are the same.
    """
    columns = [np.ones(len(now)), *(each for values in (before, by_walls, now) for each in (values, values**2))]
    rows = np.stack(columns, axis=1)
    variances = _variances(rows.sum(axis=0, keepdims=True))[0]
    drawn = _variances(resample_sums(rows))
    difference = mean_interval(now - MEAN_PLACE)
    return {
        "placement_difference": float(now.mean() - MEAN_PLACE),
        "difference_interval": [difference.low, difference.high],
        "variance_before": float(variances[0]),
        "variance_of_walls": float(variances[1]),
        "variance": float(variances[2]),
        **_saving("fewer_hanchans", variances, drawn, 2, len(now)),
        **_saving("fewer_by_walls", variances, drawn, 1, len(now)),
    }


def _variances(sums: F64) -> F64:
    """Return four times the variance of each scheme, float64 [n, 3], from sums [n, 7] over walls.

    Columns of ``sums``: number of walls, then for each scheme the sum and the sum of squares.
    """
    number, means, squares = sums[:, :1], sums[:, 1::2] / sums[:, :1], sums[:, 2::2]
    variances: F64 = SEATS * (squares - number * means**2) / (number - 1)
    return np.where(np.abs(variances) < 1e-9, 0.0, variances)


def _saving(name: str, variances: F64, drawn: F64, scheme: int, num_walls: int) -> dict[str, Any]:
    """Return how many times fewer hanchans a scheme needs than the first, with an interval from drawn variances."""
    if not variances[scheme]:
        return {name: None, f"{name}_interval": None}
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = drawn[:, 0] / drawn[:, scheme]
    interval = percentile_interval(ratios, expanded_level(LEVEL, num_walls))
    ends = [interval.low, interval.high]
    # A draw of few walls may have no variance: then there is no interval.
    return {
        name: float(variances[0] / variances[scheme]),
        f"{name}_interval": ends if np.isfinite(ends).all() else None,
    }


def main() -> None:
    """Play all pairs and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pair", nargs=2, action="append", metavar="AGENT", help="candidate and opponent")
    parser.add_argument("--hanchans", type=int, default=1000, help="of each match")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=usable_cores())
    args = parser.parse_args()
    check_hanchans(args.hanchans)
    pairs = args.pair or [(name, UKEIRE) for name in HABITS]
    rows = [measure_pair(*pair, num_hanchans=args.hanchans, seed=args.seed, workers=args.workers) for pair in pairs]
    print(json.dumps({"pairs": rows}, indent=2))


if __name__ == "__main__":
    main()
