"""Whole tournaments of tiny nets with a real MLflow store."""

from __future__ import annotations

import html
import itertools
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.tournament_recipe import PoolConfig, TournamentRecipe
from suphx_pipelines.tournament.history import read_games
from suphx_pipelines.tournament.tournament import tournament_stages
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.repository import RECIPES
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.tile_keeper import save_keeper
from tests.suphx_pipelines.stages.result_files_page import undeclared_files
from tests.suphx_pipelines.tournament.kept_files import results
from tests.suphx_pipelines.tournament.small_tournament import SMALL, code, play
from tests.suphx_platform.agents.mjai.bot_program import BOT, reaper

NIGHTLY = RECIPES / "nightly.toml"
CHAMPION = RegistryConfig().address
pytestmark = pytest.mark.usefixtures("short_games")


def night(number: int, recipe: TournamentRecipe = SMALL) -> TournamentRecipe:
    return replace(recipe, night=str(number))


def champion(runs: Path) -> str | None:
    return ModelRegistry(TrackingStore(runs), RegistryConfig()).champion()


def save_at(folder: Path, time: int) -> None:
    for path in folder.glob("*.safetensors"):
        os.utime(path, (time, time))


def check_pages(runs: Path, results: list[dict[str, Any]]) -> None:
    """Look at what the last of three nights shows of all of them."""
    folder = runs / str(results[-1]["run_id"])
    assert undeclared_files(folder, tournament_stages(SMALL)) == []
    table = read_json(folder / "leaderboard" / "table.json")
    ours = next(row for row in table["agents"] if row["name"] == "ukeire")
    assert [night["night"] for night in table["nights"]] == ["1", "2", "3"]
    assert [night["ratings"][ours["digest"]][0] for night in table["nights"]] == [1000, 1000, 1000]
    assert 0 < ours["style"]["win_rate"] < 1
    games = read_games(folder / "leaderboard" / "games.json", code()) + read_games(
        folder / "pool" / "history.json", code()
    )
    digests = [row["digest"] for row in table["agents"]]
    for row, column in itertools.permutations(range(len(digests)), 2):
        common = [game for game in games if {digests[row], digests[column]} <= set(game.seats)]
        places = [[game.places[game.seats.index(digests[agent])] for agent in (row, column)] for game in common]
        assert table["pairings"][row][column] == sum(first < second for first, second in places)
    pages = [folder / name for name in ("report/report.html", "leaderboard/live.html", "decision/live.html")]
    for page in pages:
        for link in re.findall(r'href="([^#"]+)"', page.read_text()):
            assert (page.parent / link).is_file(), "the report, the deciding match, the games, the earlier nights"
        for earlier in results[:-1]:
            assert f'href="../../{earlier["run_id"]}/report/report.html"' in page.read_text()
    for night in results[1:]:
        check_game_pages(runs / str(night["run_id"]))
    assert "20 of tonight&#39;s 20 hanchans have been played" in pages[1].read_text()
    assert "c-1/reinforcement against three models:/suphx@champion." in pages[2].read_text()


def check_mlflow(runs: Path, results: list[dict[str, Any]]) -> None:
    """The last night's run in MLflow has the pages without dead links, and the description links the earlier nights."""
    store, folder = TrackingStore(runs), runs / str(results[-1]["run_id"])
    tracked = [store.find(str(result["run_id"])) for result in results]
    ids = [run.info.run_id for run in tracked if run is not None]
    for name, source in (("report.html", "report"), ("live.html", "decision")):
        page = Path(store.client.download_artifacts(ids[-1], name, str(runs.parent))).read_bytes()
        assert page == (folder / source / "mlflow" / name).read_bytes()
        assert re.findall(r'href="([^#"]+)"', page.decode()) == []
        assert "Earlier nights: 1 · 2<" in page.decode()
    runs_page, kind = f"#/experiments/{store.experiment_id()}/runs", "?workflowType=machine_learning"
    earlier = [f"{runs_page}/{run_id}/artifacts/report.html{kind}" for run_id in ids[:-1]]
    note = store.client.get_run(ids[-1]).data.tags["mlflow.note.content"]
    assert f"Reports of earlier nights: [2]({earlier[1]}), [1]({earlier[0]})" in note
    for run_id in ids[:-1]:
        assert "report.html" in {file.path for file in store.client.list_artifacts(run_id)}


