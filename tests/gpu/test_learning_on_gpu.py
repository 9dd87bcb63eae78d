"""Learning on a GPU against the same on the CPU: nothing here is about speed (docs/measuring.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD, HEAD_NAMES
from suphx.models.inference import compiled
from suphx.models.net_config import Compilation, NetConfig
from suphx.models.policy import PolicyNet
from suphx.selfplay.config import InferenceEngineConfig
from suphx.training.dataset import StreamPosition
from suphx.training.feed import Batch
from suphx.training.learning_step import ActorCritic, HeadBatch, LearningStep
from suphx.training.supervised import HeadTrainer, LossGradients
from tests.models.random_nets import NUM_PLANES, random_rows
from tests.suphx_platform.selfplay.small_trainer import CONFIG as SELF_PLAY
from tests.suphx_platform.selfplay.small_trainer import new_trainer, weights
from tests.training.decision_batch import CONFIG, decisions, small_net
from tests.training.played_games import SHORT, head_data, job

pytestmark = pytest.mark.gpu
CPU, GPU = torch.device("cpu"), torch.device("cuda")


def batches(head: int) -> list[Batch]:
    rng = np.random.default_rng(1)
    torch.manual_seed(2)
    num_outputs = 34 if head == DISCARD_HEAD else 2
    masks = torch.ones(32, num_outputs if head == DISCARD_HEAD else 0, dtype=torch.uint8)
    return [
        Batch(random_rows(32), masks, torch.from_numpy(rng.integers(num_outputs, size=32, dtype=np.int8)), position)
        for position in [StreamPosition()] * 8
    ]


def learn(
    net: PolicyNet, device: torch.device, head: int, *, is_bf16: bool, is_recorded: bool, compilation: Compilation
) -> tuple[list[float], list[Tensor]]:
    """Return the losses of some steps and their gradients, each as one vector on the CPU."""
    net = net.to(device).train()
    trained = compiled(net, compilation, device)
    compute = LossGradients(trained, is_bf16=is_bf16, is_recorded=is_recorded)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    losses, gradients = [], []
    for batch in batches(head):
        planes, masks, labels = (part.to(device) for part in (batch.planes, batch.masks, batch.labels))
        losses.append(compute(Batch(planes, masks, labels, batch.position)).item())
        own = [parameter.grad for parameter in net.parameters()]
        gradients.append(torch.cat([each.flatten().cpu() for each in own if each is not None]))
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    return losses, gradients


def new_net(head: int) -> PolicyNet:
    torch.manual_seed(1)
    net = PolicyNet(DECISIONS[head], NUM_PLANES, NetConfig(size="tiny"))
    for norm in (module for module in net.modules() if isinstance(module, nn.BatchNorm1d)):
        nn.init.normal_(norm.weight)  # the blocks start at zero, where most gradients vanish
    return net


@pytest.mark.parametrize("head", [DISCARD_HEAD, CHOW_HEAD])
@pytest.mark.parametrize(
    ("compilation", "is_bf16", "error"), [("none", False, 0.003), ("default", False, 0.003), ("default", True, 0.4)]
)
def test_recorded_steps_are_those_of_the_cpu(head: int, compilation: Compilation, is_bf16: bool, error: float) -> None:
    net, twin = new_net(head), new_net(head)
    wanted, expected = learn(twin, CPU, head, is_bf16=False, is_recorded=False, compilation="none")
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        found, gradients = learn(net, GPU, head, is_bf16=is_bf16, is_recorded=True, compilation=compilation)
    assert found == pytest.approx(wanted, rel=error)
    for ours, theirs in zip(gradients, expected, strict=True):
        assert (ours - theirs).norm() < error * theirs.norm()
    for name, value in twin.named_buffers():
        own = dict(net.named_buffers())[name].cpu()
        torch.testing.assert_close(own, value, rtol=error, atol=error * float(value.abs().max()), msg=name)


class KilledError(Exception):
    """Stands for a kill."""


def test_a_killed_training_goes_on_and_learns(tmp_path: Path) -> None:
    config = replace(SHORT, device="cuda", learning_rate=5e-3, batch_size=128, max_steps=250, warmup_steps=20)
    training = job(config, data=head_data(num_kyokus=1000), net=NetConfig(size="tiny"))

    def kill(point: Mapping[str, Any]) -> None:
        if point["step"] == 125:
            raise KilledError

    with pytest.raises(KilledError):
        HeadTrainer(training, tmp_path, report=kill).run()
    metrics = HeadTrainer(training, tmp_path).run()
    assert metrics["history"][-1]["samples"] == 250 * 128
    assert metrics["test"]["accuracy"] > 0.9


def test_reinforcement_learning_steps_are_those_of_the_cpu() -> None:
    config = replace(CONFIG, precision="fp32")

    def figures(device: torch.device) -> list[dict[str, float]]:
        nets = {HEAD_NAMES[head]: ActorCritic(config, small_net(head)) for head in (DISCARD_HEAD, CHOW_HEAD)}
        step = LearningStep(config, nets, device)
        made = []
        for seed in range(3):
            parts = {
                HEAD_NAMES[head]: HeadBatch(decisions(head, seed=seed, length=4), alpha=0.02, weight=0.5)
                for head in (DISCARD_HEAD, CHOW_HEAD)
            }
            made.append(step.make(parts))
        return [{f"{head}_{name}": own for head, found in each.items() for name, own in found.items()} for each in made]

    for found, wanted in zip(figures(GPU), figures(CPU), strict=True):
        assert found == pytest.approx(wanted, rel=0.05, abs=2e-3)


@pytest.mark.usefixtures("short_games")
def test_a_self_play_run_on_a_gpu_ends_and_leaves_other_weights(tmp_path: Path) -> None:
    engine = InferenceEngineConfig(device="cuda")
    config = replace(SELF_PLAY, engine=engine, learner=replace(SELF_PLAY.learner, device="cuda"))
    metrics = new_trainer(tmp_path, config).run()
    assert metrics["updates"] == 12
    newest, begun = weights(tmp_path), weights(tmp_path / "start")
    assert any((newest[name] != begun[name]).any() for name in begun)
    assert all(np.isfinite(value).all() for value in newest.values())
