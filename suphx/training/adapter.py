"""Rollouts and adapted nets for many positions side by side (paper, section 3.4)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray

from suphx.experience.observation import F32, Observations
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.selfplay.decision import HeadOutputs, decide, discard_outputs
from suphx.games.riichi.simulator import MAX_SEED
from suphx.kernel.record import I16, I64, U8, Records
from suphx.models.device import give_back_memory
from suphx.models.policy import CriticNet, PolicyNet
from suphx.models.sampling import masked_logits
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.rollouts.deal_play import DEFAULT_TABLES, SeatDecisions, play_deals
from suphx.training.adaptation import adapt_net, check_trained_blocks
from suphx.training.config import AdaptationConfig
from suphx.training.reward import DealReward, points_won

_MAX_ROLLOUTS = 4096
"""At a time: a thousand of them have 40 MB of planes to learn from."""


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Trajectories of some positions, those of a position one after another, those of a deal side by side."""

    decisions: SeatDecisions
    rewards: F32
    """float32 [positions, k]: points of the seat that adapts."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """A net for each position, and what they took together."""

    nets: list[PolicyNet]
    num_decisions: int
    """Sampled ones, that were learned from."""
    rollout_seconds: float
    update_seconds: float


class Adapter:
    """Makes nets for positions. What comes out for one does not depend on which others come with it.

    >>> adapter = Adapter(agent, AdaptationConfig(num_rollouts=1024))
    >>> nets = adapter.adapt(tables, seats, seeds).nets
    """

    def __init__(
        self,
        agent: NetAgent,
        config: AdaptationConfig,
        *,
        reward: DealReward = points_won,
        critic: CriticNet | None = None,
        num_tables: int = DEFAULT_TABLES,
    ) -> None:
        """``critic``: for the baseline "critic"; ``num_tables``: rollouts that are under way at a time.

        ValueError if the baseline is "critic" and there is none, and if more blocks are to be adapted than there are.
        """
        if config.baseline == "critic" and critic is None:
            raise ValueError("the baseline is 'critic', but there is no critic: train one (train_rollout_critic)")
        check_trained_blocks(agent.discard_net, config.trained_blocks)
        self.agent = agent
        self.config = config
        self.critic = critic
        self._reward = reward
        self._num_tables = num_tables

    def with_rollouts(self, num_rollouts: int) -> Adapter:
        """Return an adapter that takes so many rollouts, once each, and is otherwise the same.

        With fewer rollouts ``kl_target`` and ``learning_rate`` are smaller in proportion, because more of the gradient
        is noise.
        """
        share = min(1.0, num_rollouts / self.config.num_rollouts)
        steps = {name: getattr(self.config, name) * share for name in ("kl_target", "learning_rate")}
        config = replace(self.config, num_rollouts=num_rollouts, num_epochs=1, **steps)
        return Adapter(self.agent, config, reward=self._reward, critic=self.critic, num_tables=self._num_tables)

    def adapt(self, tables: Records, seats: I64, seeds: I64, nets: Sequence[PolicyNet] = ()) -> Adapted:
        """Return a net for each of ``tables`` (n,), from what ``seats`` [n] see of them.

        ``seeds`` [n] decide what is dealt and sampled; ``nets``: what is sampled from and adapted, one for each table,
        by default the agent's own. ValueError for positions that cannot be dealt again (hidden.py).
        """
        whole = Adapted([], 0, 0.0, 0.0)
        at_a_time = max(1, _MAX_ROLLOUTS // self.config.num_rollouts)
        for first in range(0, len(tables), at_a_time):
            part = slice(first, first + at_a_time)
            whole = _joined(whole, self._adapt_part(tables[part], seats[part], seeds[part], nets[part]))
        return whole

    def _adapt_part(self, tables: Records, seats: I64, seeds: I64, nets: Sequence[PolicyNet]) -> Adapted:
        started = time.perf_counter()
        rollouts = self.roll_out(tables, seats, seeds, nets)
        rolled = time.perf_counter()
        adapted = self.update(rollouts, nets)
        result = Adapted(adapted, len(rollouts.decisions), rolled - started, time.perf_counter() - rolled)
        del rollouts
        give_back_memory()
        return result

    def roll_out(self, tables: Records, seats: I64, seeds: I64, nets: Sequence[PolicyNet] = ()) -> Rollouts:
        """Play ``num_rollouts`` trajectories of each position; arguments as in ``adapt``."""
        config = self.config
        owners = np.repeat(np.arange(len(tables)), config.num_rollouts)
        draws = [np.random.default_rng(int(seed)) for seed in seeds]
        num_deals = config.num_rollouts // config.rollouts_per_deal
        deal_seeds = [np.repeat(draw.integers(MAX_SEED, size=num_deals), config.rollouts_per_deal) for draw in draws]
        keys = [draw.integers(MAX_SEED, size=config.num_rollouts) for draw in draws]
        own_seats = np.asarray(seats, np.int64)[owners]
        deals = determinise(tables[owners], own_seats, np.concatenate(deal_seeds))
        deals["has_draw_lanes"] = True  # rollouts of a deal that differ in a call still share the draws: less noise
        decisions = play_deals(
            deals,
            own_seats,
            self.agent,
            nets=nets,
            net_of_deal=owners if nets else None,
            keys=np.concatenate(keys),
            temperature=config.temperature,
            num_tables=self._num_tables,
        )
        rewards = self.rewards(tables[owners], deals, own_seats)
        return Rollouts(decisions, rewards.reshape(len(tables), config.num_rollouts))

    def update(self, rollouts: Rollouts, nets: Sequence[PolicyNet] = ()) -> list[PolicyNet]:
        """Return the net of each position after the gradient steps; ``nets`` as in ``adapt``."""
        size = self.config.num_rollouts
        adapted = []
        for number, rewards in enumerate(rollouts.rewards):
            net = nets[number] if nets else self.agent.discard_net
            own = rollouts.decisions.of_deals(number * size, (number + 1) * size)
            adapted.append(adapt_net(net, own, rewards, self.config, self.critic))
        return adapted

    def rewards(self, before: Records, after: Records, seats: I64) -> F32:
        """Return the points, float32 [n], that ``seats`` [n] got in deals that were played to their ends."""
        return self._reward(before, after)[np.arange(len(after)), seats]


def _joined(first: Adapted, second: Adapted) -> Adapted:
    return Adapted(
        first.nets + second.nets,
        first.num_decisions + second.num_decisions,
        first.rollout_seconds + second.rollout_seconds,
        first.update_seconds + second.update_seconds,
    )


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
            if observations.decision != DISCARD_HEAD:
                return self._agent.forward(observations, lines)
            masks = observations.masks
            self._fit(tables, lines[masks.sum(axis=1) > 1])
            return discard_outputs(self._choose(tables, lines, observations.planes, masks))

        return decide(tables, indices, find_encoder(self._agent.encoder), forward)

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


F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrialResults:
    """What came out for each of n hands, float64 [n] each."""

    base_points: F64
    """Mean points of our seat in a test deal without adapting."""
    adapted_points: F64
    base_win_rates: F64
    """Share of the test deals that our seat won."""
    adapted_win_rates: F64
    difference_errors: F64
    """Standard error, over the test deals, of the points that adapting brought in a deal."""
    changed_shares: F64
    """Share of the test deals in which the two sides ever discard differently."""
    rollout_seconds: F64
    update_seconds: F64

    def first(self, count: int) -> TrialResults:
        """Return the first ``count`` hands."""
        return TrialResults(**{field.name: getattr(self, field.name)[:count] for field in fields(self)})

    @staticmethod
    def join(parts: list[TrialResults]) -> TrialResults:
        """Return the hands of all ``parts``, one after another."""
        names = [field.name for field in fields(TrialResults)]
        return TrialResults(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def try_hands(adapter: Adapter, starts: Records, seats: I64, seeds: I64, *, num_tests: int) -> TrialResults:
    """Adapt to each of the hands that ``seats`` [n] hold at ``starts`` (n,), and play ``num_tests`` deals either way.

    ``seeds`` [n] decide on rollouts and test deals, which are different ones.
    """
    adapted = adapter.adapt(starts, seats, seeds)
    draws = [np.random.default_rng([int(seed), _TESTS]).integers(MAX_SEED, size=num_tests) for seed in seeds]
    test_seeds = np.stack(draws)
    size = max(1, _DEALS_AT_A_TIME // len(starts))
    firsts = range(0, num_tests, size)
    parts = [_play_tests(adapter, starts, seats, adapted.nets, test_seeds[:, first : first + size]) for first in firsts]
    base, played, base_won, played_won, changed = np.concatenate(parts, axis=2)
    give_back_memory()
    return TrialResults(
        base_points=base.mean(axis=1),
        adapted_points=played.mean(axis=1),
        base_win_rates=base_won.mean(axis=1),
        adapted_win_rates=played_won.mean(axis=1),
        difference_errors=(played - base).std(axis=1) / np.sqrt(num_tests),
        changed_shares=changed.mean(axis=1),
        rollout_seconds=np.full(len(starts), adapted.rollout_seconds / len(starts)),
        update_seconds=np.full(len(starts), adapted.update_seconds / len(starts)),
    )


_TESTS = 1  # tells the seeds of test deals from those of rollouts
_DEALS_AT_A_TIME = 4096
"""Test deals that are played side by side: a thousand of them have 40 MB of planes."""


def _play_tests(adapter: Adapter, starts: Records, seats: I64, nets: list[PolicyNet], seeds: I64) -> F64:
    """Play test deals of each start either way; return [5, starts, deals].

    The points without and with adapting, whether our seat won, without and with, and whether the two sides differ.
    """
    owners = np.repeat(np.arange(len(starts)), seeds.shape[1])
    before, own_seats = starts[owners], seats[owners]
    deals = determinise(before, own_seats, seeds.ravel())
    deals["has_draw_lanes"] = True  # sides that differ in a call still share the draws: less noise
    base, played, is_changed = play_either_way(adapter.agent, deals, own_seats, nets, owners)
    points = [adapter.rewards(before, side, own_seats) for side in (base, played)]
    wins = [_has_won(side, own_seats) for side in (base, played)]
    return np.array([*points, *wins, is_changed], np.float64).reshape(5, len(starts), -1)


def play_either_way(
    agent: NetAgent, deals: Records, seats: I64, nets: list[PolicyNet], net_of_deal: I64
) -> tuple[Records, Records, NDArray[np.bool_]]:
    """Return ``deals`` (n,) played with the agent's own net and with ``nets`` for our discards, and where they differ.

    A deal in which the adapted net would have discarded the same all along is not played again.
    """
    base = deals.copy()
    decisions = play_deals(base, seats, agent)
    is_changed = np.zeros(len(deals), np.bool_)
    for number, net in enumerate(nets):
        own = decisions.take(np.flatnonzero(net_of_deal[decisions.deals] == number))
        is_changed[own.deals[_choices(agent, net, own) != own.actions]] = True
    changed = np.flatnonzero(is_changed)
    again = deals[changed]
    play_deals(again, seats[changed], agent, nets=nets, net_of_deal=net_of_deal[changed], keeps=False)
    played = base.copy()
    played[changed] = again
    return base, played, is_changed


def _choices(agent: NetAgent, net: PolicyNet, decisions: SeatDecisions) -> NDArray[np.int64]:
    """Return the kinds that ``net`` would have discarded."""
    kinds = np.zeros(len(decisions), np.int64)
    for first in range(0, len(decisions), _ROWS):
        part = slice(first, first + _ROWS)
        masks = torch.from_numpy(decisions.masks[part])
        kinds[part] = masked_logits(agent.discard_logits(decisions.planes[part], net), masks).argmax(dim=1).numpy()
    return kinds


_ROWS = 8192
"""Decisions that go through a net at a time."""


def _has_won(deals: Records, seats: I64) -> NDArray[np.bool_]:
    has_won = np.zeros(len(deals), np.bool_)
    for number in range(deals["win_seat"].shape[1]):
        has_won |= (deals["num_wins"] > number) & (deals["win_seat"][:, number] == seats)
    return has_won
