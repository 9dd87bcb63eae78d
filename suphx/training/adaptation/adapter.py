"""Rollouts and adapted nets for many positions side by side (paper, section 3.4)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suphx.experience.observation import F32
from suphx.games.riichi import MAX_SEED, determinise
from suphx.kernel.record import I64, Records
from suphx.models.device import give_back_memory
from suphx.models.nets.critic import CriticNet
from suphx.models.nets.policy import PolicyNet
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.rollouts.deal_play import DEFAULT_TABLES, SeatDecisions, play_deals
from suphx.training.adaptation.adaptation import adapt_net, check_trained_blocks
from suphx.training.adaptation.adaptation_config import AdaptationConfig
from suphx.training.reward.deal_reward import DealReward, points_won

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
        by default the agent's own. ValueError for positions that cannot be dealt again (hidden/determinisation.py).
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
