from __future__ import annotations

import pytest

from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD
from suphx.training.learner_config import (
    EntropyConfig,
    EntropyControl,
    LearnerConfig,
    OracleConfig,
    TrustRegionConfig,
    next_alpha,
)

PLAIN = EntropyConfig(target=1.0, rate=0.1, gain=0.0)
START = EntropyControl(target=1.0, alpha=0.02)


def entropies(config: EntropyConfig, num_updates: int = 1500) -> list[float]:
    """Return the entropies of a policy that alpha moves rather than sets, as learning does: 0.02 keeps it as it is."""
    control, entropy, speed = START, 2.44, 0.0
    seen = []
    for _ in range(num_updates):
        control = control.after(entropy, config)
        speed = 0.9 * speed + 0.1 * 1.5 * (control.alpha - 0.02)  # the optimiser's momentum
        entropy = min(max(entropy + speed, 0.05), 2.44)
        seen.append(entropy)
    return seen


def test_the_gain_answers_at_once_and_is_gone_when_nothing_is_missing() -> None:
    config = EntropyConfig(rate=0.0, gain=0.05)
    control = START.after(0.6, config)
    assert control.alpha == pytest.approx(0.04)
    assert control.after(1.0, config).alpha == pytest.approx(0.02)


def test_the_sum_waits_while_alpha_is_at_a_bound() -> None:
    config = EntropyConfig(rate=0.001, gain=0.1)
    control = START
    for _ in range(100):
        control = control.after(2.4, config)
    assert (control.alpha, control.summed) == (0.0, START.alpha)
    assert control.after(1.0, config).alpha == START.alpha


def test_without_an_absolute_target_it_is_a_share_of_the_initial_entropy_that_falls() -> None:
    config = EntropyConfig(first_share=1.0, last_share=0.4, anneal_updates=4, rate=0.0, gain=0.1, alpha=0.02)
    control = EntropyControl(target=config.target_of(DECISIONS[DISCARD_HEAD]), alpha=config.alpha)
    assert control.target_now(config) is None
    targets = []
    for entropy in (0.8, 0.7, 0.6, 0.5, 0.4, 0.3):
        control = control.measured(entropy)
        target = control.target_now(config)
        assert target is not None
        targets.append(target)
        control = control.after(entropy, config)
        assert control.alpha == pytest.approx(max(0.02 + 0.1 * (target - entropy), 0))
    assert targets == pytest.approx([0.8 * share for share in (1.0, 0.85, 0.7, 0.55, 0.4, 0.4)])


def test_an_absolute_target_does_not_fall() -> None:
    config = EntropyConfig(target=1.0, anneal_updates=1)
    controls = [
        EntropyControl(target=config.target_of(DECISIONS[head]), alpha=0.0).after(0.5, config)
        for head in (DISCARD_HEAD, CHOW_HEAD)
    ]
    assert [control.target_now(config) for control in controls] == [1.0, 0.5 * 0.4]


def test_a_policy_that_answers_late_settles_at_the_target() -> None:
    last = entropies(EntropyConfig())[750:]
    assert max(abs(entropy - 1.0) for entropy in last) < 0.05


@pytest.mark.parametrize(
    ("alpha", "entropy", "expected"),
    [(0.2, 0.5, 0.25), (0.2, 1.5, 0.15), (0.2, 1.0, 0.2), (0.01, 3.0, 0.0), (0.49, 0.0, 0.5)],
)
def test_alpha_moves_by_rate_times_the_missing_entropy_within_its_bounds(
    alpha: float, entropy: float, expected: float
) -> None:
    assert next_alpha(alpha, entropy, 1.0, PLAIN) == pytest.approx(expected)
    assert [START.after(own, EntropyConfig(gain=1.0)).alpha for own in (3.0, 0.0)] == [0.0, 0.5]


def test_rates_and_weights_follow_the_updates() -> None:
    config = LearnerConfig(warmup_updates=2, decay_updates=4, last_rate_share=0.2)
    shares = [config.rate_share_after(updates) for updates in (0, 1, 2, 4, 9)]
    assert shares == pytest.approx([0.5, 0.8, 0.6, 0.2, 0.2])
    region = TrustRegionConfig(kl_coeff=0.2, kl_half_life=10)
    assert [region.kl_coeff_after(updates) for updates in (0, 10, 20)] == pytest.approx([0.2, 0.1, 0.05])
    assert TrustRegionConfig(kl_coeff=0.2).kl_coeff_after(1000) == 0.2


@pytest.mark.parametrize(
    ("ratio", "steps"), [(0.0, (0.75, 0.5, 0.25, 0.0)), (0.5, (0.5, 0.25, 0.125, 0.0))], ids=["steps", "ratios"]
)
def test_keep_probability_falls_from_the_first_step_to_0(ratio: float, steps: tuple[float, ...]) -> None:
    config = OracleConfig(policy=True, steps=4, ratio=ratio, updates_per_step=10)
    assert [config.keep_probability_after(n) for n in (0, 9, 10, 19, 20, 29, 30, 10_000)] == [
        *(steps[0], steps[0], steps[1], steps[1], steps[2], steps[2], 0.0, 0.0)
    ]
    assert [config.keep_probability_of_update(n) for n in (0, 1, 10, 11, 40)] == [1.0, steps[0], steps[0], steps[1], 0]
    assert config.num_updates == 40
    assert [n for n in range(50) if config.ends_step(n)] == [10, 20, 30, 40]
