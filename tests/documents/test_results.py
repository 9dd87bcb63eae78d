"""docs/results.md and docs/results.json are the same list, and each figure is on a page that claims it."""

from __future__ import annotations

import json
import re

import pytest

from tests.repository import REPOSITORY

RESULTS = json.loads((REPOSITORY / "docs" / "results.json").read_text(encoding="utf-8"))
PAGE = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
OTHERS = "\n".join(
    path.read_text(encoding="utf-8")
    for path in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    if path.name != "results.md"
)


def row(result: dict[str, str | None]) -> str:
    """Return the line of the page for an entry of the file."""
    command = "the same" if result["command"] == "the same" else f"`{result['command']}`"
    date = f"[{result['date']}](log/{result['log']}.md)" if result["log"] else result["date"]
    return f"| {result['claim']} | {result['figure']} | {result['interval']} | {command} | {date} |"


def test_the_page_has_the_rows_of_the_file() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    assert lines[1:] == [row(result) for result in RESULTS]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result["id"])
def test_every_figure_is_claimed_somewhere(result: dict[str, str]) -> None:
    number = re.findall(r"\d[\d.,]*", result["figure"])[0]
    assert number in OTHERS, f"no page claims {result['figure']}: {result['claim']}"
