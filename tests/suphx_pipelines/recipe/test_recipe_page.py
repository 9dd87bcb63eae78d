from __future__ import annotations

from tests.suphx_pipelines.recipe.recipe_page import PAGE, page


def test_the_committed_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make golden"
