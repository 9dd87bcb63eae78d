from __future__ import annotations

import logging
import os
import signal
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES
from suphx.models.reward_predictor import weights_of
from suphx.models.tensor_file import read_tensors, write_tensors
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.policy_set import PolicySet, load_policy_set
from suphx.selfplay.backend import BackendState, Event, Learned
from suphx.selfplay.config import InferenceEngineConfig, ReplayBufferConfig
from suphx.training.backend_state import load_learner_state
from suphx.training.config import GlobalRewardConfig, RewardName
from suphx.training.learner_config import (
    CriticWarmupConfig,
    EntropyConfig,
    LearnerConfig,
    PolicyGradientConfig,
    TrustRegionConfig,
)
from suphx.training.local_backend import LocalBackend, SelfPlay
from suphx.training.reinforcement_config import STATE_FILE, ReinforcementConfig
from suphx.training.trainer import DivergedError, PartUnavailableError, StoppedError
from suphx_platform.selfplay.metrics import RunMetrics
from suphx_platform.selfplay.policy_trainer import PolicyTrainer, run_backend
from suphx_platform.selfplay.run_folder import DIVERGED_FILE
from tests.models.random_nets import PREDICTION, small_predictor
from tests.repository import REPOSITORY
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_platform.selfplay.small_trainer import (
    CONFIG,
    KilledError,
    Run,
    new_play,
    new_trainer,
    numbers,
    weights,
)

pytestmark = pytest.mark.usefixtures("short_games")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory, short_games: None) -> Run:
    """The run of CONFIG from its start to its end."""
    folder = tmp_path_factory.mktemp("unbroken")
    points: list[Mapping[str, float]] = []
    return Run(folder, new_trainer(folder, report=points.append).run(), points)


