"""Every code block of the documents belongs to a test: no block is passed over because nobody has classified it.

Blocks without a language are commands (test_shell_blocks.py, test_first_hour.py), ``python`` is Python
(test_python_blocks.py), and ``text`` is what nobody can run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.code_blocks import PYTHON, SHELL, TEXT, CodeBlock, code_blocks, pages

PAGES = {name: path for name, path in pages().items() if code_blocks(path)}


def places(page: str, blocks: list[CodeBlock]) -> list[str]:
    return [f"{page}:{block.line}" for block in blocks]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_has_a_language_that_a_test_reads(page: str) -> None:
    unknown = [block for block in code_blocks(PAGES[page]) if block.language not in (SHELL, PYTHON, TEXT)]
    assert places(page, unknown) == [], f"use no language for commands, {PYTHON}, or {TEXT} for what is not code"


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("```\nsuphx run\n```\n", [SHELL]),
        ("- item\n\n  ~~~~ python\n  x = 1\n  ~~~~\n", [PYTHON]),
        ("````text\n```\ninside\n```\n````\n```python\n```\n", [TEXT, PYTHON]),
    ],
)
def test_fences_of_all_kinds_are_found(text: str, languages: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert [block.language for block in code_blocks(page)] == languages
