from __future__ import annotations

import os
from pathlib import Path

import pytest

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_side_match
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx_platform.agents.agent_loading import common_rules, load_side_agent
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.games.doudizhu.builders import save_nets as nets
from tests.suphx_platform.storage.s3_server import BUCKET, S3Server

GAME = candidate_game("doudizhu")


def source(folder: Path) -> AgentSource:
    return AgentSource(TrackingStore(folder / "runs"))


def test_nets_in_a_bucket_play_as_those_in_the_folder_that_was_stored(server: S3Server, tmp_path: Path) -> None:
    own = nets(tmp_path / "learning")
    Storage(StorageConfig(address=f"s3://{BUCKET}/runs")).save("a-1/learning", own, number=100)
    found = load_side_agent(f"s3://{BUCKET}/runs/a-1/learning", GAME, tmp_path / "fetched", source(tmp_path))
    local = load_side_agent(str(own), GAME, tmp_path / "none", source(tmp_path))
    agents = {"found": found.player, "local": local.player}
    setup = MatchSetup(*agents, seed=0, game="doudizhu", first_deal=0)
    report = play_side_match(setup, 2, runner=GameRunner(load=agents.__getitem__))
    assert report.figures["share"].mean == 0.5  # the same agent
    assert not (tmp_path / "none").exists()
    with pytest.raises(ValueError, match=r"a-2/learning has no checkpoint of the landlord net: use what"):
        load_side_agent(f"s3://{BUCKET}/runs/a-2/learning", GAME, tmp_path / "a-2", source(tmp_path))


def test_scripted_agents_play_by_the_rules_of_the_nets(tmp_path: Path) -> None:
    rules = Rules(scoring="points", douzero_kickers=True)
    agents = [
        load_side_agent(address, GAME, tmp_path, source(tmp_path))
        for address in ("rule", str(nets(tmp_path / "nets", rules)))
    ]
    assert common_rules(GAME, *agents) == rules
    assert common_rules(GAME, agents[0], agents[0]) == Rules()


def test_nets_with_and_without_bidding_play_without_it_whoever_is_named_first(tmp_path: Path) -> None:
    bidding = Rules(bidding=True, scoring="points")
    folders = [nets(tmp_path / "a", bidding), nets(tmp_path / "b", Rules(scoring="points"))]
    agents = [load_side_agent(str(folder), GAME, tmp_path / "space", source(tmp_path)) for folder in folders]
    assert [agent.rules for agent in agents] == [bidding, Rules(scoring="points")]
    for order in (agents, agents[::-1]):
        assert common_rules(GAME, *order) == Rules(scoring="points")
    assert common_rules(GAME, agents[0], agents[0]) == bidding


def test_the_newest_nets_of_runs_and_of_a_bucket_are_found(server: S3Server, tmp_path: Path) -> None:
    runs, storage = tmp_path / "runs", Storage(StorageConfig(address=f"s3://{BUCKET}/runs"))
    for number, name in enumerate(("a-1", "b-1", "c-1")):
        (runs / name).mkdir(parents=True)
        own = nets(runs / name / "learning")
        for path in own.iterdir():
            os.utime(path, (1000 + number, 1000 + number))
        storage.save(f"{name}/learning", own, number=100)
    (runs / "c-1" / "learning" / "landlord_up.safetensors").unlink()  # its training continues
    assert [found.name for found in source(tmp_path).newest(str(runs), "doudizhu")] == ["b-1/learning", "a-1/learning"]
    assert source(tmp_path).newest(str(runs), "doudizhu")[0].address == str(runs / "b-1" / "learning")
    stored = source(tmp_path).newest(f"s3://{BUCKET}/runs/", "doudizhu")
    assert [found.name for found in stored] == ["c-1/learning", "b-1/learning", "a-1/learning"]
    agent = load_side_agent(stored[0].address, GAME, tmp_path / "fetched" / "c", source(tmp_path))
    assert {path.name for path in agent.files} == set(checkpoint_names(game=GAME.name))
