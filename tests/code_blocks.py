"""The fenced code blocks of the documents, for the tests that run them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.repository import REPOSITORY

SHELL, PYTHON, TEXT = "", "python", "text"
"""Languages after the opening fence: commands for a shell, Python, and what is neither, such as drawings and files."""
_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=indent)(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


class CodeBlock(NamedTuple):
    """A block with the language that its fence names and the number of its first line."""

    language: str
    text: str
    line: int


def pages() -> dict[str, Path]:
    """Return all documents by their path in the repository."""
    paths = {str(path.relative_to(REPOSITORY)): path for path in sorted(REPOSITORY.rglob("*.md"))}
    return {name: path for name, path in paths.items() if not name.startswith(".")}


def code_blocks(path: Path) -> list[CodeBlock]:
    """Return the fenced blocks of a document, in their order."""
    page = path.read_text(encoding="utf-8")
    return [
        CodeBlock(found["language"].strip(), found["text"], page[: found.start()].count("\n") + 2)
        for found in _FENCE.finditer(page)
    ]


def texts(path: Path, language: str) -> list[str]:
    """Return the blocks of one language."""
    return [block.text for block in code_blocks(path) if block.language == language]
