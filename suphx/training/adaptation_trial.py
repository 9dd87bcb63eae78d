"""Whether adapting to a hand helps (paper, section 4.3): adapted and not adapted nets play the same test deals.

In a test deal our hand is fixed and all else is dealt anew; the other seats never adapt.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from suphx.models.policy import PolicyNet
from suphx.riichi.determinisation import determinise
from suphx.riichi.record import I64, Records
from suphx.riichi.simulator import MAX_SEED
from suphx.selfplay.deal_play import play_deals
from suphx.training.adapter import Adapter

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
    """Share of the test deals in which our seat's points differ."""
    rollout_seconds: F64
    update_seconds: F64

    @staticmethod
    def join(parts: list[TrialResults]) -> TrialResults:
        """Return the hands of all ``parts``, one after another."""
        names = [field.name for field in fields(TrialResults)]
        return TrialResults(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def try_hands(adapter: Adapter, starts: Records, seats: I64, seeds: I64, *, num_tests: int) -> TrialResults:
    """Adapt to each of the hands that ``seats`` [n] hold at ``starts`` (n,), and play ``num_tests`` deals either way.

    ``seeds`` [n] decide on rollouts and test deals; no test deal is a rollout's.
    """
    adapted = adapter.adapt(starts, seats, seeds)
    test_seeds = [np.random.default_rng([int(seed), _TESTS]).integers(MAX_SEED, size=num_tests) for seed in seeds]
    owners = np.repeat(np.arange(len(starts)), num_tests)
    deals = determinise(starts[owners], seats[owners], np.concatenate(test_seeds))
    base_points, base_wins = _play(adapter, starts, deals.copy(), seats, [])
    points, wins = _play(adapter, starts, deals, seats, adapted.nets)
    return TrialResults(
        base_points=base_points.mean(axis=1),
        adapted_points=points.mean(axis=1),
        base_win_rates=base_wins.mean(axis=1),
        adapted_win_rates=wins.mean(axis=1),
        changed_shares=(points != base_points).mean(axis=1),
        rollout_seconds=np.full(len(starts), adapted.rollout_seconds / len(starts)),
        update_seconds=np.full(len(starts), adapted.update_seconds / len(starts)),
    )


_TESTS = 1  # tells the seeds of test deals from those of rollouts


def _play(adapter: Adapter, starts: Records, deals: Records, seats: I64, nets: list[PolicyNet]) -> tuple[F64, F64]:
    """Play the ``deals``, equally many of each start, in place; return points and wins of our seats [starts, tests]."""
    owners = np.repeat(np.arange(len(starts)), len(deals) // len(starts))
    own_seats = seats[owners]
    play_deals(deals, own_seats, adapter.agent, nets=nets, net_of_deal=owners if nets else None)
    points = adapter.rewards(starts[owners], deals, own_seats)
    has_won = np.zeros(len(deals), np.float64)
    for number in range(deals["win_seat"].shape[1]):
        has_won += (deals["num_wins"] > number) & (deals["win_seat"][:, number] == own_seats)
    return points.astype(np.float64).reshape(len(starts), -1), has_won.reshape(len(starts), -1)
