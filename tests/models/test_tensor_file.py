from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save, save_file

from suphx.models.tensor_file import read_header, read_tensors, write_tensors


def test_tensors_and_header_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    tensors = {"w": torch.rand(3, 4), "n": torch.tensor(7), "t": torch.rand(3, 4).T, "b": torch.rand(2).bfloat16()}
    tensors |= {
        "one": torch.ones(1).expand(1, 1),
        "none": torch.zeros(0, 3, dtype=torch.int16),
        "s": torch.as_strided(torch.ones(1), (1,), (0,)),
    }
    write_tensors(path, tensors, {"loss": 0.1, "list": [1, None, "ü"]})
    read, header = read_tensors(path)
    assert header == read_header(path) == {"loss": 0.1, "list": [1, None, "ü"]}
    assert set(read) == set(tensors)
    assert all(torch.equal(read[name], tensor) for name, tensor in tensors.items())


def with_length(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


OTHER_TYPE = with_length(b'{"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}}') + bytes(2)
HUGE = {"__metadata__": {"suphx": "{}"}, "w": {"dtype": "F32", "shape": [0, 2**63], "data_offsets": [0, 0]}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"\xff" * 100,
        OTHER_TYPE,
        with_length(json.dumps(HUGE).encode()),
        save({"w": torch.rand(9)})[:-5],
    ],
    ids=["empty", "garbage", "bits", "another type", "beyond 64 bits", "truncated"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.safetensors"
    with pytest.raises(FileNotFoundError, match=r"there is no file .*a\.safetensors"):
        read_tensors(path)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged or no safetensors file"):
        read_tensors(path)
    save_file({"w": torch.rand(2)}, path)
    with pytest.raises(ValueError, match="not written by this project"):
        read_tensors(path)


def test_a_header_with_nan_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        write_tensors(tmp_path / "a.safetensors", {}, {"loss": float("nan")})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("header", ["{", "[1]", "[" * 5000])
def test_a_damaged_header_is_refused_with_the_name_of_the_file(tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.safetensors"
    save_file({"w": torch.rand(2)}, path, {"suphx": header})
    with pytest.raises(ValueError, match=r"a\.safetensors has a damaged header"):
        read_header(path)


def test_a_changed_number_is_noticed_and_files_of_earlier_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    write_tensors(path, {"w": torch.zeros(100)}, {"a": 1})
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert read_header(path) == {"a": 1}
    with pytest.raises(ValueError, match=r"a\.safetensors is damaged \(its tensors have another SHA-256\)"):
        read_tensors(path)
    save_file({"w": torch.ones(2)}, path, {"suphx": "{}"})
    assert read_tensors(path)[0]["w"].sum() == 2


REPLACER = """
import itertools, os, shutil, sys, time
path, *others = sys.argv[1:]
for other in itertools.cycle(others):
    shutil.copyfile(other, path + ".new")
    os.replace(path + ".new", path)
    time.sleep(0.001)
"""


def test_a_file_that_is_replaced_meanwhile_is_read_whole(tmp_path: Path) -> None:
    path, *others = (tmp_path / name for name in ("a", "b", "c"))
    for number, other in enumerate(others):
        write_tensors(other, {"w": torch.full((100,), float(number))}, {"number": number})
    write_tensors(path, {"w": torch.zeros(100)}, {"number": 0})
    replacer = subprocess.Popen([sys.executable, "-c", REPLACER, str(path), *map(str, others)])
    try:
        found = [read_tensors(path) for _ in range(3000)]
    finally:
        replacer.kill()
        replacer.wait()
    numbers = [header["number"] for _, header in found]
    assert min(numbers.count(0), numbers.count(1)) > 10
    assert all((tensors["w"] == header["number"]).all() for tensors, header in found)


def test_equal_tensors_and_headers_give_equal_files(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.safetensors" for number in range(8)]
    for file in files:
        write_tensors(file, {"w": torch.ones(3)}, {"a": 1, "b": [2]})
    assert len({file.read_bytes() for file in files}) == 1
