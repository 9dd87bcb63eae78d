"""Whether adapting to a hand helps (paper, section 4.3): adapted and not adapted nets play the same test deals.

In a test deal our hand is fixed and all else is dealt again; the other seats never adapt.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray

from suphx.games.riichi import MAX_SEED, determinise
from suphx.kernel.record import I64, Records
from suphx.models.device import give_back_memory
from suphx.models.nets.policy import PolicyNet
from suphx.models.sampling import masked_logits
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.rollouts.deal_play import SeatDecisions, play_deals
from suphx.training.adaptation.adapter import Adapter

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
