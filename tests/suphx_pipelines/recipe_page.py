"""docs/recipe.md: every key of a recipe, from the dataclasses and the docs that stand under their fields.

``python -m tests.suphx_pipelines.recipe_page`` writes it anew.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from suphx_pipelines.recipe import Recipe
from suphx_pipelines.recipe_file import to_plain, type_name
from suphx_pipelines.tournament_recipe import TournamentRecipe

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipe.md"
_HEAD = """\
# Recipe

Written by `make golden` from the dataclasses in the code; do not edit.

Every key that a recipe, `--set KEY=VALUE` (with the names of its tables before it: `--set net.size=small`) and
`recipe.toml` in a run's folder take. A recipe that is made from another one begins with `extends = "other.toml"` and
says only what is different. **Free** keys say how a run is carried out: they are no part of its id, and it goes on
when they are changed.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """One table of a recipe."""

    key: str
    """Names of the tables from the top, joined by dots; empty at the top."""
    config: Any
    """Its dataclass with all defaults."""


def tables(config: Any, key: str = "") -> Iterator[Table]:
    """Yield a config and all configs in it, each before those that it holds."""
    yield Table(key, config)
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from tables(value, f"{key}.{field.name}".removeprefix("."))


def field_docs(cls: type[Any]) -> dict[str, str]:
    """Return the strings that stand under the fields of a class, each as one line."""
    (body,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(body, ast.ClassDef)
    docs = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        match field, below:
            case (ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text)))):
                docs[name] = " ".join(text.split())
    return docs


def page() -> str:
    """Return the whole page."""
    run, tournament = Recipe(name="-"), TournamentRecipe(name="-")
    return "\n".join(
        [
            _HEAD,
            *(_section(table, run.free_keys) for table in tables(run)),
            "# Recipe of a tournament\n\nWhat `suphx tournament` takes.\n",
            *(_section(table, tournament.free_keys, "Tournament: ") for table in tables(tournament)),
        ]
    )


def _section(table: Table, free_keys: Sequence[str], kind: str = "") -> str:
    cls = type(table.config)
    hints, docs = typing.get_type_hints(cls), field_docs(cls)
    rows = []
    for field in dataclasses.fields(cls):
        key = f"{table.key}.{field.name}".removeprefix(".")
        is_free = any(key == free or key.startswith(f"{free}.") for free in free_keys)
        remark = docs[field.name] + (" **Free.**" if is_free else "")
        takes = type_name(hints[field.name])
        if dataclasses.is_dataclass(getattr(table.config, field.name)):
            takes = f"[table](#{_anchor(kind + key)})"
        cells = [f"`{field.name}`", _default(table.config, field), takes, remark]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    title = f"## {kind}{table.key}" if table.key else f"## {kind}The top"
    summary = " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())
    return "\n".join([title, "", summary, "", "| key | default | takes | |", "|---|---|---|---|", *rows, ""])


def _anchor(title: str) -> str:
    """Return what a heading is called in a link, as GitHub makes it."""
    return "".join(sign for sign in title.lower().replace(" ", "-") if sign.isalnum() or sign in "-_")


def _default(config: Any, field: dataclasses.Field[Any]) -> str:
    value = getattr(config, field.name)
    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
        return "must be given"
    return "" if dataclasses.is_dataclass(value) else f"`{json.dumps(to_plain(value), ensure_ascii=False)}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
