from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn import functional

from suphx.games.mahjong.planes import observation_bytes
from suphx.kernel.jit import jit
from suphx.models.device import torch_threads
from suphx.models.packed import F32, TurnedWeights, add_block, convolve_packed, unpack_observations


@jit
def one_block(target: F32, at: int, source: F32, start: int) -> None:
    add_block(target, at, source, start)


@pytest.mark.parametrize("add", [add_block, one_block])
def test_a_block_is_added_and_nothing_else(add: Callable[[F32, int, F32, int], None]) -> None:
    target, source = np.arange(200, dtype=np.float32), np.arange(1000, 1200, dtype=np.float32)
    wanted = target.copy()
    wanted[7:39] += source[50:82]
    add(target, 7, source, 50)
    np.testing.assert_array_equal(target, wanted)


def packed(planes: torch.Tensor) -> torch.Tensor:
    bits = np.packbits(planes.flatten(1).bool().numpy(), axis=1, bitorder="little")
    return torch.from_numpy(bits)


def few_many_all_and_none(num_rows: int, num_planes: int) -> torch.Tensor:
    """Planes of every kind that is treated differently: each has its own share of ones."""
    shares = torch.tensor([0.0, 0.1, 0.5, 0.9, 1.0]).repeat(num_planes)[:num_planes]
    return (torch.rand(num_rows, num_planes, 34) < shares[:, None]).float()


def convolved(planes: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    if weight.ndim == 3:
        return functional.conv1d(planes, weight, padding=1).transpose(1, 2)
    grid = functional.pad(planes, (0, 2)).view(*planes.shape[:2], 4, 9)
    return functional.conv2d(grid, weight, padding=1).flatten(2).transpose(1, 2)


@pytest.mark.parametrize("taps", [(3,), (3, 3)])
@pytest.mark.parametrize("num_planes", [1, 4, 31])
@pytest.mark.parametrize("num_out", [1, 32, 70])
@pytest.mark.parametrize("num_rows", [0, 7, 130])
@pytest.mark.parametrize("threads", [1, 3])
def test_it_is_the_convolution_of_the_unpacked_planes(
    taps: tuple[int, ...], num_planes: int, num_out: int, num_rows: int, threads: int
) -> None:
    torch.manual_seed(2)
    planes = few_many_all_and_none(num_rows, num_planes)
    weight = torch.randn(num_out, num_planes, *taps, requires_grad=True)
    wanted = convolved(planes, weight)
    pull = torch.randn_like(wanted)
    (wanted_gradient,) = torch.autograd.grad(wanted, weight, pull)
    with torch_threads(threads):
        result = convolve_packed(packed(planes), weight)
        (gradient,) = torch.autograd.grad(result, weight, pull)
    torch.testing.assert_close(result, wanted, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(gradient, wanted_gradient, rtol=1e-4, atol=1e-3)  # sums of up to 4,420 numbers
    with torch.no_grad():
        assert torch.equal(convolve_packed(packed(planes), weight), result)


@pytest.mark.parametrize("taps", [(3,), (3, 3)])
def test_a_plane_may_have_any_number_of_columns(taps: tuple[int, ...]) -> None:
    planes = (torch.arange(34) < torch.arange(35)[:, None]).float()[None]
    weight = torch.randn(4, 35, *taps, requires_grad=True)
    wanted = convolved(planes, weight)
    result = convolve_packed(packed(planes), weight)
    torch.testing.assert_close(result, wanted, rtol=1e-4, atol=1e-4)
    pull = torch.randn_like(wanted)
    gradients = [torch.autograd.grad(columns, weight, pull)[0] for columns in (result, wanted)]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("taps", [(3,), (3, 3)])
def test_weights_that_are_turned_once_give_the_same(taps: tuple[int, ...]) -> None:
    torch.manual_seed(2)
    weight, rows = torch.randn(5, 7, *taps), packed(few_many_all_and_none(9, 7))
    turned = TurnedWeights(weight)
    for part in (rows, rows[:1], rows[:0]):
        assert torch.equal(turned.convolve(part), convolve_packed(part, weight))
    with pytest.raises(ValueError, match=r"7 planes must be uint8\[n, 30\], not uint8\[9, 29\]"):
        turned.convolve(rows[:, 1:])


@pytest.mark.parametrize("num_planes", [1, 4, 31, 310])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_bit_lands_on_its_plane_and_column(num_planes: int, dtype: torch.dtype) -> None:
    rows = np.random.default_rng(1).integers(0, 256, (3, observation_bytes(num_planes)), np.uint8)
    planes = unpack_observations(torch.from_numpy(rows), num_planes, dtype)
    assert planes.dtype == dtype
    expected = np.zeros(planes.shape, np.float32)
    for row, plane, column in np.ndindex(expected.shape):
        bit = plane * 34 + column
        expected[row, plane, column] = rows[row, bit // 8] >> (bit % 8) & 1
    assert np.array_equal(planes.float().numpy(), expected)
    with pytest.raises(ValueError, match=r"uint8\[n, 1224\], not uint8\[3,"):
        unpack_observations(torch.from_numpy(rows), 288)


@pytest.mark.gpu
def test_a_gpu_unpacks_like_the_cpu() -> None:
    rows = torch.randint(0, 256, (64, observation_bytes(838)), dtype=torch.uint8)
    assert torch.equal(unpack_observations(rows.cuda(), 838).cpu(), unpack_observations(rows, 838))
