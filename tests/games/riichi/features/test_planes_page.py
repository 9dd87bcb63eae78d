from __future__ import annotations

from pathlib import Path

from suphx.games.mahjong.planes import layout
from tests.games.riichi.features.planes_page import main, markdown
from tests.repository import REPOSITORY


def test_the_committed_page_is_current(tmp_path: Path) -> None:
    written = tmp_path / "features.md"
    main([str(written)])
    committed = (REPOSITORY / "docs" / "features.md").read_text(encoding="utf-8")
    assert written.read_text(encoding="utf-8") == committed, "run python -m tests.games.riichi.features.planes_page"
    assert [path.name for path in tmp_path.iterdir()] == ["features.md"]


def test_a_table_names_single_planes_and_ranges() -> None:
    text = markdown(layout("small", 2, [("hand", 4, "own tiles"), ("wind", 1, "own wind")]))
    assert "small, version 2: 5 planes, 22 bytes packed" in text
    assert "| 0-3 | 4 | hand | own tiles |" in text
    assert "| 4 | 1 | wind | own wind |" in text


def test_a_table_that_begins_as_another_lists_only_the_rest() -> None:
    public = [("hand", (2, 2), "own tiles")]
    text = markdown(layout("claim", 1, [*public, ("tile", 1, "the tile")]), layout("small", 1, public))
    assert "The 4 planes of small, then:" in text
    assert "| 4 | 1 | tile | the tile |" in text
    assert "own tiles" not in text
    assert "| 0-3 | 2 x 2 | hand | own tiles |" in markdown(layout("small", 1, public))
