from __future__ import annotations

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.layout.planes import observation_bytes
from suphx.models.packed.unpack import unpack_observations


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


def test_rows_that_are_a_slice_of_longer_rows_unpack_alike() -> None:
    rows = torch.randint(0, 256, (4, 2 * observation_bytes(3)), dtype=torch.uint8)
    part = rows[:, : observation_bytes(3)]
    assert torch.equal(unpack_observations(part, 3), unpack_observations(part.clone(), 3))


def test_no_rows_give_no_planes() -> None:
    assert unpack_observations(torch.zeros(0, observation_bytes(288), dtype=torch.uint8), 288).shape == (0, 288, 34)


def test_rows_of_another_layout_are_refused() -> None:
    with pytest.raises(ValueError, match=r"288 planes must be uint8\[n, 1224\], not uint8\[2, 1318\]"):
        unpack_observations(torch.zeros(2, observation_bytes(310), dtype=torch.uint8), 288)


@pytest.mark.gpu
def test_a_gpu_unpacks_like_the_cpu() -> None:
    rows = torch.randint(0, 256, (64, observation_bytes(838)), dtype=torch.uint8)
    assert torch.equal(unpack_observations(rows.cuda(), 838).cpu(), unpack_observations(rows, 838))
