"""Results of finished tasks on disk."""

from __future__ import annotations

from pathlib import Path

from suphx.evaluation.workers.kept_results import KeptResults


def test_what_is_written_counts_with_its_parts_and_without_reading_the_folder(tmp_path: Path) -> None:
    KeptResults(tmp_path).write("earlier", {"wins": 1})
    kept = KeptResults(tmp_path)
    assert (len(kept), kept.num_written) == (1, 0)
    kept.write("wall-1", {"wins": 2})
    kept.part("fresh").write("wall-1", {"wins": 3})
    assert kept.part("fresh").read("wall-1") == {"wins": 3}
    assert (len(kept), kept.num_written) == (3, 2)
    (tmp_path / "wall-1.json").unlink()
    assert (len(kept), kept.num_written) == (2, 2)
