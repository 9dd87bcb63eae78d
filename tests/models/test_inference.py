from __future__ import annotations

import pytest
import torch
from torch import nn

from suphx.games.riichi.features.oracle import ORACLE
from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD
from suphx.models import inference
from suphx.models.inference import InferenceConfig, InferenceNet, PackedNet, plan_batches
from suphx.models.net_config import Grid, NetConfig
from suphx.models.policy import PolicyNet
from tests.models.random_nets import plain_logits, random_net, random_rows

CPU = torch.device("cpu")


@pytest.mark.parametrize("grid", ["34x1", "4x9"])
@pytest.mark.parametrize("head", [DISCARD_HEAD, CHOW_HEAD])
@pytest.mark.parametrize("batch_sizes", [(), (4, 16)])
@pytest.mark.parametrize("num_rows", [0, 3, 37, 600])
def test_it_answers_like_the_plain_net(grid: Grid, head: int, batch_sizes: tuple[int, ...], num_rows: int) -> None:
    torch.manual_seed(1)
    net, rows = random_net(head, grid=grid), random_rows(num_rows)
    config = InferenceConfig(precision="fp32", batch_sizes=batch_sizes)
    logits = InferenceNet(net, CPU, config)(rows)
    torch.testing.assert_close(logits, plain_logits(net, rows), rtol=1e-4, atol=1e-4)


def test_in_bfloat16_it_answers_nearly_like_the_plain_net() -> None:
    torch.manual_seed(1)
    net, rows = random_net(), random_rows(20)
    logits = InferenceNet(net, CPU, InferenceConfig(precision="bf16"))(rows)
    wanted = plain_logits(net, rows)
    assert logits.dtype == torch.float32
    torch.testing.assert_close(logits, wanted, rtol=0.05, atol=0.05 * float(wanted.abs().max()))


def test_new_weights_are_taken_without_a_new_net() -> None:
    torch.manual_seed(1)
    inference = InferenceNet(random_net(), CPU, InferenceConfig(precision="fp32", batch_sizes=(8,)))
    newer, rows = random_net(), random_rows(5)
    inference.use(inference.prepared(newer))
    torch.testing.assert_close(inference(rows), plain_logits(newer, rows), rtol=1e-4, atol=1e-4)


def test_the_net_that_it_was_made_from_stays_as_it_is() -> None:
    net = random_net().train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    InferenceNet(net, CPU, InferenceConfig(precision="bf16"))(random_rows(5))
    assert net.training
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert all(parameter.requires_grad for parameter in net.parameters())


def test_weights_and_rows_of_other_nets_are_refused() -> None:
    net = InferenceNet(random_net(), CPU)
    with pytest.raises(ValueError, match="other layers than the one before: make a new InferenceNet"):
        net.use(net.prepared(random_net(size=16)))
    for each in (net, PackedNet(random_net())):
        with pytest.raises(ValueError, match=r"9 planes must be uint8\[n, 39\], not uint8\[2, 43\]"):
            each(random_rows(2, 10))


@pytest.mark.parametrize(
    ("num_rows", "plan"),
    [
        (0, [8]),
        (1, [8]),
        (8, [8]),
        (9, [8, 8]),
        (20, [32]),
        (15, [8, 8]),
        (32, [32]),
        (33, [32, 8]),
        (60, [32, 32]),
        (100, [128]),
        (40, [32, 8]),
        (300, [128, 128, 32, 8, 8]),
    ],
)
def test_rows_are_cut_into_batch_sizes_that_waste_little(num_rows: int, plan: list[int]) -> None:
    assert plan_batches(num_rows, (8, 32, 128)) == plan


@pytest.mark.slow
def test_nothing_is_compiled_again_once_all_batch_sizes_are() -> None:
    config = InferenceConfig(precision="fp32", compilation="default", batch_sizes=(1, 2, 4, 8, 16))
    nets = [random_net(head) for head in (DISCARD_HEAD, CHOW_HEAD)]  # ten versions: more than torch allows by itself
    compiled = [InferenceNet(net, CPU, config) for net in nets]
    with torch.compiler.set_stance("fail_on_recompile"):
        for num_rows in (1, 3, 16, 37):
            for net, inference in zip(nets, compiled, strict=True):
                rows = random_rows(num_rows)
                torch.testing.assert_close(inference(rows), plain_logits(net, rows), rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("grid", ["34x1", "4x9"])
@pytest.mark.parametrize("compilation", ["none", "default"])
@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_a_gpu_answers_like_the_cpu(grid: Grid, compilation: str, precision: str) -> None:
    torch.manual_seed(1)
    net = random_net(num_planes=838, grid=grid)
    config = InferenceConfig(
        precision=precision,  # type: ignore[arg-type]
        compilation=compilation,  # type: ignore[arg-type]
        batch_sizes=(4, 16),
    )
    inference = InferenceNet(net, torch.device("cuda"), config)
    tolerance = 0.01 if precision == "fp32" else 0.05  # TF32 and bf16 both round the factors
    newer = random_net(num_planes=838, grid=grid)
    for num_rows in (37, 3, 16):
        rows = random_rows(num_rows, 838)
        wanted = plain_logits(net, rows)
        for given in (rows, rows.pin_memory(), rows.cuda()):
            close = tolerance * float(wanted.abs().max())
            torch.testing.assert_close(inference(given).cpu(), wanted, rtol=tolerance, atol=close)
    inference.use(inference.prepared(newer))
    wanted = plain_logits(newer, rows)
    close = tolerance * float(wanted.abs().max())
    torch.testing.assert_close(inference(rows).cpu(), wanted, rtol=tolerance, atol=close)


def irregular_net(head: int, num_oracle_planes: int = 0, grid: Grid = "34x1") -> PolicyNet:
    """Return a net in evaluation mode of which every weight and statistic matters."""
    torch.manual_seed(head)
    config = NetConfig(size="tiny", channels=8, num_oracle_planes=num_oracle_planes, grid=grid)
    net = PolicyNet(DECISIONS[head], 13, config)
    for module in net.modules():
        if isinstance(module, nn.BatchNorm1d):
            for tensor in (module.weight, module.bias, module.running_mean):
                assert tensor is not None
                nn.init.normal_(tensor)
            assert module.running_var is not None
            nn.init.uniform_(module.running_var, 0.5, 2)
    return net.eval()


@pytest.mark.parametrize("grid", ["34x1", "4x9"])
@pytest.mark.parametrize("num_oracle_planes", [0, ORACLE.num_planes])
@pytest.mark.parametrize("head", range(5))
@pytest.mark.parametrize("num_rows", [0, 7])
def test_it_gives_the_logits_of_the_net_part_by_part(
    head: int, num_oracle_planes: int, grid: Grid, num_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inference, "_MOST_ROWS", 3)
    net = irregular_net(head, num_oracle_planes, grid)
    rows = torch.randint(256, (num_rows, net.observation_bytes), dtype=torch.uint8)
    torch.testing.assert_close(PackedNet(net)(rows), net(rows).detach(), rtol=1e-4, atol=1e-4)
