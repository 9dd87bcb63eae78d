from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing.spawn import spawn

from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.models.inference import compiled
from suphx.models.net_config import Compilation, NetConfig
from suphx.models.policy import PolicyNet
from suphx.training.supervised import supervised_loss
from suphx.training.worker_group import WorkerGroup

SIZE = 2
ROWS = 24

Work = Callable[[WorkerGroup, Path], None]


def in_two_processes(work: Work, folder: Path) -> None:
    spawn(_run, (work, folder), nprocs=SIZE)  # type: ignore[no-untyped-call]


def _run(rank: int, work: Work, folder: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=SIZE)
    work(WorkerGroup(rank=rank, size=SIZE), folder)
    dist.destroy_process_group()


def new_net(head: int = DISCARD_HEAD) -> PolicyNet:
    torch.manual_seed(4)
    net = PolicyNet(DECISIONS[head], 5, NetConfig(channels=8, num_blocks=2))
    for norm in (module for module in net.modules() if isinstance(module, nn.BatchNorm1d)):
        nn.init.normal_(norm.weight)  # the blocks start at zero, where most gradients vanish
    return net


def batch() -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(5)
    planes = (torch.rand(ROWS, 5, 34, generator=random) < 0.3).float()
    planes[: ROWS // 2] *= 2  # the halves differ, or each one's statistics would be those of all
    labels = torch.randint(34, (ROWS,), generator=random)
    return planes, labels, torch.ones(ROWS, 34, dtype=torch.uint8)


def learn(net: nn.Module, rows: slice) -> None:
    planes, labels, masks = (part[rows] for part in batch())
    net.train()
    torch.autograd.backward(supervised_loss(net(planes), labels, masks))


def learn_together(group: WorkerGroup, folder: Path, compilation: Compilation = "none") -> None:
    net = new_net()
    with torch.no_grad():
        next(net.parameters()).add_(group.rank)  # workers begin with the first one's weights whatever theirs are
    half = ROWS // SIZE
    part_by_part = compiled(net, compilation, torch.device("cpu"))
    learn(group.join(part_by_part), slice(group.rank * half, (group.rank + 1) * half))
    gradients = {name: parameter.grad for name, parameter in net.named_parameters()}
    torch.save({"gradients": gradients, "state": net.state_dict()}, folder / f"{group.rank}.pt")


def agree(group: WorkerGroup, folder: Path) -> None:
    assert group.from_first([group.rank + 0.5, 7.0]) == [0.5, 7.0]
    assert group.gather({"rank": group.rank}) == [{"rank": 0}, {"rank": 1}]


@pytest.mark.parametrize("compilation", ["none", pytest.param("default", marks=pytest.mark.slow)])
def test_two_workers_learn_what_one_learns_from_their_samples_together(
    tmp_path: Path, compilation: Compilation
) -> None:
    in_two_processes(partial(learn_together, compilation=compilation), tmp_path)
    one = new_net()
    learn(one, slice(None))
    for rank in range(SIZE):
        found: dict[str, Any] = torch.load(tmp_path / f"{rank}.pt")
        for name, parameter in one.named_parameters():
            torch.testing.assert_close(found["gradients"][name], parameter.grad, rtol=1e-4, atol=1e-6)
        for name, value in one.state_dict().items():
            torch.testing.assert_close(found["state"][name], value, rtol=1e-4, atol=1e-6)


def test_workers_agree(tmp_path: Path) -> None:
    in_two_processes(agree, tmp_path)
