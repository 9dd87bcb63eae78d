"""Named tensors and a JSON header in one safetensors file: never pickle, never half-written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from suphx.atomic_file import write_atomically
from suphx.json_text import parse_json
from suphx.printable_text import shortened

_HEADER_KEY = "suphx"
_DIGEST_KEY = "tensors_sha256"
"""Key of the stored header; absent in files of earlier versions."""

Header = dict[str, Any]  # what JSON can hold


def write_tensors(path: Path, tensors: dict[str, Tensor], header: Header) -> None:
    """Write ``tensors`` and ``header`` as the safetensors file ``path``, whole or not at all. OSError with a remedy
    (atomic_file.py), ValueError if ``header`` holds NaN or infinity.
    """
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One key of metadata: safetensors writes several in random order, and equal nets must give equal files.
    metadata = {_HEADER_KEY: json.dumps({**header, _DIGEST_KEY: tensors_digest(on_cpu)}, allow_nan=False)}
    write_atomically(path, [save(on_cpu, metadata)])


def read_header(path: Path) -> Header:
    """Return the header of a file of ``write_tensors`` without reading its tensors; raises as ``read_tensors``."""
    with _told(path), safe_open(path, "pt") as file:
        metadata = file.metadata()
    header = _header(path, metadata)
    header.pop(_DIGEST_KEY, None)
    return header


def read_tensors(path: Path) -> tuple[dict[str, Tensor], Header]:
    """Return the tensors (on the CPU) and the header of a file of ``write_tensors``, which is read at once, as a
    training may replace it. FileNotFoundError if there is none, ValueError if it is damaged or of another program.
    """
    with _told(path):
        data = path.read_bytes()
        tensors = load(data)
        end = 8 + int.from_bytes(data[:8], "little")
        metadata = parse_json(data[8:end]).get("__metadata__")
    header = _header(path, metadata)
    digest = header.pop(_DIGEST_KEY, None)
    if digest is not None and digest != tensors_digest(tensors):
        raise ValueError(f"{path} is damaged (its tensors have another SHA-256): restore it or train again")
    return tensors, header


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Name a file that is missing or damaged in the error of the block."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}: check the name, or train first")
    try:
        yield
    except (SafetensorError, KeyError, TypeError, RuntimeError) as error:  # a type that torch has not, a huge shape
        raise ValueError(f"{path} is damaged or no safetensors file ({error}): restore it or train again") from error


def tensors_digest(tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 of names, types, shapes and bytes: games go on from numbers that no other check covers."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode("utf-8", "surrogatepass"))
        flat = tensor.contiguous().reshape(-1)
        if len(flat) < 2:  # the stride of one number may be 0
            flat = flat.clone(memory_format=torch.contiguous_format)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _header(path: Path, metadata: Mapping[str, str] | None) -> Header:
    if _HEADER_KEY not in (metadata or {}):
        raise ValueError(f"{path} has no {_HEADER_KEY!r} header: it was not written by this project")
    assert metadata is not None
    try:
        header = parse_json(metadata[_HEADER_KEY])
    except ValueError as error:
        raise ValueError(f"{path} has a damaged header ({error}): restore it or train again") from error
    if not isinstance(header, dict):
        raise ValueError(f"{path} has a damaged header (no object): restore it or train again")
    return header


def fields_of(path: Path, header: Header, kind: str, version: int) -> Header:
    """Return a header without its kind and format; ValueError if it is not of this ``kind`` and format ``version``."""
    if header.get("kind") != kind or header.get("format_version") != version:
        given = shortened(f"{header.get('kind')} of format {header.get('format_version')}", 80)
        raise ValueError(f"{path} is a {given}; this program reads a {kind} of format {version}: train again")
    return {key: value for key, value in header.items() if key not in ("kind", "format_version")}


def check_finite(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Raise ValueError if weights are not finite."""
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise ValueError(f"{path} has weights that are not finite numbers: restore it or train again")
