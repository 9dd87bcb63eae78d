"""The chart's README: what stands above the table of values is kept, the table comes from values.yaml.

``python -m tests.helm.chart_readme`` writes it anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.repository import REPOSITORY

CHART = REPOSITORY / "helm" / "suphx"
README = CHART / "README.md"
MARK = "<!-- Written by `make golden` from values.yaml: change that file. -->\n"
_LINE = re.compile(r"^(?P<indent> *)(?P<key>[\w-]+):(?: (?P<value>.*?))?(?:  # (?P<remark>.*))?$")


@dataclass(frozen=True, slots=True)
class Value:
    """One entry of values.yaml."""

    path: str
    """Keys from the top, joined by dots."""
    default: str
    """As it is written; empty for a group of entries."""
    remark: str
    """Its comment: the lines above it, or what stands behind it."""


def documented_values(text: str) -> Iterator[Value]:
    """Yield the entries of a values.yaml of two and more levels, indented by two spaces."""
    remarks: list[str] = []
    path: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            remarks.append(line.strip("# "))
        elif found := _LINE.match(line):
            path = [*path[: len(found["indent"]) // 2], found["key"]]
            yield Value(".".join(path), found["value"] or "", found["remark"] or " ".join(remarks))
            remarks = []
        else:
            remarks = []


def readme() -> str:
    """Return the README as it should be."""
    head = README.read_text(encoding="utf-8").partition(MARK)[0]
    values = documented_values((CHART / "values.yaml").read_text(encoding="utf-8"))
    rows = [
        f"| `{value.path}` | {_shown(value)} | {value.remark} |" for value in values if value.default or value.remark
    ]
    return head + MARK + "\n".join(["", "| value | default | |", "|---|---|---|", *rows, ""])


def _shown(value: Value) -> str:
    return f"`{value.default}`" if value.default else ""


if __name__ == "__main__":
    README.write_text(readme(), encoding="utf-8")
