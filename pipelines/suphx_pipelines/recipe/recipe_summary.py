"""What one has to know of a shipped recipe before running it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from suphx_pipelines.recipe.recipe_file import read_table
from suphx_pipelines.recipe.recipe_kind import Command, command_of
from suphx_pipelines.recipe.recipe_lookup import shipped_recipes


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeSummary:
    """A line of ``suphx recipes``."""

    name: str
    command: Command
    """``suphx run`` or ``suphx tournament``."""
    needs_records: bool
    minutes: int
    """On two idle cores; 0 = not measured."""
    about: str

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read."""
        return asdict(self)


def shipped_summaries() -> list[RecipeSummary]:
    """Return a summary of each shipped recipe: runs before tournaments, short before long."""
    found = []
    for name, path in shipped_recipes().items():
        table = read_table(path)
        found.append(
            RecipeSummary(
                name=name,
                command=command_of(table),
                needs_records=bool(table.get("needs_records", False)),
                minutes=int(table.get("minutes", 0)),
                about=str(table.get("about", "")),
            )
        )
    return sorted(found, key=lambda each: (each.command != "run", each.needs_records, each.minutes == 0, each.minutes))
