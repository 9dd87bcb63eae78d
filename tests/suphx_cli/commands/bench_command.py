"""``suphx bench`` in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from suphx_cli import cli


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run ``suphx bench`` in this process and return its JSON."""
    assert cli.main(["bench", *arguments, "--json"]) == 0, capsys.readouterr().err
    values: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values
