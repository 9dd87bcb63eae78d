from __future__ import annotations

import pytest

from suphx.training.entropy import EntropyConfig, EntropyControl, next_alpha

CONFIG = EntropyConfig(target=1.0, rate=0.1, memory=0.0)


def test_alpha_moves_by_rate_times_the_missing_entropy() -> None:
    assert next_alpha(0.2, 0.5, 1.0, CONFIG) == pytest.approx(0.25)
    assert next_alpha(0.2, 1.5, 1.0, CONFIG) == pytest.approx(0.15)
    assert next_alpha(0.2, 1.0, 1.0, CONFIG) == 0.2


def test_alpha_stays_in_its_bounds() -> None:
    assert next_alpha(0.01, 3.0, 1.0, CONFIG) == 0.0
    assert next_alpha(0.49, 0.0, 1.0, CONFIG) == 0.5


def test_rate_0_leaves_alpha_where_it_is() -> None:
    assert next_alpha(0.3, 0.0, 1.0, EntropyConfig(rate=0.0)) == 0.3


def test_the_recent_entropy_remembers() -> None:
    config = EntropyConfig(target=1.0, rate=0.1, memory=0.75)
    control = EntropyControl(target=1.0, alpha=0.1).after(0.8, config)
    assert (control.recent, control.alpha) == pytest.approx((0.8, 0.12))
    control = control.after(1.2, config)
    assert (control.recent, control.alpha) == pytest.approx((0.9, 0.13))


def test_a_policy_whose_entropy_grows_with_alpha_settles_at_the_target() -> None:
    config = EntropyConfig(rate=0.02)
    control = EntropyControl(target=1.0, alpha=0.0)
    for _ in range(500):
        control = control.after(4 * control.alpha, config)
    assert control.alpha == pytest.approx(0.25, rel=0.01)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"rate": -1.0}, "rate is -1.0: use 0"), ({"alpha": 0.9}, "at most max_alpha"), ({"memory": 1.0}, "memory is")],
)
def test_wrong_settings_are_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EntropyConfig(**wrong)
