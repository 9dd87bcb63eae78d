from __future__ import annotations

import pytest

from suphx.training.reinforcement.trust_region_config import TrustRegionConfig


def test_the_weight_of_the_initial_net_halves_again_and_again() -> None:
    region = TrustRegionConfig(kl_coeff=0.2, kl_half_life=10)
    assert [region.kl_coeff_after(updates) for updates in (0, 10, 20)] == pytest.approx([0.2, 0.1, 0.05])
    assert TrustRegionConfig(kl_coeff=0.2).kl_coeff_after(1000) == 0.2


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match=r"max_kl is -1\.0: use 0 or more"):
        TrustRegionConfig(max_kl=-1.0)
