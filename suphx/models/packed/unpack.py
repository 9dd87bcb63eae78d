"""Bit-packed planes become a tensor, on the device that the net runs on.

Rows travel and are stored as bits (838 planes x 34 columns = 3.6 kB); as floats they would be 32 times larger.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from suphx.games.riichi import NUM_COLUMNS, observation_bytes


def unpack_observations(rows: Tensor, num_planes: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return packed planes as zeros and ones, on the device of ``rows``.

    ``rows``: uint8 [n, observation_bytes(num_planes)] as features/layout/planes.py packs them; the spare bits at the
    end are ignored. Returns ``dtype`` [n, num_planes, 34]. Raises ValueError for another dtype or shape.
    """
    check_observations(rows, num_planes)
    num_rows, num_bytes = rows.shape
    if rows.is_cuda or torch.compiler.is_compiling():  # compiled: one kernel, with the arrangement of the first layer
        bits = (rows.unsqueeze(2) >> torch.arange(8, dtype=torch.uint8, device=rows.device)) & 1
        bits = bits.view(num_rows, 8 * num_bytes)
    else:
        # One look-up writes the eight bits of a byte as one 8-byte word: 4 times as fast as shift-and-mask on a CPU.
        words = _bits_of_bytes().index_select(0, rows.reshape(-1).int())
        bits = words.view(num_rows, num_bytes).view(torch.uint8)
    return bits[:, : num_planes * NUM_COLUMNS].to(dtype).view(num_rows, num_planes, NUM_COLUMNS)


def check_observations(rows: Tensor, num_planes: int, num_bytes: int = 0) -> None:
    """Raise ValueError unless ``rows`` are packed rows of ``num_planes`` planes, or of ``num_bytes`` if given."""
    num_bytes = num_bytes or observation_bytes(num_planes)
    if rows.dtype != torch.uint8 or rows.ndim != 2 or rows.shape[1] != num_bytes:
        given = f"{str(rows.dtype).removeprefix('torch.')}{list(rows.shape)}"
        raise ValueError(f"rows of {num_planes} planes must be uint8[n, {num_bytes}], not {given}")


@cache
def _bits_of_bytes() -> Tensor:
    """Return int64[256]: the eight bits of each byte value, a byte of the word for each, the lowest bit first."""
    values = torch.arange(256, dtype=torch.uint8).unsqueeze(1)
    bits = (values >> torch.arange(8, dtype=torch.uint8)) & 1
    return bits.contiguous().view(torch.int64).view(256)
