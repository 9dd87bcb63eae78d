"""Mutants: wrong lines that a test must find. mutants.toml lists them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("mutants.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one file."""

    fault: str
    """What is wrong with the changed code, in a few words."""
    file: str
    """Path in the repository."""
    code: str
    """Text that occurs once in the file."""
    changed: str
    """What replaces it."""
    test: str
    """The test that must fail, as pytest names it."""

    def apply(self, root: Path) -> str:
        """Change the file below ``root`` and return its former text; ValueError unless it has the code once."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.code) != 1:
            raise ValueError(
                f"{self.file} has {self.code.strip()!r} {text.count(self.code)} times: update the mutant "
                f"{self.fault!r} in {FILE.name}"
            )
        path.write_text(text.replace(self.code, self.changed), encoding="utf-8")
        return text


def load_mutants() -> list[Mutant]:
    """Return all mutants in the order of the file."""
    return [Mutant(**entry) for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["mutant"]]
