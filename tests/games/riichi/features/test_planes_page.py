from __future__ import annotations

from pathlib import Path

from tests.games.riichi.features.planes_page import main
from tests.repository import REPOSITORY


def test_the_committed_page_is_current(tmp_path: Path) -> None:
    written = tmp_path / "features.md"
    main([str(written)])
    committed = (REPOSITORY / "docs" / "features.md").read_text(encoding="utf-8")
    assert written.read_text(encoding="utf-8") == committed, "run python -m tests.games.riichi.features.planes_page"
    assert [path.name for path in tmp_path.iterdir()] == ["features.md"]
