"""The nets of checkpoints with numpy alone: one decision at a time, for programs that have no torch.

A net here is what ``suphx/models/policy.py`` describes in evaluation mode, with BatchNorm folded into the convolutions.
The arrays of several nets are one npz file of 16-bit numbers, ``NUMBER.NAME`` each. ``PlainNet`` and ``load_nets`` are
carried into programs (suphx/kernel/plain_source.py), and need no newer Python or numpy than those.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from suphx.games.mahjong.planes import PlaneLayout
from suphx.json_text import parse_json

_EPSILON = 1e-5  # of torch's BatchNorm
_COLUMNS, _CELLS = 34, (4, 9)

F32 = NDArray[np.float32]


class PlainNet:
    """The net of one kind of decision.

    >>> PlainNet(arrays)(row).shape
    (34,)
    """

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        """``arrays``: of ``folded_arrays``, of any float type."""
        self._arrays = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
        self._num_blocks = sum(name.endswith("first.weight") for name in arrays)

    def __call__(self, row: Any) -> F32:
        """Return the logits of a packed row, the bytes of its planes."""
        weight = self._arrays["trunk.stem.weight"]
        num_planes = weight.shape[3]
        bits = (np.asarray(row, np.uint8)[:, None] >> np.arange(8)) & 1
        planes = bits.reshape(-1)[: num_planes * _COLUMNS].reshape(num_planes, _COLUMNS).astype(np.float32)
        rows, columns = (1, _COLUMNS) if weight.shape[1] == 1 else _CELLS
        planes = np.pad(planes, ((0, 0), (0, rows * columns - _COLUMNS)), "constant")
        features = self._relu("trunk.stem", planes.reshape(num_planes, rows, columns))
        for i in range(self._num_blocks):
            inner = self._relu(f"trunk.blocks.{i}.first", features)
            features = self._relu(f"trunk.blocks.{i}.second", inner, features)
        if "output.hidden_1.weight" not in self._arrays:
            kinds = features.reshape(len(features), -1)[:, :_COLUMNS]
            return self._arrays["output.conv.weight"][:, :, 0].dot(kinds).reshape(-1)
        hidden = self._relu("output.conv", features).reshape(-1)
        for name in ("hidden_1", "hidden_2"):
            hidden = np.maximum(self._connect(name, hidden), 0)
        return self._connect("logits", hidden)

    def _relu(self, name: str, features: F32, added: Any = 0) -> F32:
        """Return a convolution of features [channels, rows, columns], what is added to it, and ReLU."""
        weight = self._arrays[name + ".weight"]
        high, wide = weight.shape[1] // 2, weight.shape[2] // 2
        _, rows, columns = features.shape
        padded = np.pad(features, ((0, 0), (high, high), (wide, wide)), "constant")
        shifted = [padded[:, i : i + rows, j : j + columns] for i in range(2 * high + 1) for j in range(2 * wide + 1)]
        patches = np.concatenate(shifted).reshape(-1, rows * columns)
        result = weight.reshape(len(weight), -1).dot(patches) + self._arrays[name + ".bias"][:, None]
        return np.maximum(result.reshape(-1, rows, columns) + added, 0)

    def _connect(self, name: str, values: F32) -> F32:
        return self._arrays["output." + name + ".weight"].dot(values) + self._arrays["output." + name + ".bias"]


def load_nets(data: bytes) -> list[PlainNet]:
    """Return the nets of ``pack_nets``, in their order."""
    found: dict[int, dict[str, Any]] = {}
    with np.load(io.BytesIO(data)) as arrays:
        for key in arrays.files:
            number, _, name = key.partition(".")
            found.setdefault(int(number), {})[name] = arrays[key]
    return [PlainNet(found[number]) for number in sorted(found)]


def pack_nets(paths: Sequence[Path], layouts: Sequence[PlaneLayout]) -> tuple[bytes, PlaneLayout]:
    """Return the nets of checkpoints as a file, and what all see, one of ``layouts``; else ValueError."""
    packed, seen = {}, layouts
    for number, path in enumerate(paths):
        arrays, layout = folded_arrays(path, seen)
        seen = (layout,)
        for name, array in arrays.items():
            packed[f"{number}.{name}"] = array.astype(np.float16)
    data = io.BytesIO()
    np.savez(data, **packed)  # type: ignore[arg-type]
    return data.getvalue(), layout


def folded_arrays(path: Path, layouts: Sequence[PlaneLayout]) -> tuple[dict[str, F32], PlaneLayout]:
    """Return the weights of a checkpoint: convolutions [out, high, wide, in] with biases, and fully connected layers.

    Also which of ``layouts`` its net sees; ValueError for none.
    """
    with safe_open(path, "numpy") as file:
        header = parse_json(file.metadata()["suphx"])
        arrays = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
    name, version = header["layout"]["name"], header["layout"]["version"]
    layout = next((each for each in layouts if (each.name, each.version) == (name, version)), None)
    if layout is None:
        shown = " or ".join(f"{each.name} version {each.version}" for each in layouts)
        raise ValueError(f"{path} sees {name} version {version}: a bot shows it {shown}")
    found = {name: array for name, array in arrays.items() if "conv." not in name and "norm." not in name}
    for name, weight in arrays.items():
        if name == "output.conv.weight":  # one logit a column
            found[name] = weight
        elif name.endswith(".conv.weight"):
            part = name.removesuffix(".conv.weight")
            scale, bias = np.ones(len(weight), np.float32), arrays.get(f"{part}.conv.bias")
            if f"{part}.norm.weight" in arrays:
                scale = arrays[f"{part}.norm.weight"] / np.sqrt(arrays[f"{part}.norm.running_var"] + _EPSILON)
                bias = arrays[f"{part}.norm.bias"] - scale * arrays[f"{part}.norm.running_mean"]
            assert bias is not None
            folded = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
            turned = folded[:, :, None] if folded.ndim == 3 else folded
            found |= {f"{part}.weight": turned.transpose(0, 2, 3, 1), f"{part}.bias": bias}
    return found, layout
