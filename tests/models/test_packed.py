from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn import functional

from suphx.games.mahjong.planes import observation_bytes
from suphx.kernel.jit import jit
from suphx.models.device import torch_threads
from suphx.models.packed import F32, TurnedWeights, add_block, add_three_blocks, convolve_packed, unpack_observations


@jit
def one_block(target: F32, at: int, source: F32, start: int) -> None:
    add_block(target, at, source, start)


@jit
def three_blocks(target: F32, at: int, source: F32, start: int) -> None:
    add_three_blocks(target, at, source, start)


@pytest.mark.parametrize(
    ("add", "num_floats"), [(add_block, 32), (one_block, 32), (add_three_blocks, 96), (three_blocks, 96)]
)
def test_a_block_is_added_and_nothing_else(add: Callable[[F32, int, F32, int], None], num_floats: int) -> None:
    target, source = np.arange(200, dtype=np.float32), np.arange(1000, 1200, dtype=np.float32)
    wanted = target.copy()
    wanted[7 : 7 + num_floats] += source[50 : 50 + num_floats]
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
@pytest.mark.parametrize("num_rows", [7, 130])
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


def test_weights_that_do_not_learn_have_no_gradient() -> None:
    rows, weight = torch.full((3, observation_bytes(2)), 255, dtype=torch.uint8), torch.randn(4, 2, 3)
    with torch.no_grad():
        wanted = convolve_packed(rows, weight.requires_grad_())
    assert not wanted.requires_grad
    assert torch.equal(convolve_packed(rows, weight.detach()), wanted)


def test_no_rows_give_no_columns_and_no_gradient() -> None:
    weight = torch.randn(3, 5, 3, requires_grad=True)
    result = convolve_packed(torch.zeros(0, observation_bytes(5), dtype=torch.uint8), weight)
    assert result.shape == (0, 34, 3)
    (gradient,) = torch.autograd.grad(result.sum(), weight)
    assert torch.equal(gradient, torch.zeros(3, 5, 3))


def test_rows_of_another_layout_are_refused() -> None:
    with pytest.raises(ValueError, match=r"5 planes must be uint8\[n, 22\], not uint8\[2, 23\]"):
        convolve_packed(torch.zeros(2, 23, dtype=torch.uint8), torch.zeros(1, 5, 3))


@pytest.mark.parametrize("taps", [(3,), (3, 3)])
def test_weights_that_are_turned_once_give_the_same(taps: tuple[int, ...]) -> None:
    torch.manual_seed(2)
    weight, rows = torch.randn(5, 7, *taps), packed(few_many_all_and_none(9, 7))
    turned = TurnedWeights(weight)
    for part in (rows, rows[:1], rows[:0]):
        assert torch.equal(turned.convolve(part), convolve_packed(part, weight))
    with pytest.raises(ValueError, match="rows of 7 planes must be uint8"):
        turned.convolve(rows[:, 1:])


def slow_unpack(rows: np.ndarray, num_planes: int) -> np.ndarray:
    planes = np.zeros((len(rows), num_planes, 34), np.float32)
    for row, plane, column in np.ndindex(planes.shape):
        bit = plane * 34 + column
        planes[row, plane, column] = rows[row, bit // 8] >> (bit % 8) & 1
    return planes


@pytest.mark.parametrize("num_planes", [1, 4, 31, 310])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_bit_lands_on_its_plane_and_column(num_planes: int, dtype: torch.dtype) -> None:
    rows = np.random.default_rng(1).integers(0, 256, (3, observation_bytes(num_planes)), np.uint8)
    planes = unpack_observations(torch.from_numpy(rows), num_planes, dtype)
    assert planes.dtype == dtype
    assert np.array_equal(planes.float().numpy(), slow_unpack(rows, num_planes))


def test_unpacking_rows_of_another_layout_is_refused() -> None:
    with pytest.raises(ValueError, match=r"288 planes must be uint8\[n, 1224\], not uint8\[2, 1318\]"):
        unpack_observations(torch.zeros(2, observation_bytes(310), dtype=torch.uint8), 288)


@pytest.mark.gpu
def test_a_gpu_unpacks_like_the_cpu() -> None:
    rows = torch.randint(0, 256, (64, observation_bytes(838)), dtype=torch.uint8)
    assert torch.equal(unpack_observations(rows.cuda(), 838).cpu(), unpack_observations(rows, 838))
