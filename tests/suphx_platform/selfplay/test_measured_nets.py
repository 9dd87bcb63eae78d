from __future__ import annotations

from pathlib import Path
from typing import Any

from suphx.games.riichi.names import HEAD_NAMES
from suphx.models.net_config import checkpoint_name
from suphx_platform.selfplay.run_folder import MeasuredNets
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue

NETS = sorted(checkpoint_name(head) for head in HEAD_NAMES)


def write_nets(folder: Path, text: str) -> None:
    """Replace the nets, as a training does."""
    for name in NETS:
        partial = folder / f".{name}"
        partial.write_text(text)
        partial.replace(folder / name)


def entry(updates: int, difference: float, opponent: str = "start", policy: str = "argmax") -> dict[str, Any]:
    return {"updates": updates, "difference": difference, "opponent": opponent, "policy": policy}


def test_nets_are_stored_with_the_strength_that_their_match_measured_later(tmp_path: Path) -> None:
    folder = tmp_path / "reinforcement"
    (folder / "start").mkdir(parents=True)
    (folder / "state.safetensors").write_text("large")
    storage = Storage(StorageConfig(address=str(tmp_path / "storage"), keep_last=1, keep_best=1))
    with UploadQueue(storage) as uploads:

        def keep(number: int, nets: Path, score: float) -> None:
            uploads.save("run-1/reinforcement/best", nets, number=number, score=score)
            uploads.flush()

        measured = MeasuredNets(folder, keep)
        for updates in (10, 20, 30):
            write_nets(folder, f"nets {updates}")
            measured.note(updates)
        write_nets(folder, "newer nets")
        measured.add(entry(10, -0.1))
        measured.add(entry(20, -0.3, opponent="weak"))
        measured.add(entry(20, -0.3))
        measured.add(entry(30, 0.2))
        measured.add(entry(30, 0.2, policy="sampled"))
    versions = storage.versions("run-1/reinforcement/best")
    assert [(version.number, version.score, sorted(version.files)) for version in versions] == [
        (20, 0.3, NETS),
        (30, -0.2, NETS),
    ]
    storage.load(versions[0], tmp_path / "best")
    assert {path.read_text() for path in (tmp_path / "best").iterdir()} == {"nets 20"}


def test_copies_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    write_nets(tmp_path, "nets")
    calls: list[int] = []
    MeasuredNets(tmp_path, lambda number, nets, score: calls.append(number)).note(5)
    again = MeasuredNets(tmp_path, lambda number, nets, score: calls.append(number))
    again.add(entry(5, -0.1))
    assert calls == []
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_copies_whose_matches_were_lost_are_removed(tmp_path: Path) -> None:
    write_nets(tmp_path, "nets")
    measured = MeasuredNets(tmp_path, lambda number, nets, score: None)
    for updates in (5, 10):
        measured.note(updates)
    measured.keep_only([10])
    assert [path.name for path in (tmp_path / ".measured").iterdir()] == ["10"]
