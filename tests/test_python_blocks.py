"""Every Python block of the documents runs, those of a page one after another, with small settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repository import REPOSITORY
from tests.suphx_platform.parts.small_policy_set import save_random

SMALL = {
    "max_minutes=30": "games=2, max_rounds=1, evaluate_decks=1, threads=1",
    "num_deals=500": "num_deals=2",
    "adapt-64:": "adapt-8:",
    '"ukeire", "ukeire", "ukeire"])': '"ukeire", "ukeire", "ukeire"], 1)',
}
"""Text of a page -> what runs here: days and minutes become seconds."""


def blocks(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


PAGES = sorted(path for path in (*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")) if blocks(path))


def test_the_small_settings_are_those_of_the_pages() -> None:
    text = "".join(block for page in PAGES for block in blocks(page))
    assert [setting for setting in SMALL if setting not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_random(tmp_path / "runs" / "RUN" / "supervised")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, block in enumerate(blocks(page), 1):
        for setting, small in SMALL.items():
            block = block.replace(setting, small)
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
