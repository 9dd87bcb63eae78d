"""What a decision cost: the played move and that of an agent, both played on to the end of the deal many times.

>>> judge = CostJudge(agent, samples=64, predictor=predictor)
>>> costs = judge.costs(game, recorded_decisions(game), numbers, wanted)

Every sample deals again what the player could not see (``determinise``), once for both moves. The agent then plays on
at all seats. With draw lanes each seat draws the same tiles after either move, where it can, so most of the luck is
the same (rollouts: Tesauro and Galperin, "On-line Policy Improvement using Monte-Carlo Search", 1996).

The reward predictor estimates what the end of a deal is worth, in points for places (paper, section 3.2). Without one,
it is worth the points of the deal.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from suphx.evaluation.statistics import LEVEL, Interval
from suphx.games.game import Agent
from suphx.games.riichi.features.game_progress import GameProgress, encode_game_progress
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.records.decisions import RecordedDecisions
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.simulator import MAX_SEED, Simulator
from suphx.games.riichi.table import GAME_END
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records

if TYPE_CHECKING:
    from suphx.models.reward_predictor import RewardPredictor

F64 = NDArray[np.float64]

_MAX_TABLES = 4096
MIN_SAMPLES = 2


@dataclass(frozen=True, slots=True)
class Cost:
    """By how much the agent's move is worth more than the played one; above 0: the played move is worse."""

    mean: float
    standard_error: float
    """Of the mean, over the deals that were dealt again at random; 0 if no deal ended differently."""
    interval: Interval
    samples: int

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts and pages read."""
        return {"mean": self.mean, "interval": self.interval.ends}


class CostJudge:
    """Plays decisions on, for one agent and one measure of worth."""

    def __init__(self, agent: Agent, *, samples: int, predictor: RewardPredictor | None = None) -> None:
        """``samples``: deals for each move, at least 2. ValueError for fewer."""
        if samples < MIN_SAMPLES:
            raise ValueError(f"{samples} samples: use {MIN_SAMPLES} or more, such as 64")
        self._agent = agent
        self._substitute = ScriptedAgent("ukeire")
        self._samples = samples
        self._predictor = predictor

    @property
    def unit(self) -> str:
        """What costs are in."""
        return "points" if self._predictor is None else "placement points"

    def costs(
        self,
        game: GameLog,
        recorded: RecordedDecisions,
        numbers: I64,
        wanted: I16,
        progress: Callable[[float], None] | None = None,
    ) -> list[Cost]:
        """Return the cost of each decision ``numbers`` int64 [n] of ``recorded``, the decisions of ``game``.

        ``wanted`` int16 [n]: the agent's moves there, which must be legal. ``progress`` is called with parts of
        decisions while deals are played on; their sum is n. The same call gives the same costs.
        """
        size = max(1, _MAX_TABLES // (2 * self._samples))
        costs: list[Cost] = []
        for first in range(0, len(numbers), size):
            part = slice(first, first + size)
            costs += self._costs(game, recorded, numbers[part], wanted[part], progress)
        return costs

    def _costs(
        self,
        game: GameLog,
        recorded: RecordedDecisions,
        numbers: I64,
        wanted: I16,
        progress: Callable[[float], None] | None,
    ) -> list[Cost]:
        tables, num = np.repeat(recorded.tables[numbers], self._samples), self._samples
        key = zlib.crc32(game.id.encode())
        seeds = [np.random.default_rng([key, number]).integers(0, MAX_SEED, num) for number in numbers]
        starts = determinise(tables, tables["actor"], np.concatenate(seeds))
        starts["has_draw_lanes"] = True
        seats = starts["actor"].astype(np.int64)
        kyokus = np.repeat(recorded.kyokus[numbers], num)
        worths = []
        for moves in (wanted, recorded.actions[numbers]):
            ends = self._play_on(starts, np.repeat(moves, num), game, progress)
            worths.append(self._worths(game, kyokus, seats, ends))
        costs = []
        for gains in (worths[0] - worths[1]).reshape(len(numbers), num):
            mean, error = float(gains.mean()), float(gains.std(ddof=1)) / math.sqrt(num)
            radius = error * float(stdtrit(num - 1, (1 + LEVEL) / 2))
            costs.append(Cost(mean, error, Interval(mean - radius, mean + radius), num))
        return costs

    def _play_on(
        self, starts: Records, moves: I16, game: GameLog, progress: Callable[[float], None] | None
    ) -> Records:  # fmt: skip
        """Return copies of the tables after the deal; the next one has been dealt unless the game is over."""
        simulator = Simulator(len(starts), game.rules, stops_at_kyoku_end=True)
        simulator.tables[:] = starts
        simulator.advance(np.arange(len(starts)), moves)
        unfinished = len(starts)
        while unfinished:
            waiting = simulator.waiting()
            if waiting.size:
                actions: I16 = np.array(self._agent.act(simulator.tables, waiting), np.int16)
                # A scripted agent that never calls has no move where the player has called.
                unanswered = np.flatnonzero(simulator.tables["legal"][waiting, actions] == 0)
                if unanswered.size:
                    actions[unanswered] = self._substitute.act(simulator.tables, waiting[unanswered])
                simulator.advance(waiting, actions)
            if progress is not None:
                progress((unfinished - waiting.size) / (2 * self._samples))  # two moves of each decision
            unfinished = waiting.size
        simulator.next_kyoku(np.arange(len(starts)))
        return simulator.tables

    def _worths(self, game: GameLog, kyokus: I64, seats: I64, ends: Records) -> F64:
        """Return what each table [m] after its deal is worth to the seat that decided."""
        lines = np.arange(len(ends))
        worths: F64 = ends["scores"][lines, seats].astype(np.float64)
        if self._predictor is None:
            return worths
        for kyoku in np.unique(kyokus):
            own = np.flatnonzero(kyokus == kyoku)
            worths[own] = _predicted(self._predictor, game, int(kyoku), seats[own], ends[own])
        by_place = np.array([np.nan, *self._predictor.points])
        is_over = ends["phase"] == GAME_END
        worths[is_over] = by_place[ends["placement"][lines, seats]][is_over]
        return worths


def _predicted(predictor: RewardPredictor, game: GameLog, kyoku: int, seats: I64, ends: Records) -> F64:
    """Return what games are worth to ``seats`` [m] by the predictor, if the deal ``kyoku`` ended as in ``ends`` [m]."""
    import torch

    deals = game.kyokus[: kyoku + 1]
    scores = np.array([deal.scores for deal in deals], np.int32)
    at_starts = GameProgress(
        round_scores=np.diff(scores, axis=0, prepend=scores[:1]),
        scores=scores,
        kyoku=np.array([deal.kyoku for deal in deals], np.int32),
        honba=np.array([deal.honba for deal in deals], np.int32),
        kyotaku=np.array([deal.kyotaku for deal in deals], np.int32),
        is_over=np.zeros(len(deals), np.bool_),
    )
    own = {name: ends[name].astype(np.int32) for name in ("scores", "kyoku", "honba", "kyotaku")}
    at_ends = GameProgress(round_scores=own["scores"] - scores[-1], is_over=ends["phase"] == GAME_END, **own)
    before = encode_game_progress(at_starts)[:, seats].transpose(1, 0, 2)
    after = encode_game_progress(at_ends)[np.arange(len(ends)), seats][:, None]
    lines = torch.from_numpy(np.concatenate([before, after], axis=1))
    with torch.inference_mode():
        worths: F64 = predictor(lines)[:, -1].double().numpy()
    return worths


def total_cost(costs: Sequence[Cost]) -> tuple[float, Interval]:
    """Return the sum of independent estimates and its 95 % interval (degrees of freedom by Welch and Satterthwaite)."""
    total = sum(cost.mean for cost in costs)
    variance = sum(cost.standard_error**2 for cost in costs)
    spread = sum(cost.standard_error**4 / (cost.samples - 1) for cost in costs)
    freedom = variance**2 / spread if spread else math.inf
    radius = float(stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(variance)
    return total, Interval(total - radius, total + radius)
