"""The programs of docs/environments.md run as they are."""

from __future__ import annotations

import re

import pytest

from tests.repository import REPOSITORY

PAGE = (REPOSITORY / "docs" / "environments.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS, ids=["PettingZoo", "gymnasium", "vector environment"])
def test_a_program_of_the_page_runs(program: str) -> None:
    names: dict[str, object] = {}
    exec(compile(program, "docs/environments.md", "exec"), names)
    infos = names.get("infos") or names["info"]
    assert isinstance(infos, dict)
    assert "placement" in infos