def check_game_pages(folder: Path) -> None:
    """The report links four games of the decision, which are among the records of the match."""
    decision = read_json(folder / "decision" / "decision.json")
    match = decision["match"] or decision["test"]
    records = folder / "decision" / "records" / ("fresh" if decision["match"] else "")
    assert sum(table["games"] for table in read_json(records / "index.json")["tables"]) == match["games"]
    report = (folder / "report" / "report.html").read_text()
    for page in ("game_best_1", "game_best_2", "game_worst_1", "game_worst_2"):
        assert f'<a href="{page}.html">' in report
        assert decision["candidate"] in (folder / "report" / f"{page}.html").read_text()


def check_first_night(runs: Path, result: dict[str, Any]) -> None:
    """What a tournament leaves is in the report and in MLflow."""
    assert "New champion: a-1/reinforcement is the first that played." in Path(result["report"]).read_text()
    assert "a-1/reinforcement" in (Path(result["report"]).parent / "game.html").read_text()
    store = TrackingStore(runs)
    tracked = {run.info.run_name: run for run in store.client.search_runs([store.experiment_id()])}
    assert set(tracked) == {result["run_id"], "pool", "leaderboard", "decision", "promotion", "sample_game", "report"}
    kept = [file.path for file in store.client.list_artifacts(tracked["report"].info.run_id)]
    assert sorted(kept) == ["game.html", "leaderboard.csv", "leaderboard.svg", "pairings.svg", "report.html"]
    ratings = tracked["leaderboard"].data.metrics
    assert ratings["rating/a-1/reinforcement"] == result["agents"]["a-1/reinforcement"]["rating"]
    (model,) = store.client.search_logged_models([store.experiment_id()])
    nets = (runs / "artifacts").glob(f"models/{model.model_id}/artifacts/data/nets/*.safetensors")
    assert {path.stem for path in nets} == {"discard", "riichi", "chow", "pong", "kong"}
    assert model.source_run_id == tracked["promotion"].info.run_id, "no run of MLflow has trained these nets"
    shown = tracked[str(result["run_id"])].data
    assert shown.tags["mlflow.note.content"].startswith("**New champion: a-1/reinforcement is the first that played.**")
    assert shown.metrics["promotion/promoted"] == 1
    address = AgentSource(store).fetch(CHAMPION, runs / "fetched", "riichi")
    original = runs / "a-1" / "reinforcement" / "discard.safetensors"
    assert (Path(address) / "discard.safetensors").read_bytes() == original.read_bytes()


def check_promoted_version(runs: Path, run_id: object) -> None:
    """A promoted version has its evidence, and links the run that trained it."""
    store = TrackingStore(runs)
    version, trained = store.client.get_model_version("suphx", "2"), store.find("b-1")
    assert trained is not None
    assert version.run_id == trained.info.run_id
    for text in ("Against models:/suphx@champion (version 1): −", "over 24 new hanchans",
                 f"by the tournament `{run_id}` (night 2)", "`b-1`, stage `reinforcement`"):  # fmt: skip
        assert text in (version.description or "")
    assert version.tags["opponent"] == CHAMPION
    assert float(version.tags["difference"]) < 0
    assert version.tags["games"] == "24"
    assert 96 <= int(version.tags["decision_games"]) <= 320


