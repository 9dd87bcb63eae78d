"""Settings that do not fit together are refused; ranges and choices of single ones are tested with all recipes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from suphx.experience.observation import OpponentConfig
from suphx.models.inference import InferenceConfig
from suphx.models.net_config import NetConfig
from suphx.selfplay.config import BranchConfig, ReplayBufferConfig, SimulatorConfig
from suphx.selfplay.layout import MAX_BUFFERS, RayLayoutConfig, RoundLayoutConfig
from suphx.training.config import (
    AdaptationConfig,
    GlobalRewardConfig,
    MonteCarloConfig,
    PlayoutConfig,
    SplitConfig,
    SupervisedConfig,
)
from suphx.training.learner_config import EntropyConfig, LearnerConfig, OracleConfig, PolicyGradientConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from tests.repository import REPOSITORY


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (SupervisedConfig, {"max_epochs": 0}, "set one of them, or training never ends"),
        (SupervisedConfig, {"precision": "fp16"}, "precision is 'fp16': use auto, bf16 or fp32"),
        (SplitConfig, {"validation_fraction": 0.5, "test_fraction": 0.5}, "leave games for training"),
        (GlobalRewardConfig, {"last_kyoku": "real"}, "last_kyoku is 'real': use predicted or paid"),
        (PlayoutConfig, {"final_hanchans": 6}, "final_hanchans is 6: use 0, or a multiple of 4, at least 8"),
        (MonteCarloConfig, {"imitates": "rule", "algorithm": "policy_gradient"}, "leave algorithm out"),
        (AdaptationConfig, {"num_rollouts": 1023}, "use a multiple of 8"),
        (EntropyConfig, {"alpha": 0.9}, "at most max_alpha"),
        (PolicyGradientConfig, {"reject_ratio": 1.0}, "reject_ratio is 1.0: use a ratio above 1"),
        (LearnerConfig, {"oracle_critic": True, "gradient": PolicyGradientConfig(use_critic=False)}, "no critic"),
        (OracleConfig, {"keep_probability": 0.5}, "is 0.5 with policy false, which sees nothing"),
        (ReinforcementConfig, {"evaluation_hanchans": 9}, "use a multiple of 4"),
        (ReinforcementConfig, {"final_hanchans": 4}, "final_hanchans is 4: use 0, or a multiple of 4, at least 8"),
        (ReinforcementConfig, {"buffer": ReplayBufferConfig(max_staleness=0)}, "max_staleness is 0 with overlap"),
        (ReinforcementConfig, {"evaluation_deals": 19}, "evaluation_deals is 19: use 0, or at least 20"),
        (OpponentConfig, {"latest": 0.0}, "latest, older and weak are all 0"),
        (SimulatorConfig, {"num_tables": 7}, "num_tables is 7: use an even number"),
        (InferenceConfig, {"batch_sizes": (0, 2)}, "different numbers of at least 1, ascending"),
        (RayLayoutConfig, {"hang_seconds": 700.0}, "hang_seconds is 700.0, start_seconds 600.0: use no more time"),
        (RoundLayoutConfig, {"pace": "lockstep", "weight_sync_rounds": 2}, "is 2: with pace lockstep use 1"),
        (NetConfig, {"channels": 4096, "num_blocks": 1024}, "the net has about 103,079 million weights"),
    ],
)
def test_settings_that_do_not_fit_are_refused_with_a_remedy(kind: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**settings)


@pytest.mark.parametrize(
    ("settings", "game", "message"),
    [
        ({"heads": ("kong",)}, "riichi", "kong cannot be played out; use discard, riichi, chow, pong"),
        ({"heads": ()}, "riichi", "use one or more of discard"),
        ({"heads": ("discard",), "branches": BranchConfig(discard_share=0)}, "riichi", "discard_share is 0, but only"),
        ({}, "mcr", "heads is .'discard', 'chow', 'pong'.: use one or more of discard, claim"),
    ],
)
def test_heads_that_cannot_be_played_out_in_a_game_are_refused(
    settings: dict[str, Any], game: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        PlayoutConfig(**settings).head_numbers(game)


def test_the_chart_accepts_as_many_buffers_as_a_run() -> None:
    schema = json.loads((REPOSITORY / "helm/suphx/values.schema.json").read_text())
    assert schema["$defs"]["learner"]["properties"]["buffers"]["maximum"] == MAX_BUFFERS
    assert RayLayoutConfig(num_buffers=MAX_BUFFERS).num_buffers == MAX_BUFFERS


@pytest.mark.parametrize(
    ("settings", "step", "epochs", "seconds", "share"),
    [
        ({"max_epochs": 2, "max_steps": 100, "max_minutes": 10}, 10, 1.0, 60, 0.5),
        ({"max_epochs": 2, "max_steps": 100, "max_minutes": 10}, 10, 0.1, 540, 0.9),
        ({"max_epochs": 0, "max_steps": 100}, 25, 40.0, 1e6, 0.25),
        ({"max_epochs": 0, "total_minutes": 1, "min_steps": 200}, 100, 0.1, 600, 0.5),
        ({"max_epochs": 0, "total_minutes": 1, "min_steps": 200}, 900, 0.1, 30, 0.5),
    ],
    ids=["epochs", "minutes", "0 is no limit", "the least number of steps", "the time of all nets"],
)
def test_the_limit_that_is_nearest_decides_how_much_is_done(
    settings: dict[str, Any], step: int, epochs: float, seconds: float, share: float
) -> None:
    assert SupervisedConfig(**settings).share_done(step, epochs, seconds) == pytest.approx(share)
