"""The experiment of the Fanfou agents' paper: its recipe, a stage for each group of agents, and the report.

>>> result = run_group(1, num_decided=1000, num_threads=2)
>>> print(result.wins, result.win_difference.mean, result.win_difference.interval)

The agents and the orders of seats of the groups are in suphx/games/dazhong/experiment.py. Hands on one wall are not
independent, so intervals come from whole walls. Each stage leaves ``group.json``: the figures of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.evaluation.kept_results import GAMES_FOLDER, KeptResults
from suphx.evaluation.statistics import PairedDifference, paired_difference
from suphx.games.dazhong.experiment import (
    GROUPS,
    PAPER_RULES,
    PlayedHands,
    group_agents,
    group_orders,
    play_group,
    play_order,
)
from suphx.games.dazhong.table import Rules
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.recipe import FanfouRecipe
from suphx_pipelines.report.report_page import Run, sections
from suphx_pipelines.runs.stage import Stage, StageContext, report_stage
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Verdict

GROUP_FILE = "group.json"
_PARTS = {"own": "own walls", "common": "common walls", "payments": "common walls and payments"}
_DIFFERENCES = ("win_difference", "deal_in_difference", "fan_difference")
PAPER: Mapping[str, Mapping[str, Any]] = {
    "group_1": {"hands": 12_000, "wins": {"fanfou_ba": 5105, "fanfou_op": 6276}, "difference": 0.0976},
    "group_2": {
        "hands": 12_000,
        "wins": {"fanfou_op": 5698, "fanfou_mc": 5722},
        "deal_ins": {"fanfou_op": 1547, "fanfou_mc": 1509},
        "difference": 0.002,
    },
    "group_3": {"hands": 20_000, "difference": 0.0013, "deal_in_difference": -0.0047},
}
"""The paper's results; it prints 6,276 wins of fanfou_mc in group 2, where its own percentage means 5,722."""


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

    def to_json(self) -> dict[str, Any]:
        """Return the figures with those of the differences as {difference, interval, is_widened, is_significant}."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: value.to_json("difference") if isinstance(value, PairedDifference) else value
            for name, value in values.items()
        }


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


def fanfou_stages(recipe: FanfouRecipe) -> list[Stage[FanfouRecipe]]:
    """Return a stage for each group that is wanted, and the report."""
    groups = [
        Stage(
            name=f"group_{group}",
            run=partial(_play_group, group=group),
            recipe_keys=("fanfou",),
            artifacts=(GROUP_FILE,),
        )
        for group in GROUPS
        if recipe.fanfou.parts(group)
    ]
    return [*groups, report_stage(recipe, _write_report, [stage.name for stage in groups], (REPORT_NAME,))]


def _play_group(context: StageContext[FanfouRecipe], *, group: int) -> dict[str, float]:
    """Play all parts of a group and write their figures; the orders that a killed attempt has played are kept."""
    config, kept = context.recipe.fanfou, KeptResults(context.folder / GAMES_FOLDER)
    parts, agents = config.parts(group), group_agents(group, config.mc)
    metrics = dict[str, float]()
    num_orders, found = len(group_orders(group, config.mc)), dict[str, dict[str, Any]]()
    with context.console.activity("compiling kernels"):
        play_order(group, 0, 1, mc=config.mc)
    with context.console.progress("hands", sum(parts.values()) * num_orders, name=f"group {group}") as progress:
        for part, num_decided in parts.items():
            orders = []
            for number in range(num_orders):
                key = f"{part}_{number}"
                if values := kept.read(key):
                    orders.append(PlayedHands.from_json(values))
                    progress.skip(num_decided)
                    continue
                order = play_order(
                    group,
                    number,
                    num_decided,
                    mc=config.mc,
                    rules=Rules() if part == "payments" else PAPER_RULES,
                    seed=context.recipe.seed,
                    has_common_walls=part != "own",
                    num_threads=config.threads,
                )
                kept.write(key, order.to_json())
                orders.append(order)
                progress.advance(num_decided)
            result = measure_group(orders, agents)
            found[part] = {**result.to_json(), "orders": [_of_order(order) for order in orders]}
            context.console.say(f"group {group}, {_PARTS[part]}: {_sentence(found[part])}")
            for name in _DIFFERENCES:
                difference = getattr(result, name)
                metrics |= {f"{part}_{name}": difference.mean, f"{part}_{name}_low": difference.interval.low}
                metrics[f"{part}_{name}_high"] = difference.interval.high
    write_json(context.folder / GROUP_FILE, found)
    return metrics


def _of_order(order: PlayedHands) -> dict[str, Any]:
    """Return the counts of an order of seats, as the paper's table has them."""
    losers = np.bincount(order.losers[order.losers >= 0], minlength=order.wins.shape[1])
    return {
        "agents": list(order.agents),
        "hands": len(order.seeds),
        "decided": int(order.wins.any(axis=1).sum()),
        "wins": order.wins.sum(axis=0).tolist(),
        "deal_ins": losers.tolist(),
    }


def _sentence(result: Mapping[str, Any]) -> str:
    """Return what came out of a part of a group: no claim unless the interval excludes zero."""
    first, second = result["agents"]
    difference = result["win_difference"]
    low, high = (f"{100 * end:+.2f}" for end in difference["interval"])
    bounds = f"{100 * difference['difference']:+.2f} points of the decided hands (95 % interval {low} to {high})"
    if not difference["is_significant"]:
        return f"{first} and {second} are not clearly different, {bounds}"
    more = "more" if difference["difference"] > 0 else "fewer"
    return f"{second} wins {more} hands than {first}, {bounds}"


def fanfou_verdict(folder: Path, recipe: FanfouRecipe) -> Verdict:
    """Return what came out of the experiment in ``folder``: of each group the part that can see the most."""
    sentences = []
    for group in GROUPS:
        if parts := recipe.fanfou.parts(group):
            part = "common" if "common" in parts else next(iter(parts))
            result = read_json(folder / f"group_{group}" / GROUP_FILE)[part]
            sentences.append(f"Group {group}, {_PARTS[part]}: {_sentence(result)}.")
    return Verdict(outcome="none", sentence=" ".join(sentences))


def _write_report(context: StageContext[FanfouRecipe]) -> dict[str, float]:
    """Write the page."""
    folder, recipe = context.folder.parent, context.recipe
    groups = {stage: read_json(path / GROUP_FILE) for stage, path in sorted(context.upstream.items())}
    shown = sections("fanfou", groups=groups, parts=_PARTS, paper=PAPER)
    page = Run.of(folder, recipe, fanfou_verdict(folder, recipe)).page(shown, subtitle=recipe.about)
    write_atomically(context.folder / REPORT_NAME, [page.encode()])
    return {"bytes": len(page)}