def test_three_nights(runs: Path) -> None:
    """The first candidate becomes the champion, a clearly better one takes its place, a worse one does not."""
    save_at(save_random(runs / "a-1" / "reinforcement"), 1000)
    first = play(runs, night(1))
    check_first_night(runs, first)
    assert (first["champion"], first["promoted"]) == ("models:/suphx/1", True)
    assert set(first["agents"]) == {"ukeire", "tsumogiri", "random", "a-1/reinforcement"}
    assert all(row["interval"][0] <= row["rating"] <= row["interval"][1] for row in first["agents"].values())
    assert {row["games"] for row in first["agents"].values()} == {20}

    save_at(save_keeper(runs / "b-1" / "reinforcement"), 2000)
    with TrackingStore(runs).start("b-1", key="b-1"):
        pass
    second = play(runs, night(2))
    check_promoted_version(runs, second["run_id"])
    assert (second["champion"], second["promoted"]) == ("models:/suphx/2", True)
    assert second["reason"].startswith(f"new champion: b-1/reinforcement beat {CHAMPION}: −")
    assert set(second["agents"]) == {CHAMPION, "ukeire", "tsumogiri", "random", "b-1/reinforcement"}
    again = play(runs, night(2))
    assert (again["champion"], again["promoted"], again["agents"]) == ("models:/suphx/2", True, second["agents"])
    assert champion(runs) == "2"
    for result in (first, second):
        assert (result["agents"]["ukeire"]["rating"], result["agents"]["ukeire"]["interval"]) == (1000, [1000, 1000])
    assert sum(row["games"] for row in second["agents"].values()) == 4 * (20 + 20), "the games of both nights count"
    assert second["agents"][CHAMPION]["games"] >= 20, "by its nets, whatever it is called"

    save_at(save_random(runs / "c-1" / "reinforcement", seed=2), 3000)
    third = play(runs, night(3))
    assert (third["champion"], third["promoted"]) == ("models:/suphx/2", False)
    check_pages(runs, [first, second, third])
    check_mlflow(runs, [first, second, third])
    assert third["reason"].startswith("no promotion: ")
    assert champion(runs) == "2"
    candidate = TrackingStore(runs).client.get_model_version_by_alias("suphx", "candidate")
    assert (str(candidate.version), candidate.tags["candidate"], candidate.tags["night"]) == (
        "3",
        "c-1/reinforcement",
        "3",
    )
    run = TrackingStore(runs).find(Path(third["report"]).parents[1].name)
    assert run is not None
    assert candidate.tags["verdict"] == run.data.tags["suphx.outcome"] != "better"
    outcomes = [version.tags["outcome"] for version in TrackingStore(runs).client.search_model_versions()]
    assert outcomes == ["not promoted", "promoted", "promoted"], "the newest version first"
    assert (candidate.description or "").startswith(f"Not promoted: the match against {CHAMPION} (version 2)")
    run_id, _, name = candidate.tags["report"].removeprefix("runs:/").partition("/")
    report = TrackingStore(runs).client.download_artifacts(run_id, name, str(runs.parent))
    assert Path(report).read_bytes() == (Path(third["report"]).parent / "mlflow" / name).read_bytes()


def test_all_seatings_are_reported_with_a_promotion(runs: Path) -> None:
    save_keeper(runs / "a-1" / "reinforcement")
    test = replace(SMALL.decision.test, seating="all")
    recipe = replace(SMALL, decision=replace(SMALL.decision, opponent="random", test=test))
    result = play(runs, recipe)
    assert result["promoted"]
    decision = read_json(runs / str(result["run_id"]) / "decision" / "decision.json")
    assert decision["match"]["seating"] == "1v3"
    others = decision["other_seatings"]
    assert {name: match["games"] for name, match in others.items()} == {"2v2": 24, "3v1": 24}
    assert "3v1" in Path(result["report"]).read_text()
    version = TrackingStore(runs).client.get_model_version("suphx", "1")
    found = others["3v1"]["paired_difference"]
    difference, expected = found["average_placement"], [found["average_placement"], *found["interval"]]
    tags = [float(version.tags[f"difference_3v1{end}"]) for end in ("", "_low", "_high")]
    assert tags == pytest.approx(expected, abs=1e-4)
    assert f"With 3v1 at a table: {difference:+.3f} places".replace("-", "−") in (version.description or "")


