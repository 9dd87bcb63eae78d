"""The pool of a tournament, settled for tiny nets with a real MLflow store."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx_pipelines.recipe.tournament_recipe import DecisionConfig, PoolConfig, TournamentRecipe
from suphx_pipelines.tournament.kind import Pool
from suphx_pipelines.tournament.stages import deciding_pair, settle_pool
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.small_run import context_of

RECIPE = TournamentRecipe(name="nightly", night="1", decision=DecisionConfig(opponent=""))
SCRIPTED_AGENTS = RECIPE.pool.agents or ()


def settle(folder: Path, runs: Path, pool: PoolConfig, opponent: str = "") -> Pool:
    recipe = replace(RECIPE, pool=pool, decision=DecisionConfig(opponent=opponent))
    settle_pool(context_of(recipe, TrackingStore(runs).start("pool", key="pool"), folder))
    return Pool.read(folder)


def test_nets_of_agents_that_adapt_are_copied_too(runs: Path, tmp_path: Path) -> None:
    nets = save_random(tmp_path / "nets")
    adapts = f"adapt-8:{nets}:sampled"
    pool = settle(tmp_path / "pool", runs, PoolConfig(agents=(*SCRIPTED_AGENTS, adapts, str(nets)), newest=0))
    assert [entrant.address for entrant in pool.entrants[3:]] == ["adapt-8:agents/3:sampled", "agents/4"]
    assert len({entrant.digest for entrant in pool.entrants}) == 5
    shutil.rmtree(nets)
    elsewhere = (tmp_path / "pool").rename(tmp_path / "elsewhere")  # as another machine has it from the storage
    for entrant in pool.entrants:
        load_any_agent(entrant.address_in(elsewhere), "riichi")


def test_the_nets_of_the_opponent_stay_as_they_were_when_the_night_began(runs: Path, tmp_path: Path) -> None:
    nets, folder = save_random(tmp_path / "nets"), tmp_path / "pool"
    agents = PoolConfig(agents=(*SCRIPTED_AGENTS, str(save_random(tmp_path / "fourth", seed=2))), newest=0)
    pool = settle(folder, runs, agents, opponent=f"{nets}:sampled")
    shutil.rmtree(nets)  # a run that goes on writes others there
    rows = [{"name": "ukeire", "is_candidate": False}]
    _, address, names = deciding_pair(pool, rows, folder, f"{nets}:sampled")
    assert load_any_agent(address, "riichi").name == address
    assert Path(address).is_relative_to(folder)
    assert names["opponent"] == f"{nets}:sampled", "tables name it as the recipe does"
    assert deciding_pair(replace(pool, opponent=None), rows, folder, "ukeire")[1] == "ukeire", "of an older pool.json"


def save_with_early(folder: Path, seed: int, early_seed: int) -> Path:
    """Save nets with early ones beside them."""
    early = save_random(folder.with_name(f"{folder.name}-early"), early_seed)
    for full, weak in zip(checkpoint_names(game="riichi"), checkpoint_names(is_weak=True, game="riichi"), strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(early / full, folder / weak)
    return save_random(folder, seed)


def test_early_nets_are_identified_by_themselves(runs: Path, tmp_path: Path) -> None:
    first, second, third = (
        save_with_early(tmp_path / f"nets-{number}", *seeds) for number, seeds in enumerate([(1, 2), (1, 3), (4, 2)])
    )
    agents = (*SCRIPTED_AGENTS, f"{first}:weak", f"{second}:weak", f"{third}:weak", f"{third}-early:sampled")
    folder = tmp_path / "pool"
    pool = settle(folder, runs, PoolConfig(agents=agents, newest=0))
    assert [entrant.name for entrant in pool.entrants[3:]] == [agents[3], agents[4], agents[6]]
    assert pool.left_out == {f"{third}:weak": f"the same nets as {first}:weak"}
    sampled = pool.entrants[5]
    assert sampled.digest == f"{pool.entrants[3].digest}sampled"
    assert sampled.net_agent_in(folder) == str(folder / "agents" / "5")
    wrapped = replace(pool.entrants[3], address="adapt-8:agents/3:sampled,weak")
    assert wrapped.net_agent_in(folder) == f"{folder / 'agents' / '3'}:weak"


def test_of_a_candidate_that_does_not_play_nothing_stays(runs: Path, tmp_path: Path) -> None:
    nets = save_random(runs / "a-1" / "reinforcement")
    shutil.copytree(nets, runs / "b-1" / "reinforcement")
    pool = settle(tmp_path / "pool", runs, PoolConfig(newest=2, newest_from=str(runs)))
    assert len(pool.entrants) == 4
    assert list(pool.left_out.values()) == [f"the same nets as {pool.entrants[3].name}"]
    assert [path.name for path in (tmp_path / "pool" / "agents").iterdir()] == ["3"]


def test_a_fault_of_the_disk_leaves_nobody_out(runs: Path, tmp_path: Path) -> None:
    save_random(runs / "a-1" / "reinforcement")
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "agents").write_text("a file where the folder should be")
    with pytest.raises(NotADirectoryError):
        settle(tmp_path / "pool", runs, PoolConfig(newest=1, newest_from=str(runs)))


def test_a_wrong_place_of_new_checkpoints_is_an_error_before_anything_else(runs: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    pool = PoolConfig(agents=(*SCRIPTED_AGENTS, "no such agent"), newest_from=str(missing))
    with pytest.raises(ValueError, match=rf"pool\.newest_from: {missing} is not a folder of runs: check the path"):
        settle(tmp_path / "pool", runs, pool)
