"""Every code block of the documents belongs to a test: no block is passed over because nobody has classified it.

Blocks without a language are commands (test_shell_blocks.py, test_first_hour.py), ``python`` is Python
(test_python_blocks.py), and ``text`` is what nobody can run.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.code_blocks import PYTHON, SHELL, TEXT, CodeBlock, code_blocks, pages

PROGRAMS = ("suphx", "make", "git", "python", "pip", "pytest", "kubectl", "helm", "terraform")
PAGES = {name: path for name, path in pages().items() if code_blocks(path)}


def places(page: str, blocks: list[CodeBlock]) -> list[str]:
    return [f"{page}:{block.line}" for block in blocks]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_has_a_language_that_a_test_reads(page: str) -> None:
    unknown = [block for block in code_blocks(PAGES[page]) if block.language not in (SHELL, PYTHON, TEXT)]
    assert places(page, unknown) == [], f"use no language for commands, {PYTHON}, or {TEXT} for what is not code"


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_belongs_to_a_block(page: str) -> None:
    lines = PAGES[page].read_text(encoding="utf-8").splitlines()
    fences = [line for line in lines if line.lstrip().startswith(("```", "~~~"))]
    assert len(fences) == 2 * len(code_blocks(PAGES[page]))


def is_code(text: str) -> bool:
    """Whether a block has Python that compiles, or a command."""
    try:
        ast.parse(text)
    except SyntaxError:
        return any(line.startswith(tuple(f"{program} " for program in PROGRAMS)) for line in text.splitlines())
    return True


@pytest.mark.parametrize("page", PAGES)
def test_code_is_not_hidden_as_text(page: str) -> None:
    hidden = [block for block in code_blocks(PAGES[page]) if block.language == TEXT and is_code(block.text)]
    assert places(page, hidden) == []


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_commands_have_no_python(page: str) -> None:
    """What compiles as Python and does more than name things is Python without its language."""
    shells = [block for block in code_blocks(PAGES[page]) if block.language == SHELL]
    assert places(page, [block for block in shells if is_python(block.text)]) == []


def is_python(text: str) -> bool:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return False
    return bool(body)


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
