"""Run-time policy adaptation, pMCPA (paper, section 3.4): a copy of the discard net, fitted to one hand.

Rollouts start from the present position, with all that our seat cannot see dealt again at random. A gradient step
of equation 6 on them changes the copy. ``Adapter`` does so for many positions side by side.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim import Adam

from suphx.experience.columns import Columns
from suphx.experience.observation import F32, Observations
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.selfplay.decision import HeadOutputs, decide, discard_outputs
from suphx.games.riichi.simulator import MAX_SEED
from suphx.kernel.record import I16, I64, U8, Records
from suphx.models.device import give_back_memory
from suphx.models.policy import PolicyNet
from suphx.models.sampling import masked_logits
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.rollouts.deal_play import DEFAULT_TABLES, SeatDecisions, play_deals
from suphx.training.config import ROLLOUTS_PER_DEAL, AdaptationConfig
from suphx.training.policy_gradient import divergences_of, policy_loss
from suphx.training.reward import DealReward, points_won
from suphx.training.trainer import DivergedError

REWARD_UNIT = 5000.0
"""Advantages are rewards divided by it."""
BATCH_ROLLOUTS = 256
"""Trajectories of a step of Adam; of all in one step, those whose gradient is computed at a time."""
MAX_RATIO = 2.0
"""Importance ratios of trajectories above it count as this much."""


def rollout_advantages(rewards: F32) -> F32:
    """Return ``rewards`` [k], those of a deal side by side, less the mean of the others of the deal.

    A reward is not part of its own mean, so that the gradient of equation 6 stays unbiased.
    """
    groups = rewards.reshape(-1, ROLLOUTS_PER_DEAL).astype(np.float64)
    others = (groups.sum(axis=1, keepdims=True) - groups) / (ROLLOUTS_PER_DEAL - 1)
    return np.asarray((groups - others).ravel(), np.float32)


def trajectory_loss(
    logits: Tensor,
    masks: Tensor,
    actions: Tensor,
    log_probs: Tensor,
    trajectories: Tensor,
    advantages: Tensor,
    *,
    num_trajectories: int,
    max_ratio: float = MAX_RATIO,
) -> Tensor:
    """Return, 0-d, the loss whose gradient is that of equation 6, negated, as a mean over the trajectories.

    ``logits``, ``masks`` [n, 34], ``actions`` [n], ``log_probs`` [n] of the policy that sampled, ``trajectories`` int64
    [n], and ``advantages`` [n], the same for all decisions of a trajectory. The ratio of a trajectory is the product
    over its decisions; ``max_ratio``: 0 = no limit.
    """
    loss = policy_loss(
        logits, masks, actions, log_probs, advantages, alpha=0.0, max_ratio=max_ratio, trajectories=trajectories
    ).loss
    return loss * len(actions) / num_trajectories


def adapt_net(net: PolicyNet, decisions: SeatDecisions, rewards: F32, config: AdaptationConfig) -> PolicyNet:
    """Return a copy of ``net`` after one pass of equation 6 over the trajectories.

    ``decisions``: of the seat that adapts, in the order of the trajectories; ``rewards`` [k] in points, those of one
    deal side by side. ValueError for a net with BatchNorm, DivergedError if a weight is no longer a finite number.
    """
    if net.config.normalization != "none":
        raise ValueError("the net to adapt has BatchNorm: fold it first (fold_batch_norm)")
    advantages = np.asarray(rollout_advantages(rewards)[decisions.deals] / np.float32(REWARD_UNIT), np.float32)
    adapted = copy.deepcopy(net).requires_grad_(True)
    batches = _batches(decisions, advantages, len(rewards), next(net.parameters()).device)
    if batches and config.kl_target:
        _step_to_distance(adapted, batches, config)
    elif batches:
        optimizer = Adam(adapted.parameters(), lr=config.learning_rate)
        for batch in batches:
            optimizer.zero_grad()
            torch.autograd.backward(batch.loss(adapted, config.temperature))
            optimizer.step()
    for parameter in adapted.parameters():
        parameter.grad = None
        if not bool(parameter.isfinite().all()):
            raise DivergedError("a weight of the adapted net is no longer finite: lower learning_rate or kl_target")
    return adapted.requires_grad_(False)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The decisions of some trajectories: the arguments of ``trajectory_loss``."""

    num_trajectories: int
    planes: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    trajectories: Tensor
    advantages: Tensor

    def loss(self, net: PolicyNet, temperature: float) -> Tensor:
        """Return the loss of ``net``, a mean over the trajectories of the batch."""
        return trajectory_loss(
            net(self.planes) / temperature,
            *(self.masks, self.actions, self.log_probs, self.trajectories, self.advantages),
            num_trajectories=self.num_trajectories,
        )


