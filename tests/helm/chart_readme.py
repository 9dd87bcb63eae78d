"""The documentation of the chart's values, in the conventions of helm-docs, from the comments of values.yaml.

A value is described by the comment above it that begins with ``# --``; ``# @default --`` replaces its default. The
table of the README and the descriptions in values.schema.json come from there: ``python -m tests.helm.chart_readme``
writes both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tests.repository import REPOSITORY

CHART = REPOSITORY / "helm" / "suphx"
README = CHART / "README.md"
SCHEMA = CHART / "values.schema.json"
MARK = "<!-- Written by `make golden` from values.yaml: change that file. -->\n"
_KEY = re.compile(r"^(?P<indent> *)(?P<key>[\w-]+):")
_TYPES = {str: "string", bool: "bool", int: "int", float: "float", dict: "object", list: "list"}


@dataclass(frozen=True, slots=True)
class Value:
    """A value with a description."""

    path: str
    """Keys from the top, joined by dots."""
    type: str
    default: str
    description: str


def documented_values(text: str) -> Iterator[Value]:
    """Yield the values of a values.yaml that have a description; keys are indented by two spaces."""
    values: Any = yaml.safe_load(text)
    path: list[str] = []
    description = default = ""
    for line in text.splitlines():
        comment = line.strip()
        if comment.startswith("# -- "):
            description = comment.removeprefix("# -- ")
        elif comment.startswith("# @default -- "):
            default = comment.removeprefix("# @default -- ")
        elif found := _KEY.match(line):
            path = [*path[: len(found["indent"]) // 2], found["key"]]
            if description:
                value = _at(values, path)
                shown = default or f"`{json.dumps(value, ensure_ascii=False)}`"
                yield Value(".".join(path), _TYPES[type(value)], shown, description)
            description = default = ""


def undocumented_values(text: str) -> Iterator[str]:
    """Yield the paths of values that neither have a description nor are below one that has."""
    described = [value.path for value in documented_values(text)]
    for path in _leaves(yaml.safe_load(text), ()):
        if not any(f"{path}.".startswith(f"{one}.") for one in described):
            yield path


def _leaves(values: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(values, Mapping) and values:
        for key, value in values.items():
            yield from _leaves(value, (*path, key))
    else:
        yield ".".join(path)


def _at(values: Any, path: list[str]) -> Any:
    for key in path:
        values = values[key]
    return values


def readme() -> str:
    """Return the README as it should be."""
    head = README.read_text(encoding="utf-8").partition(MARK)[0]
    values = documented_values((CHART / "values.yaml").read_text(encoding="utf-8"))
    rows = [f"| {value.path} | {value.type} | {value.default} | {value.description} |" for value in values]
    return head + MARK + "\n".join(["", "| Key | Type | Default | Description |", "|---|---|---|---|", *rows, ""])


def schema() -> str:
    """Return the schema as it should be: what values.yaml describes is described by the same words."""
    found: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for value in documented_values((CHART / "values.yaml").read_text(encoding="utf-8")):
        entry = found
        for key in value.path.split("."):
            entry = entry["properties"][key]
        entry["description"] = re.sub(r"\[([^]]+)\]\(#[^)]*\)", r"\1 in the README", value.description)
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def undescribed(entry: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the properties of a schema that have no description; a reference may have that of what it refers to."""
    for key, below in entry.get("properties", {}).items():
        if not below.get("description"):
            yield f"{path}.{key}"
        yield from undescribed(below, f"{path}.{key}")
    if "items" in entry:
        yield from undescribed(entry["items"], f"{path}[]")
    for name, definition in entry.get("$defs", {}).items():
        yield from undescribed(definition, f"$defs.{name}")


if __name__ == "__main__":
    README.write_text(readme(), encoding="utf-8")
    SCHEMA.write_text(schema(), encoding="utf-8")
