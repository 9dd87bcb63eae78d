"""An agent that adapts its discard net to every kyoku as it plays it (paper, section 3.4)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch

from suphx.experience.observation import Observations
from suphx.games.riichi import DISCARD_HEAD, MAX_SEED, HeadOutputs, decide, discard_outputs
from suphx.kernel.record import I16, I64, U8, Records
from suphx.models.nets.policy import PolicyNet
from suphx.models.sampling import masked_logits
from suphx.training.adaptation.adapter import Adapter


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveConfig:
    """Adapting further as the kyoku goes on (the paper's discussion)."""

    seconds: float = 0.0
    """For each discard after the first, of one table; 0 = adapt at the first only. Results then depend on the clock."""
    num_rollouts: int = 64
    """From the present position, between two steps, as many steps as the time allows."""

    def __post_init__(self) -> None:
        if not self.seconds >= 0:
            raise ValueError(f"seconds is {self.seconds}: use 0 or more")
        if self.num_rollouts < 1:
            raise ValueError(f"num_rollouts is {self.num_rollouts}: use 1 or more")


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The net of one seat at one table, and the kyoku that it is for."""

    wall_seed: int
    num_kyoku: int
    net: PolicyNet


class AdaptiveAgent:
    """Plays as the adapter's agent does, but discards by a copy of its net that is fitted to the present kyoku.

    The copy is made when a seat is to discard for the first time in a kyoku, for all tables of a call side by side, and
    thrown away with the kyoku. A table must keep its index for that long.

    >>> agent = AdaptiveAgent("adapted", Adapter(load_agent("runs/a/supervised"), AdaptationConfig()))
    >>> actions = agent.act(simulator.tables, simulator.waiting())
    """

    needs_same_table = True
    """A kyoku must go on at the table at which it began, so no copies of tables are played (paired deals)."""
    is_slow = True
    """Every table has nets of its own and rollouts: large batches make neither cheaper."""

    def __init__(self, name: str, adapter: Adapter, move: MoveConfig | None = None) -> None:
        self.name = name
        self.adapter = adapter
        self._agent = adapter.agent
        self.move = move or MoveConfig()
        self._mover = adapter.with_rollouts(self.move.num_rollouts) if self.move.seconds else adapter
        self._fitted: dict[tuple[int, int], _Fitted] = {}
        self._round_seconds = 0.0

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table."""

        def forward(observations: Observations, lines: I64) -> HeadOutputs:
            if observations.head != DISCARD_HEAD:
                return self._agent.forward(observations, lines)
            masks = observations.masks
            self._fit(tables, lines[masks.sum(axis=1) > 1])
            return discard_outputs(self._choose(tables, lines, observations.planes, masks))

        return decide(tables, indices, self._agent.encoder, forward)

    def _fit(self, tables: Records, lines: I64) -> None:
        """See to it that the actor of each of the tables ``lines`` has a net for this kyoku."""
        is_first = np.array([self._find(tables, line) is None for line in lines], np.bool_)
        is_first |= tables["river_length"][lines, tables["actor"][lines]] == 0
        fresh, known = lines[is_first], lines[~is_first]
        if fresh.size:
            seats = tables["actor"][fresh].astype(np.int64)
            self._keep(tables, fresh, self.adapter.adapt(tables[fresh], seats, _seeds(tables, fresh, 0)).nets)
        if known.size and self.move.seconds > 0:
            self._fit_further(tables, known)

    def _fit_further(self, tables: Records, lines: I64) -> None:
        """Adapt from the present positions on, as often as the time of these moves allows."""
        started = time.perf_counter()
        seats = tables["actor"][lines].astype(np.int64)
        number = 0
        while time.perf_counter() - started + self._round_seconds * len(lines) <= self.move.seconds * len(lines):
            round_started = time.perf_counter()
            number += 1
            nets = [fitted.net for line in lines if (fitted := self._find(tables, line)) is not None]
            self._keep(tables, lines, self._mover.adapt(tables[lines], seats, _seeds(tables, lines, number), nets).nets)
            self._round_seconds = (time.perf_counter() - round_started) / len(lines)
        if not number:  # one slow round must not be the last one for ever
            self._round_seconds /= 2

    def _choose(self, tables: Records, lines: I64, rows: U8, masks: U8) -> I64:
        kinds = np.zeros(len(lines), np.int64)
        for i, line in enumerate(lines):
            fitted = self._find(tables, line)
            logits = self._agent.discard_logits(rows[i : i + 1], fitted.net if fitted else None)
            kinds[i] = int(masked_logits(logits, torch.from_numpy(masks[i : i + 1])).argmax())
        return kinds

    def _find(self, tables: Records, line: int) -> _Fitted | None:
        fitted = self._fitted.get((int(line), int(tables["actor"][line])))
        if fitted is None or fitted.wall_seed != tables["wall_seed"][line]:
            return None
        return fitted if fitted.num_kyoku == tables["num_kyoku"][line] else None

    def _keep(self, tables: Records, lines: I64, nets: list[PolicyNet]) -> None:
        for line, net in zip(lines, nets, strict=True):
            t = tables[line]
            for seat in range(4):  # nets of kyokus that are over
                kept = self._fitted.get((int(line), seat))
                if kept is not None and (kept.wall_seed, kept.num_kyoku) != (t["wall_seed"], t["num_kyoku"]):
                    del self._fitted[int(line), seat]
            self._fitted[int(line), int(t["actor"])] = _Fitted(int(t["wall_seed"]), int(t["num_kyoku"]), net)


def _seeds(tables: Records, lines: I64, number: int) -> I64:
    """Return seeds that follow from the games, the decisions and the round ``number``."""
    names = ("wall_seed", "num_kyoku", "num_decisions", "actor")
    keys = [[*(int(tables[name][line]) for name in names), number] for line in lines]
    return np.array([np.random.default_rng(key).integers(MAX_SEED) for key in keys], np.int64)
