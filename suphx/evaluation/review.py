"""A review: where an agent would decide differently from the players of recorded games, and how often it agrees.

>>> games = [review_game(log, agent) for log in logs]
>>> agreement_table([decision for game in games for decision in game.decisions])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suphx.evaluation.decision_cost import Cost, CostJudge, total_cost
from suphx.games.game import Agent
from suphx.games.riichi.records.decisions import recorded_decisions
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.shanten import count_shanten
from suphx.games.riichi.tile import face_name
from suphx.selfplay.agents.opinion import agent_opinions

KINDS = {
    "win": "a win or nine terminals is possible",
    "claim": "a call on another player's discard is possible",
    "kan": "a kan in the own turn is possible",
    "riichi": "a declaration of riichi is possible",
    "discard": "only discards are possible",
}
"""What a decision is about, with its group; of several the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedDecision:
    """A decision of a player whose wish is known, and that of the agent."""

    game: str
    deal: str
    """Such as ``East 1``."""
    address: str
    """Of the moment on the viewer's page: ``deal.step.seat``, from 1 on but for the step."""
    player: str
    seat: int
    """0-3."""
    kind: str
    turn: int
    """Discards of the seat so far, and one."""
    shanten: int
    """Of the seat's hand; 0 is tenpai."""
    is_under_riichi: bool
    """Another seat has declared riichi."""
    played: str
    agent: str
    played_probability: float | None
    agent_probability: float | None
    """By the agent's nets; None where no net was asked."""
    moves: tuple[tuple[str, float | None], ...]
    cost: Cost | None = None
    """What the played move cost; None where it was not estimated, or the agent agrees."""

    @property
    def deal_number(self) -> int:
        """The place of the deal in the game, from 1 on."""
        return int(self.address.partition(".")[0])

    @property
    def differs(self) -> bool:
        """Whether the agent would have decided differently."""
        return self.played != self.agent


@dataclass(frozen=True, slots=True)
class ReviewedGame:
    """A game with the agent's decisions."""

    values: dict[str, Any]
    """For the viewer's page (``viewer_game``)."""
    decisions: tuple[ReviewedDecision, ...]


def review_game(
    game: GameLog,
    agent: Agent,
    seats: Collection[int] = (),
    judge: CostJudge | None = None,
    progress: Callable[[float], None] | None = None,
) -> ReviewedGame:
    """Ask ``agent`` at each decision of ``game``; ``seats`` (0-3): only their decisions are returned; empty: all.

    Decisions without a choice, without an answer of the agent, and those whose wish is unknown are skipped. ``judge``
    estimates what the differences cost, which takes far longer than the rest. ``progress`` is called with parts of the
    game; their sum is 1. ValueError when the game's moves contradict the rules.
    """
    recorded = recorded_decisions(game)
    opinions = agent_opinions(agent, recorded, progress=_in_parts(len(recorded.tables), None if judge else progress))
    values = viewer_game(game, opinions)
    numbers = iter(np.flatnonzero(recorded.tables["num_legal"] > 1).tolist())
    found: list[tuple[int, dict[str, Any], ReviewedDecision]] = []
    for index, deal in enumerate(values["deals"], 1):
        for step, content in enumerate(deal["steps"], 1):  # the page's step 0 is the deal before the first draw
            for shown in content["decisions"]:
                number, actor = next(numbers), int(shown["seat"])
                if shown["played"] is None or shown["agent"] is None or (seats and actor not in seats):
                    continue
                address = f"{index}.{step}.{actor + 1}"
                found.append((number, shown, _decision(game, deal["name"], address, shown, recorded.tables[number])))
    decisions = [decision for _, _, decision in found]
    if judge is not None:
        values["cost_unit"] = judge.unit
        lines = [line for line, decision in enumerate(decisions) if decision.differs]
        different = np.array([found[line][0] for line in lines], np.int64)
        told = _in_parts(len(lines), progress)
        costs = judge.costs(game, recorded, different, opinions.actions[different], told)
        for line, cost in zip(lines, costs, strict=True):
            decisions[line] = replace(decisions[line], cost=cost)
            found[line][1]["cost"] = cost.to_json()
    return ReviewedGame(values, tuple(decisions))


