"""Named tensors and a JSON header in one safetensors file: never pickle, never half-written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from suphx.atomic_file import write_atomically
from suphx.json_text import parse_json

_HEADER_KEY = "suphx"
_DIGEST_KEY = "tensors_sha256"
"""Key of the stored header; absent in files of earlier versions."""
_ATTEMPTS = 10
"""To read a file while a training replaces it."""

Header = dict[str, Any]  # what JSON can hold


def write_tensors(path: Path, tensors: dict[str, Tensor], header: Header) -> None:
    """Write ``tensors`` and ``header`` as the safetensors file ``path``, whole or not at all.

    Raises OSError with a remedy (see atomic_file.py), ValueError if ``header`` holds NaN or infinity.
    """
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One key of metadata: safetensors writes several in random order, and equal nets must give equal files.
    metadata = {_HEADER_KEY: json.dumps({**header, _DIGEST_KEY: tensors_digest(on_cpu)}, allow_nan=False)}
    write_atomically(path, [save(on_cpu, metadata)])


def read_header(path: Path) -> Header:
    """Return the header of a file of ``write_tensors`` without reading its tensors; raises as ``read_tensors``."""
    return _read(path, with_tensors=False)[1]


def read_tensors(path: Path) -> tuple[dict[str, Tensor], Header]:
    """Return the tensors (on the CPU) and the header of a file of ``write_tensors``.

    A file that is replaced meanwhile, as that of a training, is read again: safetensors opens it twice, once for the
    header and once for the tensors. Raises FileNotFoundError if there is none, ValueError if it is damaged or was not
    written by this project.
    """
    for _ in range(_ATTEMPTS):
        before = _identity(path)
        try:
            content = _read(path, with_tensors=True)
        except ValueError:
            if _identity(path) == before:
                raise
        else:
            if _identity(path) == before:
                return content
    return _read(path, with_tensors=True)


def _identity(path: Path) -> tuple[int, int, int] | None:
    """Return what differs between a file and the one that replaces it; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _read(path: Path, *, with_tensors: bool) -> tuple[dict[str, Tensor], Header]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}: check the name, or train first")
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            names = file.keys() if with_tensors else ()
            tensors = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, TypeError) as error:  # TypeError: a shape beyond 64 bits
        raise ValueError(f"{path} is damaged or no safetensors file ({error}): restore it or train again") from error
    if _HEADER_KEY not in metadata:
        raise ValueError(f"{path} has no {_HEADER_KEY!r} header: it was not written by this project")
    header = _header(path, metadata[_HEADER_KEY])
    digest = header.pop(_DIGEST_KEY, None)
    if with_tensors and digest is not None and digest != tensors_digest(tensors):
        raise ValueError(f"{path} is damaged (its tensors have another SHA-256): restore it or train again")
    return tensors, header


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


def _header(path: Path, text: str) -> Header:
    try:
        header = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path} has a damaged header ({error}): restore it or train again") from error
    if not isinstance(header, dict):
        raise ValueError(f"{path} has a damaged header (no object): restore it or train again")
    return header
