"""Which games the nets of a run have learned from."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.archive.store import KyokuStore, write_store
from suphx.training.config import SplitConfig
from suphx.training.head_data import game_hash, head_data
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_pipelines.review import TrainingGames, games_of_run, run_of_nets
from tests.games.riichi.builders.games import random_game

SPLIT = SplitConfig(validation_fraction=0.2, test_fraction=0.3)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run with twelve games."""
    folder = tmp_path / "runs" / "small-1"
    game = dataclasses.replace(random_game(0), kyokus=random_game(0).kyokus[:1])
    write_store((dataclasses.replace(game, id=f"game{number}") for number in range(12)), folder / "records" / "store")
    (folder / "recipe.toml").write_text(to_toml(Recipe(name="small", split=SPLIT)))
    return folder


def test_the_split_is_that_of_the_training(run: Path) -> None:
    games = games_of_run(run)
    store = KyokuStore(run / "records" / "store")
    split = head_data(store, 0, "mini", SPLIT, game="riichi").split
    ids = np.array(store.game_ids)[store.game_of_kyoku]
    assert games.learned == set(ids[split.train]) | set(ids[split.validation])
    assert games.test == set(ids[split.test]) == {each for each in ids.tolist() if game_hash(each) < 0.3}
    assert 2 <= len(games.test) <= 6
    assert [games.is_held_out(each) for each in (min(games.learned), min(games.test), "another game")] == [
        False,
        True,
        True,
    ]


def test_a_copy_of_a_learned_game_under_another_name_is_not_held_out(run: Path) -> None:
    games = games_of_run(run)
    write_json(run / "records" / "copies.json", {"one": min(games.learned), "two": min(games.test)})
    assert [games_of_run(run).is_held_out(name) for name in ("one", "two")] == [False, True]


def test_the_run_of_nets_is_the_folder_with_a_recipe(run: Path, tmp_path: Path) -> None:
    for nets in ("supervised", "reinforcement/start"):
        (run / nets).mkdir(parents=True)
        assert run_of_nets(run / nets) == run
    assert run_of_nets(tmp_path / "nets") is None


def test_self_play_from_random_weights_has_learned_from_no_game(tmp_path: Path) -> None:
    recipe = Recipe(name="zero", reinforcement=ReinforcementConfig(start="random", max_updates=1))
    (tmp_path / "recipe.toml").write_text(to_toml(recipe))
    assert games_of_run(tmp_path) == TrainingGames()


def test_a_run_whose_games_are_gone_says_so(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(to_toml(Recipe(name="small")))
    with pytest.raises(ValueError, match=r"store\.json is missing"):
        games_of_run(tmp_path)
