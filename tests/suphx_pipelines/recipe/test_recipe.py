"""The classes of recipes: the shipped ones, values that are refused, their schema, page and command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import psutil
import pytest
from jsonschema import Draft7Validator

from suphx.evaluation.match_config import MatchConfig
from suphx.models.net_config import NetConfig
from suphx.training.config import PlayoutConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_cli import cli
from suphx_pipelines.pipeline import pipeline_stages
from suphx_pipelines.recipe import tournament_recipe
from suphx_pipelines.recipe.recipe import (
    AgentComparisonConfig,
    DeckMatchConfig,
    FanfouRecipe,
    MonteCarloRecipe,
    OracleDecayConfig,
    OracleDistillationConfig,
    OracleStageConfig,
    Recipe,
    RecordsConfig,
)
from suphx_pipelines.recipe.recipe_file import (
    flatten,
    load_config,
    look_up,
    read_toml,
    recipe_fields,
    to_table,
    to_toml,
)
from suphx_pipelines.recipe.recipe_kind import (
    Command,
    check_kind,
    check_memory,
    load_run_recipe,
    load_tournament_recipe,
)
from suphx_pipelines.recipe.recipe_schema import recipe_schema
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe, tonight
from suphx_pipelines.runs.runner import Runner
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.recipe_page import PAGE, page
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

ALL = sorted(path for path in RECIPES.rglob("*.toml") if path.stem not in ("nightly", "doudizhu_tournament"))
"""Without tournaments (test_tournament.py)."""
KINDS = (Recipe, MonteCarloRecipe, FanfouRecipe, TournamentRecipe)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_shipped_recipe_fits_the_pipeline_and_reads_back(path: Path, tmp_path: Path) -> None:
    recipe = load_run_recipe(path)
    assert recipe.name == path.stem
    runner = Runner(recipe, pipeline_stages(recipe), runs=tmp_path, records=None, console=Console())
    assert runner.run_id.startswith(path.stem)
    resolved = tmp_path / "recipe.toml"
    resolved.write_text(to_toml(recipe))
    assert load_run_recipe(resolved) == recipe
    plays = {stage.name for stage in pipeline_stages(recipe)} & {"reinforcement", "oracle", "agent_comparison/match"}
    assert not isinstance(recipe, Recipe) or recipe.has_self_play == bool(plays)
    assert [key for key in recipe.free_keys if look_up(to_table(recipe), key) is None] == []


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


def test_every_setting_of_the_recipe_reaches_a_stage() -> None:
    self_play = ReinforcementConfig(max_updates=1)
    recipe = Recipe(
        name="all",
        playouts=PlayoutConfig(num_decisions=1),
        reinforcement=self_play,
        oracle=OracleStageConfig(max_updates=1),
        oracle_decay=OracleDecayConfig(steps=1),
        oracle_distillation=OracleDistillationConfig(max_updates=1),
    )
    comparison = AgentComparisonConfig(agents=("sl", "rl_1"))
    agents = replace(recipe, playouts=PlayoutConfig(), agent_comparison=comparison)
    initial = Recipe(name="all", initial_agent="runs/a/supervised")
    stages = [stage for each in (recipe, agents, initial) for stage in pipeline_stages(each)]
    used = {key.split(".")[0] for stage in stages if stage.name != "report" for key in stage.recipe_keys}
    settings = {each.name for each in fields(Recipe)} - {"game", "seed"}  # the game chooses the class
    settings -= set(Recipe(name="all").free_keys)
    assert used == settings


def test_a_batch_that_the_workers_cannot_share_is_refused_where_nets_learn_from_it() -> None:
    workers = [("data_parallel.num_workers", "3"), ("supervised.batch_size", "512")]
    told = r"supervised\.batch_size is 512: use a multiple of the 3 workers \(data_parallel\.num_workers\)"
    with pytest.raises(ValueError, match=told):
        load_recipe(RECIPES / "laptop.toml", workers)
    load_recipe(RECIPES / "laptop.toml", [*workers, ("supervised.batch_size", "510")])
    load_recipe(RECIPES / "laptop.toml", [*workers, ("initial_agent", '"runs/a/supervised"')])
    load_recipe(RECIPES / "reinforcement.toml", workers)


@pytest.mark.parametrize(
    ("game", "settings", "message"),
    [
        (None, {"reinforcement": ReinforcementConfig(heads=("discard", "discard"))}, "each once"),
        ("dazhong", {"reinforcement": ReinforcementConfig(max_updates=1)}, "use one or more of turn, claim, each once"),
        (None, {"records": RecordsConfig(player="fanfou_op")}, "use random, tsumogiri, .*ukeire, or the path"),
        (
            "dazhong",
            {"evaluation": MatchConfig(opponent="rule")},
            r"evaluation\.opponent is 'rule': use random, robot",
        ),
    ],
)
def test_a_recipe_names_what_its_game_has(game: Any, settings: dict[str, Any], message: str) -> None:
    values: dict[str, Any] = {
        "records": RecordsConfig(player="random"),
        "evaluation": MatchConfig(opponent="random"),
        **settings,
    }
    with pytest.raises(ValueError, match=message):
        Recipe(name="run", game=game, **values)


@pytest.mark.parametrize(
    ("cls", "settings", "message"),
    [
        (OracleStageConfig, {"max_updates": -1}, "max_updates is -1"),
        (OracleDistillationConfig, {"max_updates": -1}, "max_updates is -1"),
        (OracleDecayConfig, {"learning_rate_share": 0.0}, "learning_rate_share is 0.0"),
        (OracleDecayConfig, {"reject_ratio": 1.0}, "reject_ratio is 1.0"),
        (OracleDecayConfig, {"continued_updates": 0}, "continued_updates is 0"),
        (OracleDecayConfig, {"updates_per_step": 0}, "updates_per_step is 0"),
        (DeckMatchConfig, {"decks": 1}, "decks is 1"),
        (NetConfig, {"channels": 4096, "num_blocks": 1024}, "the net has about 103,"),
        *((kind, {"name": name}, "name is") for kind in KINDS for name in ("", "My Run", "-run", "../up", "x" * 64)),
        *((kind, {"name": "run", "minutes": -5}, "minutes is -5") for kind in KINDS),
    ],
)
def test_settings_that_make_no_sense_are_refused(cls: type[Any], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(**settings)


def test_editors_accept_the_shipped_recipes_by_the_schema_and_no_others() -> None:
    schema = Draft7Validator(recipe_schema())
    schema.check_schema(schema.schema)
    for path in RECIPES.rglob("*.toml"):
        assert schema.is_valid(read_toml(path)), path
    for wrong in ({"net": {"sise": "tiny"}}, {"net": {"size": "huge"}}, {"seed": -1}, {"seed": True}):
        assert not schema.is_valid({"name": "mine", **wrong}), wrong


def test_the_committed_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make golden"


NIGHTLY = RECIPES / "nightly.toml"


def test_a_tournament_gets_tonights_date_unless_it_has_a_night() -> None:
    assert len(load_tournament_recipe(NIGHTLY).night) == len("2026-11-21")
    assert load_tournament_recipe(NIGHTLY, [("night", "x")]).night == "x"


def test_a_night_is_that_for_which_its_job_was_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    scheduled = now - timedelta(hours=30)
    for name, night in (
        (f"suphx-nightly-{int(scheduled.timestamp()) // 60}", scheduled),
        ("nightly-now", now),
        ("nightly-20261125", now),
    ):
        monkeypatch.setenv("SUPHX_CRON_JOB", name)
        assert tonight() == f"{night:%Y-%m-%d}"


def test_two_nights_around_a_change_of_the_clocks_have_two_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_recipe, "_LATE", timedelta(days=10**4))
    monkeypatch.setenv("SUPHX_TIME_ZONE", "Europe/Berlin")
    for time in ("2027-03-28T00:30", "2027-03-28T23:30"):  # in UTC; both at 1:30 there
        minutes = int(datetime.fromisoformat(f"{time}+00:00").timestamp()) // 60
        monkeypatch.setenv("SUPHX_CRON_JOB", f"suphx-nightly-{minutes}")
        assert tonight() == f"2027-03-2{'8' if time.endswith('00:30') else '9'}"
    monkeypatch.setenv("SUPHX_TIME_ZONE", "Nowhere/City")
    assert tonight() == "2027-03-28"


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.toml")), ids=lambda path: path.stem)
def test_each_recipe_is_for_one_command(path: Path) -> None:
    commands: list[Command] = ["run", "tournament"]
    kind, other = commands if path in ALL else commands[::-1]
    check_kind(path, kind)
    with pytest.raises(ValueError, match=rf"is a recipe of another command: use suphx {kind} .*{path.name}"):
        check_kind(path, other)


NOT_POSSIBLE = ("4611686018427387904", "1000000000000", "-1", "nan", "inf")


def number_keys(cls: type[Any], prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Yield all keys of a recipe that take numbers, and whether each takes a list of them."""
    hints = get_type_hints(cls)
    for field in recipe_fields(cls):
        hint = hints[field.name]
        if isinstance(hint, type) and is_dataclass(hint):
            yield from number_keys(hint, f"{prefix}{field.name}.")
        elif {int, float} & {hint, *get_args(hint)}:
            yield prefix + field.name, hint not in (int, float)


