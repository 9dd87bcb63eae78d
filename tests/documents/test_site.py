"""The documentation site: `make docs` checks its links; here is what Sphinx cannot know."""

from __future__ import annotations

import re

import suphx
from tests.repository import REPOSITORY

SITE = REPOSITORY / "docs" / "site"


def test_the_reference_has_every_public_name_once() -> None:
    text = (SITE / "reference.rst").read_text(encoding="utf-8")
    names = re.findall(r"^\.\. (?:auto\w+|py:data):: suphx\.(\w+)$", text, re.MULTILINE)
    assert sorted(names) == sorted(dir(suphx))
    values = re.findall(r"^\.\. py:data:: suphx\.(\w+)\n   :type: int\n   :value: (\d+)$", text, re.MULTILINE)
    assert values
    assert [(name, str(getattr(suphx, name))) for name, _ in values] == values
