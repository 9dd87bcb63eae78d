"""Measure how long a page takes to load in Chromium: ``python -m tests.page_load PAGE.html``.

Prints milliseconds from the start of the navigation, median and largest of several loads in one browser.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from tests.browser import Browser

_TIMES = """(() => {
  const load = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return load.loadEventEnd > 0 && paint ? [load.loadEventEnd, paint.startTime] : null;
})()"""


class LoadTime(NamedTuple):
    """Of one load, in milliseconds."""

    loaded: float
    """The scripts have drawn the page."""
    painted: float
    """Something is on the screen."""


def measure(page: Path, loads: int) -> list[LoadTime]:
    """Return the times of several loads; FileNotFoundError without Chromium or page."""
    if not page.is_file():
        raise FileNotFoundError(f"{page} does not exist: give an HTML file, such as one of suphx view --out")
    found = []
    with Browser() as browser:
        for _ in range(loads):
            tab = browser.open(page.resolve().as_uri())
            found.append(LoadTime(*tab.wait(_TIMES)))
    return found


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.page_load", description="Measure the load of an HTML page.")
    parser.add_argument("page", type=Path, help="an HTML file, such as one of suphx view --out")
    parser.add_argument("--loads", type=int, default=9, help="how often (default: %(default)s)")
    given = parser.parse_args()
    try:
        times = measure(given.page, given.loads)
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    result = {"bytes": given.page.stat().st_size, "loads": given.loads}
    for name, values in zip(LoadTime._fields, zip(*times, strict=True), strict=True):
        result |= {f"{name}_ms": round(statistics.median(values)), f"{name}_ms_largest": round(max(values))}
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