def test_a_champion_is_no_candidate_and_nets_that_cannot_play_take_no_places(runs: Path) -> None:
    save_at(save_random(runs / "a-1" / "reinforcement"), 1000)
    play(runs, night(1))
    save_at(save_random(runs / "b-1" / "reinforcement", seed=2), 2000)
    shutil.copytree(runs / "b-1" / "reinforcement", runs / "twin-1" / "reinforcement")
    save_at(runs / "twin-1" / "reinforcement", 3000)
    save_at(save_keeper(runs / "broken-1" / "reinforcement"), 4000)
    (runs / "broken-1" / "reinforcement" / "kong.safetensors").write_bytes(b"nothing")
    result = play(runs, night(2, replace(SMALL, pool=PoolConfig(newest=2))))
    pool = read_json(runs / str(result["run_id"]) / "pool" / "pool.json")
    assert [each["name"] for each in pool["entrants"] if each["is_candidate"]] == ["twin-1/reinforcement"]
    left_out = pool["left_out"]
    assert left_out["a-1/reinforcement"] == f"the same nets as {CHAMPION}"
    assert left_out["b-1/reinforcement"] == "the same nets as twin-1/reinforcement"
    assert "kong.safetensors" in left_out["broken-1/reinforcement"]


def test_without_a_champion_the_opponent_must_be_beaten(runs: Path) -> None:
    recipe = replace(SMALL, decision=replace(SMALL.decision, opponent="ukeire"))
    save_random(runs / "a-1" / "reinforcement")
    result = play(runs, night(1, recipe))
    assert (result["champion"], result["promoted"]) == (None, False)
    save_keeper(runs / "b-1" / "reinforcement")
    weaker = replace(recipe, decision=replace(SMALL.decision, opponent="tsumogiri"))
    assert play(runs, night(2, weaker))["champion"] == "models:/suphx/2", "the candidate that lost is version 1"


def test_the_champion_is_beaten_but_somebody_was_faster(runs: Path) -> None:
    save_at(save_random(runs / "a-1" / "reinforcement"), 1000)
    play(runs, night(1))
    save_at(save_keeper(runs / "b-1" / "reinforcement"), 2000)
    store = TrackingStore(runs)
    other = store.start("the other", key="other")
    registry = ModelRegistry(store, RegistryConfig())
    nets = save_keeper(runs.parent / "keeper", weight=2.0)
    assert registry.promote(nets, other, Promotion(digest="keeper 2", replaces="1", night="2")) == "2"
    store.client.set_registered_model_alias("suphx", "champion", "1")  # as before the other's last step
    result = play(runs, night(2))
    assert (result["champion"], result["promoted"]) == ("models:/suphx/1", False)
    assert result["reason"].startswith("no promotion, another promotion of this night was first")
    loser = store.client.get_model_version_by_alias("suphx", "candidate")
    assert (loser.tags["outcome"], loser.tags["verdict"]) == ("not promoted", "better")
    assert (loser.description or "").startswith("Not promoted: another promotion of this night was first, or the alias")
    assert "Registered at" in (loser.description or "")


def test_a_killed_leaderboard_keeps_the_games_that_it_has_played(runs: Path) -> None:
    save_random(runs / "a-1" / "reinforcement")
    recipe = replace(SMALL, pool=PoolConfig(newest=1, agents=("ukeire", "tsumogiri", "random", "ukeire:x/..")))
    with pytest.raises(ValueError, match=r"'ukeire:x/\.\.' is not an agent"):
        play(runs, recipe)
    result = play(runs)
    folder = runs / str(result["run_id"]) / "leaderboard"
    expected = results(runs)
    kept = sorted((folder / "games").iterdir())
    for lost in (*kept[:2], *(folder / name for name in ("done.json", "table.json", "games.json"))):
        lost.unlink()
    assert play(runs)["agents"] == result["agents"]
    assert results(runs) == expected, "byte for byte, whichever games are played again"
    (folder / "done.json").unlink()
    (folder / "table.json").unlink()
    for games in (folder / "games").iterdir():  # to tell them from those that are played again
        values = read_json(games)
        write_json(games, values | {"places": [[5 - place for place in places] for places in values["places"]]})
    again = play(runs)
    for name, row in again["agents"].items():
        assert row["average_placement"] == 5 - result["agents"][name]["average_placement"]


