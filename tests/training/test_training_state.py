from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from torch.optim import AdamW

from suphx.games.riichi.names import CHOW_HEAD, DECISIONS
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.models.tensor_file import read_tensors, write_tensors
from suphx.training.dataset import StreamPosition
from suphx.training.trainer import Clock, TrainingProgress
from suphx.training.training_state import load_training_state, save_training_state


def test_a_clock_adds_time_to_what_was_there_and_counts_laps() -> None:
    progress = TrainingProgress(samples=500, seconds=100.0, waited_seconds=7.0)
    clock = Clock(progress)
    with clock.waiting():
        progress.samples += 100
    clock.tick()
    assert 7 < progress.waited_seconds <= 7 + (progress.seconds - 100)
    samples_per_second, waiting_share = clock.lap()
    assert samples_per_second > 0
    assert 0 < waiting_share < 1
    assert clock.lap() == (0, 0)


RUN = {"head": "chow", "learning_rate": 0.1, "max_steps": 5}


def trained(seed: int) -> tuple[PolicyNet, AdamW]:
    torch.manual_seed(seed)
    net = PolicyNet(DECISIONS[CHOW_HEAD], 3, NetConfig(size="tiny"))
    optimizer = AdamW(net.parameters(), lr=0.01, fused=True)
    step(net, optimizer, seed)
    return net, optimizer


def step(net: PolicyNet, optimizer: AdamW, seed: int) -> None:
    planes = torch.rand(4, 3, 34, generator=torch.Generator().manual_seed(seed))
    optimizer.zero_grad()
    torch.autograd.backward(net(planes).square().mean())
    optimizer.step()


def test_a_loaded_state_steps_exactly_like_the_saved_one(tmp_path: Path) -> None:
    net, optimizer = trained(1)
    progress = TrainingProgress(step=1, positions=[StreamPosition(epoch=2, batch=3, epochs=2.1)], loss_sum=0.1)
    progress.history.append({"step": 1, "validation_loss": None})
    best = {name: weight.clone() for name, weight in net.state_dict().items()}
    save_training_state(tmp_path / "a", net, best, optimizer, progress, RUN)
    other, other_optimizer = trained(2)
    loaded, loaded_best = load_training_state(tmp_path / "a", other, other_optimizer, RUN)
    assert loaded == progress
    assert all(torch.equal(loaded_best[name], weight) for name, weight in best.items())
    step(net, optimizer, 7)
    step(other, other_optimizer, 7)
    assert all(torch.equal(weight, other.state_dict()[name]) for name, weight in net.state_dict().items())


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    net, optimizer = trained(1)
    write_tensors(tmp_path / "a", {}, {"kind": "checkpoint", "format_version": 1})
    with pytest.raises(ValueError, match="is not a training state of format 3"):
        load_training_state(tmp_path / "a", net, optimizer, RUN)


SOUND = asdict(TrainingProgress())


@pytest.mark.parametrize(
    "change",
    [
        {"run": 1},
        {"progress": []},
        {"progress": {}},
        {"progress": {"positions": [7]}},
        {"progress": SOUND | {"step": "7"}},
        {"progress": SOUND | {"step": True}},
        {"progress": SOUND | {"seconds": None}},
        {"progress": SOUND | {"best_loss": "low"}},
        {"progress": SOUND | {"history": {}}},
        {"progress": SOUND | {"history": [0.5]}},
    ],
)
def test_a_damaged_header_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    net, optimizer = trained(1)
    save_training_state(tmp_path / "a", net, {}, optimizer, TrainingProgress(), RUN)
    tensors, header = read_tensors(tmp_path / "a")
    write_tensors(tmp_path / "a", tensors, header | change)
    with pytest.raises(ValueError, match=r"damaged.*delete it to start over"):
        load_training_state(tmp_path / "a", net, optimizer, RUN)


@pytest.mark.parametrize(
    ("name", "new"),
    [("net.trunk.stem.conv.weight", "other.x"), ("net.trunk.stem.conv.weight", "net.x"), ("", "optimizer.{}.exp_avg")],
)
def test_tensors_of_another_net_are_refused(tmp_path: Path, name: str, new: str) -> None:
    net, optimizer = trained(1)
    save_training_state(tmp_path / "a", net, {}, optimizer, TrainingProgress(), RUN)
    tensors, header = read_tensors(tmp_path / "a")
    tensors.pop(name, None)
    tensors[new.format(next(iter(dict(net.named_parameters()))))] = torch.zeros(7)
    write_tensors(tmp_path / "a", tensors, header)
    with pytest.raises(ValueError, match=r"is damaged .*delete it to start over"):
        load_training_state(tmp_path / "a", net, optimizer, RUN)
