from __future__ import annotations

import re

import pytest

from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import flatten, to_table
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from tests.suphx_pipelines.recipe.recipe_page import PAGE, page, tables


def test_the_committed_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make golden"


@pytest.mark.parametrize("recipe", [Recipe(name="any"), TournamentRecipe(name="any")])
def test_every_key_of_a_recipe_is_in_one_of_its_tables(recipe: Recipe | TournamentRecipe) -> None:
    listed = {f"{table.key}.{key}".removeprefix(".") for table in tables(recipe) for key in to_table(table.config)}
    assert flatten(to_table(recipe)).keys() <= listed


def test_a_line_says_default_type_and_meaning_and_whether_a_run_goes_on_when_the_key_is_changed() -> None:
    stream = page().partition("## stream\n")[2].partition("## ")[0].splitlines()
    (workers,) = [line for line in stream if line.startswith("| `num_workers` |")]
    assert workers.startswith("| `num_workers` | `1` | a whole number, 0 to 256 | ")
    assert workers.endswith(" **Free.** |")
    (chunk,) = [line for line in stream if line.startswith("| `chunk_kyokus` |")]
    assert "Free" not in chunk


def test_every_link_leads_to_a_table_of_the_page() -> None:
    links = re.findall(r"\]\(#([^)]+)\)", page())
    headings = re.findall(r"^## (.+)$", page(), flags=re.MULTILINE)
    anchors = [re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings]
    assert len(set(anchors)) == len(anchors)
    not_linked = {
        "the-top",
        "tournament-the-top",
        "recipe-of-a-tournament",
        "doudizhu-the-top",
        "recipe-of-another-game",
        "doudizhu-tournament-the-top",
        "recipe-of-a-tournament-of-another-game",
    }
    assert set(links) == set(anchors) - not_linked