@pytest.mark.parametrize(
    ("cls", "recipe"),
    [
        (Recipe, "laptop"),
        (TournamentRecipe, "nightly"),
        (MonteCarloRecipe, "doudizhu"),
        (TournamentRecipe, "doudizhu_tournament"),
    ],
)
def test_no_key_of_any_recipe_takes_a_number_that_no_run_can_have(cls: type[Any], recipe: str) -> None:
    keys = list(number_keys(cls))
    assert len(keys) > 15
    for key, is_list in keys:
        for text in NOT_POSSIBLE:
            with pytest.raises(ValueError, match=rf"\b{key.rpartition('.')[2]}\b"):
                load_config(cls, RECIPES / f"{recipe}.toml", [(key, f"[{text}]" if is_list else text)])


@pytest.mark.parametrize(
    ("recipe", "key"),
    [
        ("laptop", "stream.buffer_bytes"),
        ("reinforcement", "reinforcement.buffer.capacity_bytes"),
        ("doudizhu", "cluster.object_store_bytes"),
    ],
)
def test_more_memory_than_the_machine_has_is_refused_before_the_run(
    recipe: str, key: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=2**33))
    arguments = ["run", recipe, "--set", f"{key}={2**38}", "--runs", str(tmp_path / "runs")]
    for more, code in (([], 1), (["--dry-run"], 0)):  # another machine may be meant by the latter
        assert cli.main([*arguments, *more]) == code
        assert f"{key} is 274,877,906,944, and this machine has 8,589,934,592 bytes" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    check_memory(load_run_recipe(Path(recipe), [(key, str(2**38))]))