def _in_parts(count: int, progress: Callable[[float], None] | None) -> Callable[[float], None]:
    """Return what takes numbers of ``count`` items and passes on parts of all; without items all is done at once."""
    if progress is None:
        return lambda number: None
    if not count:
        progress(1)
    return lambda number: progress(number / count)


def _decision(game: GameLog, deal: str, address: str, shown: dict[str, Any], table: Any) -> ReviewedDecision:
    seat = int(shown["seat"])
    moves = [(" ".join([move["move"], *map(face_name, move["faces"])]), move["p"]) for move in shown["moves"]]
    played, wanted = moves[shown["played"]], moves[shown["agent"]]
    return ReviewedDecision(
        game=game.id,
        deal=deal,
        address=address,
        player=game.names[seat],
        seat=seat,
        kind=_kind({move["move"] for move in shown["moves"]}),
        turn=shown["turn"],
        shanten=int(count_shanten(table["hand"][seat][None], table["num_melds"][seat][None])[0]),
        is_under_riichi=any(bool(table["riichi"][other]) for other in range(4) if other != seat),
        played=played[0],
        agent=wanted[0],
        played_probability=played[1],
        agent_probability=wanted[1],
        moves=tuple(moves),
    )


def _kind(moves: set[str]) -> str:
    """Return what a decision with these legal moves is about."""
    if moves & {"tsumo", "ron", "nine terminals"}:
        return "win"
    if "pass" in moves:
        return "claim"
    if moves & {"ankan", "kakan"}:
        return "kan"
    return "riichi" if "riichi" in moves else "discard"


def agreement_table(decisions: Sequence[ReviewedDecision]) -> list[dict[str, Any]]:
    """Return how often the agent agrees, by group: [{group, decisions, agreement}]; empty groups are left out."""
    groups: list[tuple[str, Callable[[ReviewedDecision], bool]]] = [
        ("all decisions", lambda one: True),
        *((group, lambda one, kind=kind: one.kind == kind) for kind, group in KINDS.items()),
        ("turns 1 to 6", lambda one: one.turn <= 6),
        ("turns 7 to 12", lambda one: 7 <= one.turn <= 12),
        ("turns from 13 on", lambda one: one.turn >= 13),
        ("tenpai", lambda one: one.shanten <= 0),
        ("1 from tenpai", lambda one: one.shanten == 1),
        ("2 from tenpai", lambda one: one.shanten == 2),
        ("3 or more from tenpai", lambda one: one.shanten >= 3),
        ("another player has declared riichi", lambda one: one.is_under_riichi),
        ("no other player has declared riichi", lambda one: not one.is_under_riichi),
    ]
    rows = []
    for name, belongs in groups:
        own = [one for one in decisions if belongs(one)]
        if own:
            agreement = sum(not one.differs for one in own) / len(own)
            rows.append({"group": name, "decisions": len(own), "agreement": agreement})
    return rows


def largest_differences(decisions: Sequence[ReviewedDecision], number: int) -> list[ReviewedDecision]:
    """Return the differences in which the agent is most certain: largest differences of the moves' probabilities."""
    differences = [one for one in decisions if one.differs]
    return sorted(differences, key=lambda one: (one.played_probability or 0) - (one.agent_probability or 0))[:number]


def costliest_differences(decisions: Sequence[ReviewedDecision], number: int) -> list[ReviewedDecision]:
    """Return the differences with the largest estimated costs."""
    estimated = [one for one in decisions if one.cost is not None]
    return sorted(estimated, key=lambda one: -one.cost.mean if one.cost else 0.0)[:number]


def cost_summary(decisions: Sequence[ReviewedDecision], unit: str, samples: int) -> dict[str, Any]:
    """Return what all differences cost together: {unit, samples, differences, total, interval, per_game}.

    A total has no bias, other than the largest of the estimates, which are too large on average.
    """
    costs = [one.cost for one in decisions if one.cost is not None]
    total, interval = total_cost(costs)
    return {
        "unit": unit,
        "samples": samples,
        "differences": len(costs),
        "total": total,
        "interval": interval.ends,
        "per_game": total / max(len({one.game for one in decisions}), 1),
    }
