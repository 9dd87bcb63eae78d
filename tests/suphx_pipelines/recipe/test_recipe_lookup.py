from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.recipe.recipe import load_recipe
from suphx_pipelines.recipe.recipe_file import read_table
from suphx_pipelines.recipe.recipe_lookup import find_recipe, shipped_folder, shipped_recipes
from tests.repository import RECIPES


@pytest.mark.parametrize("name", ["laptop", "pipelines/recipes/laptop.toml", "pipelines/recipes/laptop"])
def test_a_shipped_recipe_is_found_from_any_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_recipe(Path(name)) == RECIPES / "laptop.toml"
    assert load_recipe(Path(name)).name == "laptop"


def test_recipes_of_sub_folders_have_their_path_as_name() -> None:
    assert find_recipe(Path("paper/rl_1")) == RECIPES / "paper" / "rl_1.toml"
    assert set(shipped_recipes()) == {
        path.relative_to(RECIPES).with_suffix("").as_posix() for path in RECIPES.rglob("*.toml")
    }


@pytest.mark.parametrize("name", ["laptop", "laptop.toml", "./laptop.toml"])
def test_a_file_of_the_user_wins_over_a_shipped_recipe(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "laptop.toml").write_text('name = "mine"\n', encoding="utf-8")
    assert read_table(Path(name)) == {"name": "mine"}


@pytest.mark.parametrize("base", ["laptop", "laptop.toml", "other.toml", "other"])
def test_a_recipe_extends_by_name_or_by_a_path_relative_to_itself(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    (tmp_path / "other.toml").write_text('name = "other"\nseed = 7\n', encoding="utf-8")
    (tmp_path / "mine.toml").write_text(f'extends = "{base}"\nname = "mine"\n', encoding="utf-8")
    table = read_table(tmp_path / "mine.toml")
    assert (table["name"], table["seed"]) == ("mine", 7 if "other" in base else 1)


def test_a_recipe_can_have_the_name_of_the_one_that_it_extends(tmp_path: Path) -> None:
    mine = tmp_path / "laptop.toml"
    mine.write_text('extends = "laptop"\nname = "mine"\n', encoding="utf-8")
    table = read_table(mine)
    assert (table["name"], table["seed"]) == ("mine", 1)
    mine.write_text('extends = "./mine"\n', encoding="utf-8")
    mine.rename(tmp_path / "mine.toml")
    with pytest.raises(ValueError, match="it extends itself"):
        read_table(tmp_path / "mine.toml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("labtop", r"labtop: no such recipe: did you mean 'laptop'\? `suphx recipes` lists all"),
        ("paper/rl1", "did you mean 'paper/rl_1'"),
        ("pipelines/recipes/orcale.toml", "did you mean 'oracle'"),
        ("laptop.toml", r"laptop\.toml: no such file; to use the shipped recipe, write laptop"),
        ("./paper/rl_1.toml", "no such file; to use the shipped recipe, write paper/rl_1"),
        ("xyzzy", "xyzzy: no such recipe: use a TOML file, or one of ablation, "),
        ("minne.toml", r"did you mean 'mine\.toml'"),
        (".", r"\. is a folder"),
        ("", r"\. is a folder"),
    ],
)
def test_a_mistyped_name_is_an_error_with_the_closest_one(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('name = "mine"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        find_recipe(Path(name))


def test_the_checkout_is_where_recipes_are_taken_from_here() -> None:
    assert shipped_folder() == RECIPES