def test_the_gradient_is_seven_calls_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader finds the way from the loop to the gradient: run, step, advance, learn, update, learn, make."""

    def backward(loss: torch.Tensor) -> None:
        folders = [REPOSITORY / "suphx", REPOSITORY / "platform"]
        stack = traceback.extract_stack()
        raise KilledError([each.name for each in stack if set(folders) & set(Path(each.filename).parents)])

    monkeypatch.setattr(torch.autograd, "backward", backward)
    with pytest.raises(KilledError) as found:
        new_trainer(tmp_path, replace(CONFIG, overlap=False)).run()
    (names,) = found.value.args
    names = [name for name in names if name != "<listcomp>"]
    assert names == ["run", "step", "advance", "learn", "update", "learn", "make"]


def test_a_run_leaves_an_agent_curves_and_matches(unbroken: Run) -> None:
    folder, metrics = unbroken.folder, unbroken.metrics
    assert load_agent(str(folder)).name == str(folder)
    load_agent(f"{folder}/start:weak")
    newest, begun = weights(folder), weights(folder / "start")
    assert any((newest[name] != begun[name]).any() for name in begun)
    assert [point["updates"] for point in metrics["history"]] == [3, 6, 9, 12]
    assert [point["updates"] for point in unbroken.points][:4] == [3, 6, 9, 12]
    last = metrics["history"][-1]
    assert (metrics["updates"], metrics["version"], last["version"]) == (12, 6, 6)
    assert {"discard_entropy", "discard_alpha", "staleness", "discard_kl_to_start", "hanchans_per_second"} <= set(last)
    assert last["discard_kl_to_start"] > 0
    played = [(match["opponent"], match["policy"], match["is_final"]) for match in metrics["matches"]]
    assert played == [("start", "argmax", True), ("weak", "argmax", True), ("start", "sampled", True)]
    counts = metrics["decisions_of_buffer"]
    assert 12 * 200 <= counts["learned"] < 12 * 230
    assert counts["added"] >= counts["learned"] + counts["stale"]


def test_a_run_that_ends_between_two_reports_reports_its_end(tmp_path: Path) -> None:
    points: list[Mapping[str, float]] = []
    metrics = new_trainer(tmp_path, replace(CONFIG, max_updates=4), report=points.append).run()
    assert [(point["updates"], point["done_share"]) for point in metrics["history"]] == [(3, 0.75), (4, 1.0)]
    assert [point["updates"] for point in points][:2] == [3, 4]


def test_the_curves_of_a_long_run_become_coarser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx_platform.selfplay.policy_trainer._MAX_POINTS", 4)
    config = replace(CONFIG, max_updates=8, report_every=1, evaluate_every=0, evaluation_weak=False)
    metrics = new_trainer(tmp_path, config).run()
    assert [point["updates"] for point in metrics["history"]] == [1, 3, 5, 8]


def test_updates_that_take_the_place_of_lost_ones_are_not_counted_again(unbroken: Run, tmp_path: Path) -> None:
    """A learner that lost its machine answers numbers that were counted before."""

    class Repeating(LocalBackend):
        def advance(self) -> list[Event]:
            events = super().advance()
            updates = [event for event in events if isinstance(event, Learned)]
            return [*events, *(replace(update, number=update.number - n) for update in updates for n in (1, 0))]

    metrics = PolicyTrainer(CONFIG, new_play(), tmp_path, new_backend=Repeating).run()
    assert metrics["updates"] == 12
    assert numbers(metrics) == numbers(unbroken.metrics), "the same seed gives the same numbers"
    np.testing.assert_equal(weights(tmp_path), weights(unbroken.folder))


def test_a_run_that_is_asked_to_stop_saves_its_state_first(
    unbroken: Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(point: Mapping[str, float]) -> None:
        if point["updates"] == 6:
            os.kill(os.getpid(), signal.SIGTERM)

    with caplog.at_level(logging.INFO, "suphx_platform"), pytest.raises(StoppedError, match="step 6"):
        new_trainer(tmp_path, report=stop).run()
    assert caplog.messages == ["stopping: saving the state after 6 updates"]
    points: list[Mapping[str, float]] = []
    shares: list[tuple[float, str]] = []
    trainer = new_trainer(tmp_path, report=points.append, progress=lambda share, note: shares.append((share, note)))
    assert trainer.reached == 6
    first = trainer.time_share
    assert 0 < first < trainer.share_done, "the matches at the end are still to come"
    resumed = trainer.run()
    assert shares[0][0] == pytest.approx(first, abs=0.05)
    assert shares[-1][0] == 1.0
    assert shares[[note.startswith("match after") for _, note in shares].index(True)][0] < 1.0
    assert any(note.startswith("match after") for _, note in shares)
    assert points[0]["updates"] == 9
    assert numbers(resumed) == numbers(unbroken.metrics)
    np.testing.assert_equal(weights(tmp_path), weights(unbroken.folder))


def test_a_run_that_is_stopped_before_its_first_update_does_not_repeat_the_match(tmp_path: Path) -> None:
    play = replace(new_play(), opponent=small_policy_set(3))
    config = replace(CONFIG, max_updates=2, weight_sync_interval=1, evaluate_every=2)

    def stop(point: Mapping[str, float]) -> None:
        if point["updates"] == 0:
            os.kill(os.getpid(), signal.SIGTERM)

    def run(report: Callable[[Mapping[str, float]], None] | None) -> Mapping[str, Any]:
        return PolicyTrainer(config, play, tmp_path, new_backend=run_backend(config), report=report).run()

    with pytest.raises(StoppedError, match="step 0"):
        run(stop)
    before = [match["opponent"] for match in run(None)["matches"] if match["updates"] == 0]
    assert before == ["start", "weak"]


GUARDED = replace(
    CONFIG.learner,
    gradient=PolicyGradientConfig(gae_lambda=0.8),
    critic_warmup=CriticWarmupConfig(decisions=800, batch_size=64),
    trust_region=TrustRegionConfig(kl_coeff=0.1, kl_half_life=3),
    entropy=EntropyConfig(anneal_updates=6),
    warmup_updates=4,
    decay_updates=6,
)
"""The critic begins alone, and the policy is held."""


@pytest.mark.parametrize(
    ("reward", "learner"),
    [("round_score", CONFIG.learner), ("global_prediction", CONFIG.learner), ("global_prediction", GUARDED)],
)
def test_a_killed_run_goes_on_with_the_numbers_of_the_unbroken_one(
    unbroken: Run, tmp_path: Path, reward: RewardName, learner: LearnerConfig
) -> None:
    config = replace(CONFIG, save_seconds=0.0, reward=reward, learner=learner)
    if (reward, learner) != (CONFIG.reward, CONFIG.learner):
        config = replace(config, max_updates=9)
        unbroken = Run(tmp_path / "a", new_trainer(tmp_path / "a", config).run(), [])

    def kill(updates: int, _: object) -> None:
        if updates == 5:
            raise KilledError

    with pytest.raises(KilledError):
        new_trainer(tmp_path / "b", config, keep=kill).run()
    assert not (tmp_path / "b" / "metrics.json").exists()
    resumed = new_trainer(tmp_path / "b", replace(config, save_seconds=120.0)).run()
    assert numbers(resumed) == numbers(unbroken.metrics)
    np.testing.assert_equal(weights(tmp_path / "b"), weights(unbroken.folder))


def test_self_play_can_begin_with_the_learner_of_earlier_self_play(tmp_path: Path) -> None:
    config = replace(CONFIG, max_updates=4, report_every=1)
    metrics = new_trainer(tmp_path / "a", config).run()
    play = replace(
        new_play(),
        start=load_policy_set(tmp_path / "a", "mini", game="riichi"),
        carried=load_learner_state(tmp_path / "a" / STATE_FILE),
    )
    later = PolicyTrainer(config, play, tmp_path / "b").run()
    assert later["updates"] == 4
    assert later["history"][0]["discard_entropy_target"] == metrics["history"][0]["discard_entropy_target"]
    fresh = PolicyTrainer(replace(config, max_updates=1), replace(play, carried=None), tmp_path / "c").run()
    losses = [run["history"][0]["discard_critic_loss"] for run in (fresh, later)]
    assert losses[0] != losses[1], "the critic is carried over: a new one predicts 0"
    state, header = read_tensors(tmp_path / "b" / STATE_FILE)
    assert header["backend"]["learner"]["policy_updates"] == {"discard": 4}, "learning rates begin as in a first stage"
    assert header["backend"]["learner"]["controls"]["discard"]["num_updates"] == 8
    steps = {int(tensor) for name, tensor in state.items() if name.startswith("learner/opt") and name.endswith(".step")}
    assert steps == {8}
    begun = weights(tmp_path / "b" / "start")
    np.testing.assert_equal(begun, weights(tmp_path / "a"))


def test_a_run_with_a_carried_learner_resumes_with_the_same_numbers(tmp_path: Path) -> None:
    config = replace(CONFIG, save_seconds=0.0, learner=GUARDED, max_updates=6, report_every=1)
    new_trainer(tmp_path / "first", config).run()
    play = replace(
        new_play(),
        start=load_policy_set(tmp_path / "first", "mini", game="riichi"),
        carried=load_learner_state(tmp_path / "first" / STATE_FILE),
    )

    def kill(now: int, _: object) -> None:
        if now == 2:
            raise KilledError

    config = replace(config, max_updates=4)
    unbroken = PolicyTrainer(config, play, tmp_path / "a").run()
    with pytest.raises(KilledError):
        PolicyTrainer(config, play, tmp_path / "b", keep=kill).run()
    resumed = PolicyTrainer(config, play, tmp_path / "b").run()
    np.testing.assert_equal(weights(tmp_path / "b"), weights(tmp_path / "a"))
    assert any((value != weights(tmp_path / "first")[name]).any() for name, value in weights(tmp_path / "b").items())
    assert numbers(resumed) == numbers(unbroken)


def test_a_state_of_another_run_is_refused_with_the_difference(tmp_path: Path) -> None:
    new_trainer(tmp_path, replace(CONFIG, max_updates=1)).run()
    other = replace(CONFIG, buffer=replace(CONFIG.buffer, batch_size=100))
    with pytest.raises(ValueError, match=r"buffer.batch_size was 200, now 100\): restore these settings"):
        new_trainer(tmp_path, other)
    tensors, header = read_tensors(tmp_path / STATE_FILE)
    progress, backend = header["progress"], header["backend"]
    parts: list[dict[str, Any]] = [
        {"run": 5},
        {"progress": progress | {"step": "many"}},
        {"progress": progress | {"matches": [0.5]}},
        {"progress": progress | {"matches": [{"opponent": "start"}]}},
        {"progress": progress | {"matches": [{"hanchans": "8"}]}},
        {"backend": backend | {"held": 5}},
        {"backend": backend | {"held": [[], []]}},
        {"backend": backend | {"versions": [99]}},
        {"backend": backend | {"held": [["no head"]]}},
        {"backend": backend | {"counts": 5}},
        {"backend": backend | {"learner": {}}},
        {"backend": backend | {"learner": {"controls": []}}},
    ]
    for broken in parts:
        write_tensors(tmp_path / STATE_FILE, tensors, header | broken)
        with pytest.raises(ValueError, match=r"damaged.*: delete it to start over"):
            new_trainer(tmp_path, replace(CONFIG, max_updates=1)).run()
    (tmp_path / STATE_FILE).write_bytes(b"torn")
    with pytest.raises(ValueError, match="is damaged"):
        new_trainer(tmp_path)


def test_another_reward_predictor_makes_another_run_and_another_place_of_it_does_not(tmp_path: Path) -> None:
    config = replace(CONFIG, max_updates=1, reward="global_prediction")
    new_trainer(tmp_path, config).run()
    moved = replace(config, max_updates=2, global_reward=GlobalRewardConfig(predictor="moved.safetensors"))
    assert new_trainer(tmp_path, moved).run()["updates"] == 2
    other = replace(PREDICTION, weights=weights_of(small_predictor(1)))
    with pytest.raises(ValueError, match=r"\(global_reward.predictor was \w{16}, now \w{16}\)"):
        PolicyTrainer(moved, replace(new_play(moved), prediction=other), tmp_path)


def test_a_finished_run_has_the_newest_weights_and_can_be_made_longer(unbroken: Run, tmp_path: Path) -> None:
    """It ends between two versions: the engines never get its last weights."""
    shorter = new_trainer(tmp_path, replace(CONFIG, max_updates=5)).run()
    assert (shorter["updates"], shorter["version"]) == (5, 2)
    learner, _ = load_learner_state(tmp_path / STATE_FILE)
    policy = "net.discard.policy."
    newest = {name.removeprefix(policy): value.numpy() for name, value in learner.items() if name.startswith(policy)}
    np.testing.assert_equal(weights(tmp_path), newest)
    longer = new_trainer(tmp_path).run()
    np.testing.assert_equal(weights(tmp_path), weights(unbroken.folder))
    assert longer["updates"] == 12
    assert longer["version"] == unbroken.metrics["version"]


class Poisoned(LocalBackend):
    """Diverges at update 5."""

    def __init__(self, config: ReinforcementConfig, play: SelfPlay, state: BackendState | None = None) -> None:
        super().__init__(config, play, state)
        take = self._buffer.take

        def poisoned(version: int) -> Any:
            batch = take(version)
            if batch is not None and self.version == 2:
                batch.parts[DISCARD_HEAD].rewards[0] = np.inf
            return batch

        self._buffer.take = poisoned  # type: ignore[method-assign]


def test_a_loss_that_is_no_number_ends_the_run_with_the_batch_and_the_last_good_weights(tmp_path: Path) -> None:
    kept: list[tuple[int, bool, bool]] = []

    def keep(updates: int, then: Callable[[], None] | None) -> None:
        kept.append((updates, (tmp_path / DIVERGED_FILE).exists(), then is not None))

    config = replace(CONFIG, save_seconds=0.0)
    trainer = PolicyTrainer(config, new_play(), tmp_path, new_backend=Poisoned, metrics=RunMetrics(), keep=keep)
    with pytest.raises(DivergedError, match=r"diverged at update 5 .*lower learner.learning_rate \(now 0.0003\)"):
        trainer.run()
    tensors, header = read_tensors(tmp_path / DIVERGED_FILE)
    assert header["updates"] == 4
    assert kept[-1] == (kept[-2][0], True, False), "the batch is kept with the last state, which is no newer"
    assert {saved[1:] for saved in kept[:-1]} == {(False, True)}
    assert torch.isinf(tensors["discard.rewards"]).sum() == 1
    assert all(np.isfinite(value).all() for value in weights(tmp_path).values())
    load_agent(str(tmp_path))


def test_a_storage_that_has_failed_does_not_hide_that_the_run_diverged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def keep(updates: int, _: object) -> None:
        if (tmp_path / DIVERGED_FILE).exists():
            raise OSError("the bucket is full")

    config = replace(CONFIG, save_seconds=0.0)
    trainer = PolicyTrainer(config, new_play(), tmp_path, new_backend=Poisoned, keep=keep)
    with pytest.raises(DivergedError, match=rf"the batch is in {tmp_path / DIVERGED_FILE}.*lower learner"):
        trainer.run()
    assert caplog.messages == ["the batch is only on this machine, because the storage has failed: the bucket is full"]


def test_all_heads_can_learn_together(tmp_path: Path) -> None:
    config = replace(
        CONFIG,
        heads=HEAD_NAMES,
        max_updates=80,
        buffer=ReplayBufferConfig(batch_size=40),
        engine=InferenceEngineConfig(precision="fp32"),
    )
    metrics = new_trainer(tmp_path, config).run()
    names = {name for point in metrics["history"] for name in point}
    learned = {name.removesuffix("_entropy") for name in names if name.endswith("_entropy")}
    assert set(HEAD_NAMES) - learned <= {"riichi"}, "hands of random nets are hardly ever ready"


def test_a_run_ends_its_backend_although_it_is_interrupted_again_while_it_shows_metrics(tmp_path: Path) -> None:
    closed: list[str] = []

    class Interrupted(RunMetrics):
        def close(self) -> None:
            super().close()
            raise KeyboardInterrupt("again")

    class Closing(LocalBackend):
        def close(self) -> None:
            super().close()
            closed.append("backend")

    config = replace(CONFIG, max_updates=1)
    with pytest.raises(KeyboardInterrupt, match="again"):
        PolicyTrainer(config, new_play(), tmp_path, new_backend=Closing, metrics=Interrupted()).run()
    assert closed == ["backend"]


def test_a_buffer_without_room_says_what_to_change(tmp_path: Path) -> None:
    config = replace(CONFIG, buffer=ReplayBufferConfig(batch_size=100_000, capacity_bytes=2**20))
    with pytest.raises(ValueError, match=r"raise reinforcement\.buffer\.capacity_bytes above"):
        new_trainer(tmp_path, config).run()


@pytest.mark.parametrize(("final_sampled", "policies"), [(True, ["argmax", "sampled"]), (False, ["argmax"])])
def test_without_weak_policies_the_start_is_the_only_opponent(
    tmp_path: Path, final_sampled: bool, policies: list[str]
) -> None:
    start: PolicySet = small_policy_set(1)
    play = SelfPlay(start=start, weak=start, encoder="mini", rules_version="tenhou-1", seed=5)
    metrics = PolicyTrainer(replace(CONFIG, max_updates=1, final_sampled=final_sampled), play, tmp_path).run()
    assert [match["opponent"] for match in metrics["matches"]] == ["start"] * len(policies)
    assert [match["policy"] for match in metrics["matches"]] == policies


def test_checkpoints_play_on_the_same_walls_and_the_last_match_is_longer(tmp_path: Path) -> None:
    config = replace(CONFIG, max_updates=4, evaluate_every=2, evaluation_deals=20, final_hanchans=16)
    points: list[Mapping[str, float]] = []
    told: list[str] = []
    metrics = new_trainer(
        tmp_path, config, report=points.append, progress=lambda share, note: told.append(note)
    ).run()  # fmt: skip
    against_start = [match for match in metrics["matches"] if match["opponent"] == "start"]
    assert [(match["updates"], match["policy"], match["hanchans"]) for match in against_start] == [
        (2, "argmax", 8), (4, "argmax", 16), (4, "sampled", 16)
    ]  # fmt: skip
    first, last, sampled = against_start
    assert last["change"]["since"] == 2
    places = [[int(place) for place in match["placements"][:8]] for match in (first, last)]
    assert last["change"]["difference"] == pytest.approx(np.mean(places[1]) - np.mean(places[0]))
    assert "change" not in first
    assert "change" not in sampled
    assert sampled["placements"] != last["placements"]
    assert [match["deals"]["number"] for match in (first, last)] == [2, 2], "of two games, which end after one deal"
    assert "deals" not in sampled
    names = {name for point in points for name in point}
    assert {"start_difference", "weak_difference", "start_sampled_difference", "start_points_per_kyoku"} <= names
    assert "match after 4 updates (sampled start): 16 of 16 hanchans" in told
    again = new_trainer(tmp_path, config).run()
    assert again["matches"] == metrics["matches"], "nothing is played again"


class Away(LocalBackend):
    """Its learner is unavailable after update 6, when the process is asked to stop."""

    is_stopped: Callable[[], bool]

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        self.is_stopped = is_made

    def settle(self) -> list[Event]:
        if self._learner.num_updates < 6:
            return []
        os.kill(os.getpid(), signal.SIGTERM)  # the first one, or another one
        assert self.is_stopped()
        raise PartUnavailableError("learner is unavailable")


@pytest.mark.parametrize(("save_seconds", "saved"), [(0.0, "5"), (120.0, "")])
def test_a_stop_while_the_learner_is_away_ends_the_run_with_the_last_save(
    unbroken: Run, tmp_path: Path, save_seconds: float, saved: str, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(point: Mapping[str, float]) -> None:
        if point["updates"] == 6 and not saved:
            os.kill(os.getpid(), signal.SIGTERM)

    config = replace(CONFIG, save_seconds=save_seconds)
    with caplog.at_level(logging.INFO, "suphx_platform"), pytest.raises(StoppedError) as stopped:
        PolicyTrainer(config, new_play(), tmp_path, new_backend=Away, report=stop).run()
    assert stopped.value.step == int(saved or 0)
    (message,) = caplog.messages
    assert message.startswith("learner is unavailable: the training ends")
    assert ("the state saved at update 5; updates since then are repeated" if saved else "no saved state") in message
    resumed = new_trainer(tmp_path)
    assert resumed.reached == int(saved or 0)
    assert numbers(resumed.run()) == numbers(unbroken.metrics)
    np.testing.assert_equal(weights(tmp_path), weights(unbroken.folder))


@pytest.mark.parametrize("away", ["settle", "weights"])
def test_a_stop_at_the_end_of_a_run_whose_learner_is_away_ends_it_with_the_last_save(tmp_path: Path, away: str) -> None:
    """The second time that it is asked, the learner is there, and what it has is not saved: events were missed."""

    class AwayOnce(LocalBackend):
        has_been_away = False

        def settle(self) -> list[Event]:
            return self._leave("settle") or super().settle()

        def weights(self) -> Mapping[str, Any]:
            self._leave("weights")
            return super().weights()

        def _leave(self, where: str) -> list[Event]:
            if where == away and self._learner.num_updates == 4 and not self.has_been_away:
                self.has_been_away = True
                os.kill(os.getpid(), signal.SIGTERM)
                raise PartUnavailableError("learner is unavailable")
            return []

    config = replace(CONFIG, max_updates=4, save_seconds=120.0)
    metrics = RunMetrics()
    with pytest.raises(StoppedError) as stopped:
        PolicyTrainer(config, new_play(), tmp_path, new_backend=AwayOnce, metrics=metrics).run()
    assert metrics._values["suphx_stopping", ()] == 1.0, "no alert: the run was asked to stop"
    assert stopped.value.step == 0
    assert not (tmp_path / STATE_FILE).exists()
