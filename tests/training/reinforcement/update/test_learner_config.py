from __future__ import annotations

import pytest

from suphx.training.reinforcement.policy_gradient_config import PolicyGradientConfig
from suphx.training.reinforcement.update.learner_config import LearnerConfig


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match=r"learning_rate is 3\.0: use"):
        LearnerConfig(learning_rate=3.0)
    with pytest.raises(ValueError, match="num_learners is 0: use at least 1"):
        LearnerConfig(num_learners=0)
    with pytest.raises(ValueError, match=r"oracle_critic is true with gradient\.use_critic false: there is no critic"):
        LearnerConfig(oracle_critic=True, gradient=PolicyGradientConfig(use_critic=False))


def test_the_learning_rate_of_the_policy_rises_and_then_falls_to_its_last_share() -> None:
    config = LearnerConfig(warmup_updates=2, decay_updates=4, last_rate_share=0.2)
    shares = [config.rate_share_after(updates) for updates in (0, 1, 2, 4, 9)]
    assert shares == pytest.approx([0.5, 0.8, 0.6, 0.2, 0.2])