def test_a_killed_process_loses_its_own_games_only(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that plays with an outside program is killed, once, after another process saved its games."""
    monkeypatch.setenv("SUPHX_BUBBLEWRAP", "0")
    save_random(runs / "a-1" / "reinforcement")
    wish = tmp_path / "wish"
    wish.write_text(str(runs / "*" / "leaderboard" / "games" / "*.json"))
    killer = f"mjai-120:{sys.executable} -S {BOT} kill-once:{wish}"
    agents = ("ukeire", "tsumogiri", "random", killer)
    recipe = replace(SMALL, workers=2, pool=PoolConfig(newest=1, agents=agents))
    with pytest.raises(ChildProcessError) as caught, reaper(wish):
        play(runs, recipe)
    assert re.match(r"worker process \d+ was ended by SIGKILL", str(caught.value))
    assert killer in str(caught.value)
    assert re.search(r" on wall \d of 5", str(caught.value))
    (folder,) = runs.glob("*/leaderboard")
    kept = {path.name: path.stat().st_mtime_ns for path in (folder / "games").iterdir()}
    assert kept
    undisturbed = shutil.copytree(runs, tmp_path / "undisturbed", ignore=shutil.ignore_patterns("nightly-*"))
    result = play(runs, replace(recipe, workers=1))
    assert sum(row["games"] for row in result["agents"].values()) == 4 * 20
    after = {path.name: path.stat().st_mtime_ns for path in (folder / "games").iterdir()}
    assert len(after) == 5
    assert kept.items() <= after.items()
    play(undisturbed, replace(recipe, workers=1))
    assert results(runs) == results(undisturbed)


def test_another_machine_has_the_night_and_earlier_games_from_the_storage(runs: Path, tmp_path: Path) -> None:
    save_random(runs / "a-1" / "reinforcement")
    recipe = replace(SMALL, storage=StorageConfig(address=str(tmp_path / "storage")))
    here = play(runs, recipe)
    promotion = runs / str(here["run_id"]) / "promotion"
    for file in ("done.json", "promotion.json"):  # as after a kill when the alias had moved
        (promotion / file).unlink()
    assert play(runs, recipe) == here
    assert len(TrackingStore(runs).client.search_model_versions("name = 'suphx'")) == 1
    other = tmp_path / "other"
    shutil.copytree(runs, other, ignore=shutil.ignore_patterns("a-1", "nightly-*", "artifacts"))
    there = play(other, recipe)
    assert {**there, "report": "", "tracking_uri": ""} == {**here, "report": "", "tracking_uri": ""}
    assert Path(there["report"]).is_relative_to(other)
    shutil.rmtree(runs / str(here["run_id"]))
    second = play(runs, night(2, recipe))
    table = read_json(runs / str(second["run_id"]) / "leaderboard" / "table.json")
    assert (table["deals"], table["earlier_games"]) == (5, 20)
    assert sum(row["games"] for row in table["agents"]) == 4 * 40


def test_an_outside_program_may_play_whatever_its_name_and_its_forfeits_are_shown(runs: Path, tmp_path: Path) -> None:
    save_random(runs / "a-1" / "reinforcement")
    program = tmp_path / ("very long " * 20) / ("folder " * 30) / BOT.name
    program.parent.mkdir(parents=True)
    shutil.copy(BOT, program)
    bot = f"mjai:{sys.executable} -S '{program.parent}/../{program.parent.name}//{program.name}' thrower"
    recipe = replace(SMALL, pool=PoolConfig(newest=1, agents=("ukeire", "random", bot)))
    result = play(runs, recipe)
    assert result["agents"][bot]["games"] == 20
    assert result["agents"][bot]["rating"] < result["agents"]["ukeire"]["rating"]
    assert bot in html.unescape(Path(result["report"]).read_text(encoding="utf-8"))
    table = read_json(runs / str(result["run_id"]) / "leaderboard" / "table.json")
    assert {row["name"]: row["forfeits"] for row in table["agents"] if row["forfeits"]} == {bot: 20}
    (warning,) = read_json(runs / str(result["run_id"]) / "leaderboard" / "done.json")["warnings"]
    assert f"{bot} could not play 20 games to the end" in warning
