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
    changed_shares: F64
    """Share of the test deals in which the two sides ever discard differently."""
    rollout_seconds: F64
    update_seconds: F64

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
    test_seeds = [np.random.default_rng([int(seed), _TESTS]).integers(MAX_SEED, size=num_tests) for seed in seeds]
    owners = np.repeat(np.arange(len(starts)), num_tests)
    before, own_seats = starts[owners], seats[owners]
    deals = determinise(before, own_seats, np.concatenate(test_seeds))
    base, played, is_changed = play_either_way(adapter.agent, deals, own_seats, adapted.nets, owners)

    def means(column: NDArray[np.generic]) -> F64:
        return np.asarray(column.astype(np.float64).reshape(len(starts), num_tests).mean(axis=1), np.float64)

    return TrialResults(
        base_points=means(adapter.rewards(before, base, own_seats)),
        adapted_points=means(adapter.rewards(before, played, own_seats)),
        base_win_rates=means(_has_won(base, own_seats)),
        adapted_win_rates=means(_has_won(played, own_seats)),
        changed_shares=means(is_changed),
        rollout_seconds=np.full(len(starts), adapted.rollout_seconds / len(starts)),
        update_seconds=np.full(len(starts), adapted.update_seconds / len(starts)),
    )


_TESTS = 1  # tells the seeds of test deals from those of rollouts


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
    logits = masked_logits(agent.discard_logits(decisions.planes, net), torch.from_numpy(decisions.masks))
    return np.asarray(logits.argmax(dim=1).numpy(), np.int64)


def _has_won(deals: Records, seats: I64) -> NDArray[np.bool_]:
    has_won = np.zeros(len(deals), np.bool_)
    for number in range(deals["win_seat"].shape[1]):
        has_won |= (deals["num_wins"] > number) & (deals["win_seat"][:, number] == seats)
    return has_won