def _batches(decisions: SeatDecisions, advantages: F32, num_trajectories: int, device: torch.device) -> list[_Batch]:
    """Return the batches in which something was decided; ``decisions`` in the order of their trajectories."""
    batches = []
    for first in range(0, num_trajectories, BATCH_ROLLOUTS):
        last = min(first + BATCH_ROLLOUTS, num_trajectories)
        rows = slice(*np.searchsorted(decisions.deals, [first, last]).tolist())
        if rows.start < rows.stop:
            part = (getattr(decisions, name)[rows] for name in ("planes", "masks", "actions", "log_probs"))
            columns = (*part, decisions.deals[rows] - first, advantages[rows])
            batches.append(_Batch(last - first, *(torch.from_numpy(column).to(device) for column in columns)))
    return batches


_DISTANCE_ROWS = 4096
"""The divergence is measured over at least this many decisions, if there are as many: enough for its mean."""
_FIRST_LENGTH = 0.01
"""Norm of the first step that is tried."""
_MAX_TRIALS = 20
_TOLERANCE = 0.1
"""Share of the wanted divergence by which it may be missed."""
_MAX_CHANGE = 8.0
"""Factor by which a trial may be longer or shorter than the one before."""


def _step_to_distance(net: PolicyNet, batches: Sequence[_Batch], config: AdaptationConfig) -> None:
    """Take one step along the gradient of all trajectories, until KL(net before || net now) is about ``kl_target``. Its
    length is searched; a gradient of zeros, or one for which no length is right, does not move the net.
    """
    every = max(1, sum(len(batch.actions) for batch in batches) // _DISTANCE_ROWS)
    rows = torch.cat([batch.planes[::every] for batch in batches])
    masks = torch.cat([batch.masks[::every] for batch in batches])

    def log_probs() -> Tensor:
        with torch.no_grad():
            return torch.log_softmax(masked_logits(net(rows) / config.temperature, masks), dim=1)

    before = log_probs()
    count = sum(batch.num_trajectories for batch in batches)
    for batch in batches:
        torch.autograd.backward(batch.loss(net, config.temperature) * (batch.num_trajectories / count))
    parameters = [parameter for parameter in net.parameters() if parameter.grad is not None]
    first = [parameter.detach().clone() for parameter in parameters]
    steps = [cast(Tensor, parameter.grad) for parameter in parameters]
    norm = float(torch.stack([step.norm() for step in steps]).norm())
    length = _FIRST_LENGTH / norm if norm else 0.0
    for _ in range(_MAX_TRIALS if norm else 0):
        with torch.no_grad():
            for parameter, origin, step in zip(parameters, first, steps, strict=True):
                parameter.copy_(origin - length * step)
        ratio = float(divergences_of(before, log_probs()).mean()) / config.kl_target
        if abs(ratio - 1) < _TOLERANCE:
            return
        length *= min(max(ratio, 1 / _MAX_CHANGE**2), _MAX_CHANGE**2) ** -0.5
    with torch.no_grad():
        for parameter, origin in zip(parameters, first, strict=True):
            parameter.copy_(origin)


_MAX_ROLLOUTS = 4096
"""At a time: a thousand of them have 40 MB of planes to learn from."""


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Trajectories of some positions, those of a position one after another, those of a deal side by side."""

    decisions: SeatDecisions
    rewards: F32
    """float32 [positions, k]: points of the seat that adapts."""


@dataclass(slots=True)
class Adapted:
    """A net for each position, and what they took together."""

    nets: list[PolicyNet]
    rollout_seconds: float = 0.0
    update_seconds: float = 0.0


class Adapter:
    """Makes nets for positions, each as if it were alone: ``Adapter(agent, AdaptationConfig()).adapt(tables, seats,
    seeds).nets``.
    """

    def __init__(
        self,
        agent: NetAgent,
        config: AdaptationConfig,
        *,
        reward: DealReward = points_won,
        num_tables: int = DEFAULT_TABLES,
    ) -> None:
        """``num_tables``: rollouts that are under way at a time."""
        self.agent = agent
        self.config = config
        self._reward = reward
        self._num_tables = num_tables

    def adapt(self, tables: Records, seats: I64, seeds: I64) -> Adapted:
        """Return a net for each of ``tables`` (n,), from what ``seats`` [n] see of them.

        ``seeds`` [n] decide what is dealt and sampled. ValueError for positions that cannot be dealt again (hidden.py).
        """
        whole = Adapted([])
        at_a_time = max(1, _MAX_ROLLOUTS // self.config.num_rollouts)
        for first in range(0, len(tables), at_a_time):
            part = slice(first, first + at_a_time)
            started = time.perf_counter()
            rollouts = self.roll_out(tables[part], seats[part], seeds[part])
            rolled = time.perf_counter()
            whole.nets += self.update(rollouts)
            whole.rollout_seconds += rolled - started
            whole.update_seconds += time.perf_counter() - rolled
            del rollouts
            give_back_memory()
        return whole

    def roll_out(self, tables: Records, seats: I64, seeds: I64) -> Rollouts:
        """Play ``num_rollouts`` trajectories of each position; arguments as in ``adapt``."""
        config = self.config
        owners = np.repeat(np.arange(len(tables)), config.num_rollouts)
        draws = [np.random.default_rng(int(seed)) for seed in seeds]
        num_deals = config.num_rollouts // ROLLOUTS_PER_DEAL
        deal_seeds = [np.repeat(draw.integers(MAX_SEED, size=num_deals), ROLLOUTS_PER_DEAL) for draw in draws]
        keys = [draw.integers(MAX_SEED, size=config.num_rollouts) for draw in draws]
        own_seats = np.asarray(seats, np.int64)[owners]
        deals = determinise(tables[owners], own_seats, np.concatenate(deal_seeds))
        deals["has_draw_lanes"] = True  # rollouts of a deal that differ in a call still share the draws: less noise
        decisions = play_deals(
            deals,
            own_seats,
            self.agent,
            keys=np.concatenate(keys),
            temperature=config.temperature,
            num_tables=self._num_tables,
        )
        rewards = self.rewards(tables[owners], deals, own_seats)
        return Rollouts(decisions, rewards.reshape(len(tables), config.num_rollouts))

    def update(self, rollouts: Rollouts) -> list[PolicyNet]:
        """Return the net of each position after the gradient steps."""
        size = self.config.num_rollouts
        adapted = []
        for number, rewards in enumerate(rollouts.rewards):
            own = rollouts.decisions.of_deals(number * size, (number + 1) * size)
            adapted.append(adapt_net(self.agent.discard_net, own, rewards, self.config))
        return adapted

    def rewards(self, before: Records, after: Records, seats: I64) -> F32:
        """Return the points, float32 [n], that ``seats`` [n] got in deals that were played to their ends."""
        return self._reward(before, after)[np.arange(len(after)), seats]


class AdaptiveAgent:
    """Plays as the adapter's agent does, but discards by a copy of its net that is fitted to the present kyoku.

    The copy is made when a seat is to discard for the first time in a kyoku, for all tables of a call side by side. A
    table must keep its index for that long.
    """

    needs_same_table = True
    """A kyoku must go on at the table at which it began, so no copies of tables are played (paired deals)."""
    is_slow = True
    """Every table has nets of its own and rollouts: large batches make neither cheaper."""

    def __init__(self, name: str, adapter: Adapter) -> None:
        self.name = name
        self.adapter = adapter
        self._agent = adapter.agent
        self._fitted: dict[tuple[int, int], tuple[tuple[int, int], PolicyNet]] = {}
        """Of a line and a seat: its kyoku and the net for that."""

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
        fresh = lines[is_first]
        if fresh.size:
            seats = tables["actor"][fresh].astype(np.int64)
            self._keep(tables, fresh, self.adapter.adapt(tables[fresh], seats, _seeds(tables, fresh)).nets)

    def _choose(self, tables: Records, lines: I64, rows: U8, masks: U8) -> I64:
        kinds = np.zeros(len(lines), np.int64)
        for i, line in enumerate(lines):
            logits = self._agent.discard_logits(rows[i : i + 1], self._find(tables, line))
            kinds[i] = int(masked_logits(logits, torch.from_numpy(masks[i : i + 1])).argmax())
        return kinds

    def _find(self, tables: Records, line: int) -> PolicyNet | None:
        """Return the net of the actor of table ``line`` for its kyoku, None if it has none."""
        kyoku, net = self._fitted.get((int(line), int(tables["actor"][line])), (None, None))
        return net if kyoku == _kyoku(tables, line) else None

    def _keep(self, tables: Records, lines: I64, nets: list[PolicyNet]) -> None:
        for line, net in zip(lines.tolist(), nets, strict=True):
            kyoku = _kyoku(tables, line)
            for seat in range(4):  # nets of kyokus that are over
                if (line, seat) in self._fitted and self._fitted[line, seat][0] != kyoku:
                    del self._fitted[line, seat]
            self._fitted[line, int(tables["actor"][line])] = (kyoku, net)


def _kyoku(tables: Records, line: int) -> tuple[int, int]:
    return int(tables["wall_seed"][line]), int(tables["num_kyoku"][line])


def _seeds(tables: Records, lines: I64) -> I64:
    """Return seeds that follow from the games and the decisions."""
    names = ("wall_seed", "num_kyoku", "num_decisions", "actor")
    keys = [[*(int(tables[name][line]) for name in names), 0] for line in lines]
    return np.array([np.random.default_rng(key).integers(MAX_SEED) for key in keys], np.int64)


F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrialResults(Columns):
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


def try_hands(adapter: Adapter, starts: Records, seats: I64, seeds: I64, *, num_tests: int) -> TrialResults:
    """Adapt to each of the hands that ``seats`` [n] hold at ``starts`` (n,), and play ``num_tests`` other deals either
    way. ``seeds`` [n] decide on rollouts and test deals.
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
_ROWS = 8192
"""Decisions that go through a net at a time."""


def _play_tests(adapter: Adapter, starts: Records, seats: I64, nets: list[PolicyNet], seeds: I64) -> F64:
    """Play test deals of each start either way; return [5, starts, deals]: points without and with adapting, wins of
    our seat without and with, and whether the two sides differ.
    """
    owners = np.repeat(np.arange(len(starts)), seeds.shape[1])
    before, own_seats = starts[owners], seats[owners]
    deals = determinise(before, own_seats, seeds.ravel())
    deals["has_draw_lanes"] = True  # sides that differ in a call still share the draws: less noise
    base, played, is_changed = play_either_way(adapter.agent, deals, own_seats, nets, owners)
    points = [adapter.rewards(before, side, own_seats) for side in (base, played)]
    wins = []
    for side in (base, played):
        is_winner = side["win_seat"] == own_seats[:, None]
        wins.append((is_winner & (np.arange(is_winner.shape[1]) < side["num_wins"][:, None])).any(axis=1))
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
        for first in range(0, len(own), _ROWS):
            part = slice(first, first + _ROWS)
            logits = masked_logits(agent.discard_logits(own.planes[part], net), torch.from_numpy(own.masks[part]))
            is_changed[own.deals[part][logits.argmax(dim=1).numpy() != own.actions[part]]] = True
    changed = np.flatnonzero(is_changed)
    again = deals[changed]
    play_deals(again, seats[changed], agent, nets=nets, net_of_deal=net_of_deal[changed], keeps=False)
    played = base.copy()
    played[changed] = again
    return base, played, is_changed
