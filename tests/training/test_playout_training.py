"""Learning from playouts with small random nets: same numbers after a restart, and what is learned is worth points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, PONG_HEAD
from suphx.models.tensor_file import read_tensors, write_tensors
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.policy_set import PolicySet, random_policy_set
from suphx.selfplay.branches import Branches
from suphx.selfplay.config import BranchConfig
from suphx.training.config import PlayoutConfig
from suphx.training.playouts import STATE_FILE, BranchLearner, BranchSums, PlayoutJob, PlayoutTrainer, branch_loss
from suphx.training.trainer import DivergedError, StoppedError
from tests.selfplay.agents.small_agent import SMALL
from tests.training.played_games import StopAfter, untimed
from tests.training.twins import branch_twin as twin

START = random_policy_set("mini", SMALL, 5, game="riichi")
CONFIG = PlayoutConfig(
    num_decisions=900,
    round_decisions=200,
    batch_size=64,
    report_every=2,
    save_seconds=0.0,
    learning_rate=0.01,
    branches=BranchConfig(num_tables=16),
)


def job(**changes: Any) -> PlayoutJob:
    return PlayoutJob(
        config=replace(CONFIG, **changes), start=START, encoder="mini", game="riichi", seed=7, extra={"a": 1}
    )


def weights(policy_set: PolicySet) -> Iterator[tuple[str, torch.Tensor]]:
    for head, net in enumerate(policy_set.nets):
        for name, tensor in net.state_dict().items():
            yield f"{head}.{name}", tensor


def finish(folder: Path, **changes: Any) -> dict[str, Any]:
    return PlayoutTrainer(job(**changes), folder).run()


def begin(folder: Path, rounds: int = 1, **changes: Any) -> None:
    with pytest.raises(StoppedError):
        PlayoutTrainer(job(**changes), folder, watch=StopAfter(rounds - 1)).run()


def test_the_heads_that_learn_change_and_the_others_do_not(tmp_path: Path) -> None:
    points: list[Any] = []
    kept: list[int] = []
    trainer = PlayoutTrainer(job(), tmp_path, report=points.append, keep=kept.append)
    trainer.run()
    assert kept == list(range(1, len(kept) + 1))
    assert points[-1]["decisions"] >= 900
    assert points[0]["discard_decisions"] > 0
    assert all(np.isfinite(points[-1][f"discard_{name}"]) for name in ("gain", "gain_error", "kl_to_start", "loss"))
    policy_set = trainer.policy_set()
    assert trainer.reached >= 900
    before = dict(weights(START))
    changed = {int(name[0]) for name, tensor in weights(policy_set) if not torch.equal(tensor, before[name])}
    assert DISCARD_HEAD in changed
    assert changed <= {DISCARD_HEAD, CHOW_HEAD, PONG_HEAD}


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole = finish(tmp_path / "whole")
    begin(tmp_path / "parts", rounds=2)
    again = finish(tmp_path / "parts")
    assert untimed(whole) == untimed(again)
    for head in ("discard", "chow", "pong", "riichi", "kong"):
        name = f"{head}.safetensors"
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()
    load_agent(str(tmp_path / "whole"))


def test_a_state_of_another_training_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    begin(tmp_path)
    with pytest.raises(ValueError, match=r"belongs to another training .learning_rate was 0.01, now 0.02"):
        PlayoutTrainer(job(learning_rate=0.02), tmp_path)
    with pytest.raises(ValueError, match=r"belongs to another training .start was"):
        PlayoutTrainer(replace(job(), start=random_policy_set("mini", SMALL, 6, game="riichi")), tmp_path)
    assert PlayoutTrainer(job(save_seconds=9.0), tmp_path).reached > 0
    tensors, header = read_tensors(tmp_path / STATE_FILE)
    parts: list[dict[str, Any]] = [{"since_report": []}, {"since_report": {"discard": {"x": 1}}}]
    for broken in parts:
        write_tensors(tmp_path / STATE_FILE, tensors, header | broken)
        with pytest.raises(ValueError, match=r"is damaged .*: delete it"):
            PlayoutTrainer(job(), tmp_path)
    del tensors["discard.steps"]
    write_tensors(tmp_path / STATE_FILE, tensors, header)
    with pytest.raises(ValueError, match=r"is damaged .*: delete it"):
        PlayoutTrainer(job(), tmp_path)


def test_a_loss_that_is_no_number_changes_nothing() -> None:
    learner = BranchLearner(START.net(CHOW_HEAD), CONFIG, torch.device("cpu"))
    before = learner.state()
    rows = np.zeros((4, START.net(CHOW_HEAD).observation_bytes), np.uint8)
    points = np.full((4, 2), np.inf, np.float32)
    broken = Branches(
        rows, np.zeros((4, 0), np.uint8), np.tile(np.array([[1, 0]], np.int16), (4, 1)), points, np.arange(4)
    )
    with pytest.raises(
        DivergedError, match="the loss of step 1 is nan, with a gradient of norm nan: lower learning_rate"
    ):
        learner.learn(broken, 1.0, np.random.default_rng(0), BranchSums(), open_deals=np.arange(4))
    assert all(torch.equal(tensor, before[name]) for name, tensor in learner.state().items())


def branches_of(learner: BranchLearner, deals: list[int], seed: int = 0) -> Branches:
    """Calls in which yes is worth more or less than no, by chance."""
    rng, count = np.random.default_rng(seed), len(deals)
    rows = rng.integers(0, 256, (count, learner.net.observation_bytes), np.uint8)
    choices = np.tile(np.array([[1, 0]], np.int16), (count, 1))
    points = rng.normal(0, 4000, (count, 2)).astype(np.float32)
    return Branches(rows, np.zeros((count, 0), np.uint8), choices, points, np.array(deals))


def learned(learner: BranchLearner, branches: Branches, open_deals: Sequence[int] = ()) -> BranchSums:
    sums = BranchSums()
    learner.learn(branches, 1.0, np.random.default_rng(0), sums, open_deals=np.array(open_deals, np.int64))
    return sums


def test_gains_are_measured_in_deals_of_which_nothing_was_learned() -> None:
    config = replace(CONFIG, batch_size=8, warmup_steps=0)
    learner = BranchLearner(START.net(CHOW_HEAD), config, torch.device("cpu"))
    first = branches_of(learner, [5] * 20 + [6] * 20)
    sums = learned(learner, first, open_deals=[4, 5, 6])
    assert (sums.count, sums.measured, sums.deals, sums.gain) == (40, 40, 2, 0.0), "before the first of five steps"
    assert sums.loss != 0
    second = branches_of(learner, [6] * 10 + [7] * 10 + [8] * 10, seed=1)
    probabilities = [
        torch.softmax(net(torch.from_numpy(second.planes)), dim=1) for net in (learner.net, START.net(CHOW_HEAD))
    ]
    difference = (probabilities[0] - probabilities[1]).detach().double().numpy()[:, ::-1] * second.points
    sums = learned(learner, second, open_deals=[4, 5, 8])
    assert (sums.count, sums.measured, sums.deals) == (30, 20, 2), "the deal 6 goes on"
    assert sums.gain == pytest.approx(difference[10:].sum(), rel=1e-4)
    restored = BranchLearner(START.net(CHOW_HEAD), config, torch.device("cpu"))
    restored.restore(learner.state())
    assert learned(restored, branches_of(learner, [8, 9])).measured == 1
    assert learned(learner, branches_of(learner, [4, 5, 8])).measured == 1, "the deal 5 goes on since the first round"
    assert not learner.state()["deals"].numel(), "no deal goes on"


def sums_of(gains: np.ndarray, deals: np.ndarray) -> BranchSums:
    sums = BranchSums()
    sums.add_step(0.0, len(gains))
    sums.add_measured(gains, np.zeros(len(gains)), deals)
    return sums


def test_it_is_as_large_as_the_gain_really_varies_when_decisions_share_the_luck_of_a_deal() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(300):
        sizes = rng.integers(1, 20, 100)
        deals = rng.permutation(np.repeat(np.arange(100), sizes))
        luck = rng.normal(0, 10, 100)
        found.append(sums_of(5 + luck[deals] + rng.normal(0, 10, len(deals)), deals).means())
    real = np.std([means["gain"] for means in found])
    errors = np.array([means["gain_error"] for means in found])
    assert errors.mean() == pytest.approx(real, rel=0.15)
    as_independent = ((10**2 + 10**2) / found[0]["decisions"]) ** 0.5
    assert as_independent < 0.5 * real, "the luck matters here"


CHOICES = [[4, 1, 0], [2, 3, -1], [0, 1, -1]]
MASKS = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]])
UNIT, KL = 1000.0, 0.3


def batch(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = rng.integers(-80, 80, (3, 3)) * 100.0
    points[1:, 2] = 0
    return rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), points


def loss_of(logits: torch.Tensor, start: np.ndarray, points: np.ndarray) -> tuple[torch.Tensor, ...]:
    given = (torch.tensor(each) for each in (start, MASKS, CHOICES, points))
    return branch_loss(logits, *given, unit=UNIT, kl_coeff=KL)


def test_the_gradient_is_that_of_the_twin() -> None:
    logits, start, points = batch()
    own = torch.tensor(logits, requires_grad=True)
    loss, gains, _ = loss_of(own, start, points)
    torch.autograd.backward(loss)
    assert own.grad is not None
    advantages = twin.advantages_of(logits, MASKS.astype(float), CHOICES, points)

    def value(at: np.ndarray) -> float:
        return twin.loss(at, start, MASKS.astype(float), CHOICES, points, UNIT, KL, advantages)

    assert float(loss.detach()) == pytest.approx(value(logits), rel=1e-4)
    for i, j in np.ndindex(logits.shape):
        step = np.zeros_like(logits)
        step[i, j] = 1e-5
        assert float(own.grad[i, j]) == pytest.approx((value(logits + step) - value(logits - step)) / 2e-5, abs=1e-5)
    for i in range(3):
        expected = twin.gain(logits[i], start[i], MASKS[i].astype(float), CHOICES[i], points[i])
        assert float(gains[i]) == pytest.approx(expected, rel=1e-3)


def test_calls_have_no_mask() -> None:
    logits, start = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.0]])
    choices, points = torch.tensor([[1, 0]]), torch.tensor([[3000.0, 0.0]])
    _, gains, divergences = branch_loss(logits, start, torch.zeros(1, 0), choices, points, unit=3000.0, kl_coeff=0.0)
    yes, before = torch.softmax(logits, 1)[0, 1], torch.softmax(start, 1)[0, 1]
    assert float(gains) == pytest.approx(3000 * float(yes - before), rel=1e-4)
    assert float(divergences) > 0


def test_the_start_itself_has_gained_nothing_and_is_not_pulled() -> None:
    logits, _, points = batch(1)
    _, gains, divergences = loss_of(torch.tensor(logits), logits, points)
    assert float(gains.abs().max()) < 1e-2
    assert float(divergences.abs().max()) < 1e-6
