from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from suphx.training.config import PlayoutConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.recipe.recipe import (
    AblationConfig,
    AgentComparisonConfig,
    EntropyStudyConfig,
    LearningCurveConfig,
    OracleDecayConfig,
    OracleDistillationConfig,
    OracleStageConfig,
    Recipe,
)
from suphx_pipelines.recipe.recipe_file import flatten, look_up, to_table, to_toml
from suphx_pipelines.runs.runner import Runner
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

ALL = sorted(path for path in RECIPES.rglob("*.toml") if not path.stem.startswith(("nightly", "doudizhu")))
"""Without a tournament (test_tournament.py) and another game (test_monte_carlo_pipeline.py)."""


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_shipped_recipe_loads_and_is_named_like_its_file(path: Path) -> None:
    assert load_recipe(path).name == path.stem


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_shipped_recipe_fits_the_pipeline_and_reads_back(path: Path, tmp_path: Path) -> None:
    recipe = load_recipe(path)
    assert Runner(recipe, pipeline_stages(recipe), runs=tmp_path, records=None, console=Console()).run_id.startswith(
        path.stem
    )
    resolved = tmp_path / "recipe.toml"
    resolved.write_text(to_toml(recipe))
    assert load_recipe(resolved) == recipe


@pytest.mark.parametrize("folder", [RECIPES, RECIPES / "paper"], ids=["laptop", "paper"])
def test_rl_1_is_rl_basic_with_another_reward(folder: Path) -> None:
    basic, first = (flatten(to_table(load_recipe(folder / f"{name}.toml"))) for name in ("rl_basic", "rl_1"))
    assert {key for key in basic if basic[key] != first[key]} == {"about", "name", "reinforcement.reward"}


@pytest.mark.parametrize("folder", [RECIPES, RECIPES / "paper"], ids=["laptop", "paper"])
def test_rl_2_is_rl_1_with_oracle_guiding_instead_of_plain_self_play(folder: Path) -> None:
    first, second = (load_recipe(folder / f"{name}.toml") for name in ("rl_1", "rl_2"))
    names = [{stage.name for stage in pipeline_stages(recipe)} for recipe in (first, second)]
    assert names[0] - names[1] == {"reinforcement"}
    assert names[1] - names[0] == {"oracle", "oracle_decay"}
    decay = second.oracle_decay
    updates = second.oracle.max_updates + decay.steps * decay.updates_per_step + decay.continued_updates
    assert updates == first.reinforcement.max_updates


def test_a_config_deep_inside_refuses_with_file_and_key() -> None:
    with pytest.raises(ValueError, match=r"laptop\.toml: supervised: batch_size is 1: use 2 to 65,536"):
        load_recipe(RECIPES / "laptop.toml", [("supervised.batch_size", "1")])
    with pytest.raises(ValueError, match=r"--set net\.size=huge: 'huge' is not one of 'tiny'"):
        load_recipe(RECIPES / "laptop.toml", [("net.size", "huge")])


def test_every_setting_of_the_recipe_reaches_a_stage() -> None:
    curve = LearningCurveConfig(games=(10,))
    ablation = AblationConfig(encoders=("suphx", "mini"))
    self_play = ReinforcementConfig(max_updates=1)
    study = EntropyStudyConfig(alphas=(0.0,))
    recipe = Recipe(
        name="all",
        learning_curve=curve,
        ablation=ablation,
        playouts=PlayoutConfig(num_decisions=1),
        reinforcement=self_play,
        entropy_study=study,
        oracle=OracleStageConfig(max_updates=1),
        oracle_decay=OracleDecayConfig(steps=1),
        oracle_distillation=OracleDistillationConfig(max_updates=1),
    )
    agents = replace(
        recipe, playouts=PlayoutConfig(), entropy_study=EntropyStudyConfig(),
        agent_comparison=AgentComparisonConfig(agents=("sl", "rl_1")),
    )  # fmt: skip
    initial = Recipe(name="all", initial_agent="runs/a/supervised")
    stages = [stage for each in (recipe, agents, initial) for stage in pipeline_stages(each)]
    used = {key.split(".")[0] for stage in stages if stage.name != "report" for key in stage.recipe_keys}
    settings = {each.name for each in fields(Recipe)} - {"game", "seed"}  # the game chooses the class
    settings -= set(Recipe(name="all").free_keys)
    assert used == settings


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"games": (100, 10)}, "use different numbers, ascending"),
        ({"games": (0,)}, "use 1 to 1,000,000,000"),
        ({"heads": ("chi",)}, "use one or more of discard, riichi, chow, pong, kong"),
        ({"heads": ()}, "use one or more of discard"),
    ],
)
def test_a_learning_curve_that_makes_no_sense_is_refused(fields: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearningCurveConfig(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"encoders": ("mini",)}, "name two or more different ones, or none"),
        ({"encoders": ("mini", "mini")}, "name two or more different ones, or none"),
        ({"heads": ("chi",)}, "use one or more of discard, riichi, chow, pong, kong"),
        ({"seeds": 0}, "seeds is 0: use 1 to 1,000"),
    ],
)
def test_an_ablation_that_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AblationConfig(**fields)


@pytest.mark.parametrize("alphas", [(0.1, 0.1), (-0.1,)])
def test_an_entropy_study_that_makes_no_sense_is_refused(alphas: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"alphas is \[.*use (0 to 10,000|different numbers)"):
        EntropyStudyConfig(alphas=alphas)


def test_an_entropy_study_ends_after_no_negative_number_of_updates() -> None:
    with pytest.raises(ValueError, match="max_updates is -1: use 0 to 1,000,000,000"):
        EntropyStudyConfig(max_updates=-1)


def test_a_batch_that_the_workers_cannot_share_is_refused_where_nets_learn_from_it() -> None:
    workers = [("data_parallel.num_workers", "3"), ("supervised.batch_size", "512")]
    told = r"supervised\.batch_size is 512: use a multiple of the 3 workers \(data_parallel\.num_workers\)"
    with pytest.raises(ValueError, match=told):
        load_recipe(RECIPES / "laptop.toml", workers)
    load_recipe(RECIPES / "laptop.toml", [*workers, ("supervised.batch_size", "510")])
    load_recipe(RECIPES / "laptop.toml", [*workers, ("initial_agent", '"runs/a/supervised"')])
    load_recipe(RECIPES / "reinforcement.toml", workers)


def test_every_free_key_is_a_key_of_the_recipe() -> None:
    recipe = Recipe(name="all")
    for key in recipe.free_keys:
        assert look_up(to_table(recipe), key) is not None, key


@pytest.mark.parametrize(
    ("name", "has_self_play"),
    [("laptop", False), ("supervised", False), ("rl_basic", True), ("agent_comparison", True)],
)
def test_a_recipe_says_whether_it_has_self_play(name: str, has_self_play: bool) -> None:
    assert load_recipe(RECIPES / f"{name}.toml").has_self_play == has_self_play
