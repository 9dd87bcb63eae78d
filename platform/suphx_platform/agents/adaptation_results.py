"""The results of finished hands in a file, so that a long experiment can be stopped and continued.

The first line says which experiment it is and by what code the first hands were played, each other line the number of
its first hand and the results of a few hands.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from suphx.training.adaptation.adaptation_trial import TrialResults

_logger = logging.getLogger(__name__)


class KeptResults:
    """Consumes: results of hands. Produces: lines of a file. Waits for: the disk."""

    def __init__(self, path: Path, experiment: Mapping[str, object], code: str) -> None:
        """Read the results that ``path`` has, or begin a new file; a last line that was cut off by a kill is dropped.

        ``code``: digest of what plays the hands; a warning says if the file has hands of other code. ValueError if the
        file is damaged or of another ``experiment`` (JSON values).
        """
        self._path = path
        self._parts: list[TrialResults] = []
        head = {"experiment": json.loads(json.dumps(experiment)), _CODE: code}
        text = path.read_text("utf-8", errors="replace") if path.is_file() else ""  # no text is no first line of ours
        whole = text[: text.rfind("\n") + 1]
        if (json.dumps(head) + "\n").startswith(text):  # nothing yet, or a first line that was cut off
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(head) + "\n", "utf-8")
            return
        first, *lines = whole.splitlines() or [""]
        self._check(first, head, is_empty=not lines)
        if not lines:
            path.write_text(json.dumps(head) + "\n", "utf-8")
            return
        for number, line in enumerate(lines, start=2):
            self._parts.append(self._parsed(line, number))
        if whole != text:
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)

    @property
    def num_hands(self) -> int:
        """Hands of which there are results."""
        return sum(len(part.base_points) for part in self._parts)

    @property
    def results(self) -> TrialResults:
        """Those of all hands, at least one."""
        return TrialResults.join(self._parts)

    def add(self, part: TrialResults) -> None:
        """Write the results of the next hands; they are in the file when this returns."""
        columns = {name: column.tolist() for name, column in asdict(part).items()}
        line = json.dumps({_FIRST_HAND: self.num_hands, **columns})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._parts.append(part)

    def _check(self, line: str, head: Mapping[str, object], *, is_empty: bool) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or "experiment" not in found:
            raise ValueError(f"{self._path} is not a file of `suphx adapt --results`: use another name")
        if is_empty:
            return
        if found["experiment"] != head["experiment"]:
            differs = _differences(found["experiment"], head["experiment"])
            raise ValueError(f"{self._path} has results of another experiment ({differs}): use another file")
        if found.get(_CODE, head[_CODE]) != head[_CODE]:  # earlier versions did not write it
            text = "%s has hands that were played by other code: if it plays differently now, use another file"
            _logger.warning(text, self._path)

    def _parsed(self, line: str, number: int) -> TrialResults:
        try:
            values = json.loads(line)
            first = values.pop(_FIRST_HAND)
            columns = {name: np.array(column, np.float64) for name, column in values.items()}
            part = TrialResults(**columns)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ValueError(
                f"{self._path}, line {number}, is damaged ({error}): delete this line and those after it"
            ) from error
        if len({column.shape for column in columns.values()}) != 1 or part.base_points.ndim != 1:
            raise ValueError(f"{self._path}, line {number}, is damaged: delete this line and those after it")
        if first != self.num_hands:
            raise ValueError(
                f"{self._path}, line {number}, has the results of hand {first} instead of hand {self.num_hands}: two "
                "commands wrote into it at the same time; delete this line and those after it"
            )
        return part


_FIRST_HAND, _CODE = "first_hand", "code"


def _differences(found: object, wanted: object, name: str = "") -> str:
    """Return which settings differ, as text."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        names = sorted(found.keys() | wanted.keys())
        parts = [_differences(found.get(key), wanted.get(key), f"{name}.{key}" if name else key) for key in names]
        return ", ".join(part for part in parts if part)
    return "" if found == wanted else f"{name}: {found} instead of {wanted}"
