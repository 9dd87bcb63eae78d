from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD
from suphx.training.learner import UpdateControl, mean_figures, new_stage
from suphx.training.learner_config import CriticWarmupConfig, EntropyConfig, LearnerConfig
from suphx.training.learning_step import Figures, Step
from tests.training.decision_batch import BATCHES, CONFIG, GUARDED, decisions

KINDS = (DECISIONS[DISCARD_HEAD], DECISIONS[CHOW_HEAD])


def found(parts: Sequence[Sequence[Step]], entropy: float = 1.0) -> list[list[Figures]]:
    return [[{head: {"entropy": entropy} for head in step} for step in own] for own in parts]


def new_control(config: LearnerConfig = CONFIG) -> UpdateControl:
    return UpdateControl(config, KINDS)


def test_one_learner_gets_all_rows_in_one_step() -> None:
    [[step]] = new_control().steps_by_learner({DISCARD_HEAD: decisions(n=65), CHOW_HEAD: decisions(CHOW_HEAD, n=0)})
    assert set(step) == {"discard"}
    assert len(step["discard"].decisions) == 65
    assert step["discard"].weight == 1
    assert step["discard"].learns_policy


def test_parts_of_several_learners_are_whole_trajectories_and_weigh_one_together() -> None:
    for batch in BATCHES:
        parts = new_control(replace(CONFIG, num_learners=2)).steps_by_learner(batch)
        assert len(parts) == 2
        for head, name in ((DISCARD_HEAD, "discard"), (CHOW_HEAD, "chow")):
            if head not in batch:
                continue
            own = [steps[0][name] for steps in parts]
            assert sum(part.weight for part in own) == pytest.approx(1)
            assert sum(len(part.decisions) for part in own if part.weight) == len(batch[head])
            assert all(part.decisions.is_last[-1] or not part.weight for part in own)
            assert all(len(part.decisions) for part in own)


def test_a_critic_that_learns_alone_makes_several_steps_until_it_has_seen_enough() -> None:
    config = replace(CONFIG, critic_warmup=CriticWarmupConfig(decisions=100, batch_size=32))
    control = new_control(config)
    batch = {DISCARD_HEAD: decisions(n=64), CHOW_HEAD: decisions(CHOW_HEAD, n=40)}
    [steps] = control.steps_by_learner(batch)
    assert [{head: part.learns_policy for head, part in step.items()} for step in steps] == (
        [{"discard": False}] * 2 + [{"chow": False}] * 2
    )
    for _ in range(2):
        parts = control.steps_by_learner(batch)
        control.count(parts, found(parts))
    [steps] = control.steps_by_learner(batch)
    assert [{head: part.learns_policy for head, part in step.items()} for step in steps] == (
        [{"discard": True, "chow": True}]  # 128 and 80 decisions so far
    )


def test_a_net_that_decides_rarely_learns_as_soon_as_the_others_and_with_their_settings() -> None:
    config = replace(CONFIG, **GUARDED | {"entropy": EntropyConfig(anneal_updates=4, rate=0.0, gain=0.0)})
    control = new_control(config)
    often, rare = {DISCARD_HEAD: decisions(n=64)}, {CHOW_HEAD: decisions(CHOW_HEAD, n=10)}
    for number in range(8):  # 200 decisions for the critics alone: the first 4 updates
        parts = control.steps_by_learner(often | rare if number in (0, 7) else often)
        figures = control.count(parts, found(parts))
        assert all(part.learns_policy == (number >= 4) for part in parts[0][0].values())
    discard, chow = parts[0][0]["discard"], parts[0][0]["chow"]
    assert (chow.rate_share, chow.kl_coeff) == (discard.rate_share, discard.kl_coeff)
    assert chow.rate_share == config.rate_share_after(3)
    assert figures["chow"]["entropy_target"] == figures["discard"]["entropy_target"] == pytest.approx(1 - 0.75 * 0.6)


def test_settings_change_from_update_to_update() -> None:
    control = new_control(replace(CONFIG, **GUARDED, num_learners=1))
    rates, weights = [], []
    for seed in range(8):
        parts = control.steps_by_learner({DISCARD_HEAD: decisions(seed=seed)})
        rates.append(parts[0][-1]["discard"].rate_share)
        weights.append(parts[0][-1]["discard"].kl_coeff)
        control.count(parts, found(parts))
    assert control.num_updates == 8
    assert weights[:4] == [0] * 4  # 200 decisions for the critic alone
    assert weights[4:] == pytest.approx([0.1 * 0.5 ** (updates / 2) for updates in range(4)])
    assert rates[4:] == [control._config.rate_share_after(updates) for updates in range(4)]


def test_a_new_stage_begins_with_the_first_learning_rate_and_the_carried_entropy_control() -> None:
    config = replace(CONFIG, decay_updates=3, entropy=EntropyConfig(target=1.5, alpha=0.2, rate=0.01, gain=0.0))
    first, second = new_control(config), new_control(config)
    batch = {DISCARD_HEAD: decisions()}
    for _ in range(4):
        parts = first.steps_by_learner(batch)
        first.count(parts, found(parts))
    assert first.steps_by_learner(batch)[0][0]["discard"].rate_share == pytest.approx(config.last_rate_share)
    second.restore(new_stage(first.state()))
    step = second.steps_by_learner(batch)[0][0]["discard"]
    assert step.rate_share == 1
    assert step.alpha == first.steps_by_learner(batch)[0][0]["discard"].alpha == pytest.approx(0.22)
    assert second.num_updates == 0


def test_a_step_with_more_rows_counts_more_and_a_maximum_stays_one() -> None:
    control = new_control()
    [[long]], [[short]] = (control.steps_by_learner({DISCARD_HEAD: decisions(n=n)}) for n in (30, 10))
    figures: list[list[Figures]] = [[{"discard": {"kl": kl, "ratio_max": 10 * kl}} for kl in (1.0, 5.0)]]
    assert mean_figures([[long, short]], figures) == {"discard": {"kl": pytest.approx(2.0), "ratio_max": 50.0}}
