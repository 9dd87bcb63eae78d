"""The champion of tournaments in a game of two sides: who becomes it, and what the model registry has of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlflow
import pandas as pd
import pytest

from suphx.games.doudizhu.table import Rules
from suphx.games.game import CandidateOpinion
from suphx.games.registry import candidate_game
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.opinion import candidate_opinions
from suphx_cli import cli
from suphx_pipelines.json_file import read_json
from suphx_pipelines.tournament.kind import Kind
from suphx_platform.agents.agent_loading import load_side_agent
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.agents.pyfunc_agent import PyfuncAgent
from suphx_platform.tracking.logged_models import MODEL_TAG
from suphx_platform.tracking.model_registry import ModelRegistry, Promotion, RegistryConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.tournament.small_side_tournament import SMALL, play, save_nets, save_strong_nets

GAME = candidate_game("doudizhu")
CHAMPION = "models:/doudizhu@champion"
FIRST_COMES_IN = replace(SMALL, decision=replace(SMALL.decision, opponent=""))


def test_champions_defend_their_place_night_by_night(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first_nets = save_nets(runs / "a-1" / "learning", seed=1)
    first = play(runs, FIRST_COMES_IN)
    assert (first["champion"], first["promoted"]) == ("models:/doudizhu/1", True)
    assert first["reason"] == "new champion: a-1/learning is the first that played"
    store = TrackingStore(runs)
    fetched = AgentSource(store)
    agent = load_side_agent(CHAMPION, GAME, runs.parent / "champion", fetched)
    assert agent.rules == Rules()
    for file in first_nets.iterdir():
        assert (runs.parent / "champion" / file.name).read_bytes() == file.read_bytes()

    save_strong_nets(runs / "b-1" / "learning")
    second = play(runs, replace(FIRST_COMES_IN, night="2"))
    folder = runs / str(second["run_id"])
    pool = read_json(folder / "pool" / "pool.json")
    assert pool["entrants"][pool["champion"]]["name"] == CHAMPION
    assert pool["version"] == "1"
    assert pool["left_out"] == {"a-1/learning": f"the same nets as {CHAMPION}"}
    decision = read_json(folder / "decision" / "decision.json")
    assert (decision["candidate"], decision["opponent"]) == ("b-1/learning", CHAMPION)
    assert decision["test"]["verdict"] == "better"
    assert (second["promoted"], second["champion"]) == (True, "models:/doudizhu/2")
    share = decision["match"]["share"]["mean"]
    assert second["reason"] == Kind("doudizhu").texts.reason(decision, is_promoted=True)
    client = store.client
    versions = {str(each.version): each for each in client.search_model_versions("name = 'doudizhu'")}
    assert versions["1"].tags["outcome"] == "promoted"
    assert versions["2"].tags["opponent"] == CHAMPION
    assert (versions["2"].tags["verdict"], versions["2"].tags["games"]) == ("better", "40")
    assert float(versions["2"].tags["share"]) == pytest.approx(share, abs=1e-4)
    assert f"Against {CHAMPION} (version 1): {100 * share:.1f} % of the games won" in str(versions["2"].description)
    model = client.get_logged_model(versions["2"].tags[MODEL_TAG])
    figures = {metric.key: metric.value for metric in model.metrics or []}
    assert (figures["promotion/share"], figures["promotion/games"]) == (share, 40.0)
    assert "Trained in the run `b-1`, stage `learning`." in str(versions["2"].description)
    game = (folder / "report" / "game.html").read_text(encoding="utf-8")
    assert game == (folder / "sample_game" / "game.html").read_text(encoding="utf-8")
    assert f"nightly, 2: {CHAMPION} against" in game or "nightly, 2: b-1/learning against" in game
    assert game.count('"winner"') >= 2

    capsys.readouterr()
    command = ["evaluate", "--candidate", CHAMPION, "--opponent", "models:/doudizhu/1"]
    assert cli.main([*command, "--decks", "4", "--runs", str(runs), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["candidate"] == CHAMPION
    assert cli.main([*command, "--opponent", "models:/doudizhu/9", "--runs", str(runs)]) == 1
    assert "'models:/doudizhu/9' is not in the model registry" in capsys.readouterr().err


def test_a_night_without_new_nets_has_no_deciding_match(runs: Path) -> None:
    result = play(runs)
    assert (result["champion"], result["promoted"]) == (None, False)
    assert result["reason"] == "no promotion: no nets are new, give pool.newest_from a folder or storage of runs"
    live = (runs / str(result["run_id"]) / "decision" / "live.html").read_text(encoding="utf-8")
    assert "There is no deciding match tonight: no nets are new." in live


def registered(runs: Path, rules: Rules | None = None) -> Any:
    """Register nets, and return the model as MLflow loads it."""
    nets, store = save_nets(runs / "a-1" / "learning", 1, rules), TrackingStore(runs)
    with store.start("night", key="night") as tracker:
        ModelRegistry(store, SMALL.registry).promote(nets, tracker, Promotion(digest="a", replaces=None, night="1"))
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(store.uri)
    try:
        return mlflow.pyfunc.load_model(CHAMPION)
    finally:
        mlflow.set_tracking_uri(before)


def test_the_champion_answers_games_so_far_as_a_model_of_mlflow(runs: Path) -> None:
    model = registered(runs)
    assert [column.name for column in model.metadata.get_input_schema()] == ["record"]
    assert [column.name for column in model.metadata.get_output_schema()] == ["move", "values"]
    answer = model.predict(model.input_example)
    values = json.loads(answer["values"][0])
    assert len(values) > 1
    assert answer["move"][0] == values[0]["move"]
    assert [each["value"] for each in values] == sorted((each["value"] for each in values), reverse=True)
    record, moves = json.loads(model.input_example["record"][0]), list[str]()
    while answer["move"][0]:
        moves.append(answer["move"][0])
        answer = model.predict(pd.DataFrame({"record": [json.dumps(record | {"moves": moves})]}))
    assert json.loads(answer["values"][0]) == []
    finished = GAME.read_record(json.dumps(record | {"moves": moves}))
    assert finished.winner in GAME.seat_names
    player = load_agent(runs / "a-1" / "learning", game="doudizhu")
    opinions = candidate_opinions(GAME.recorded_decisions(finished), player)
    assert moves == [_chosen(opinion) for opinion in opinions], "the same nets play the same game"


def test_the_example_of_a_model_follows_the_rules_that_its_nets_learned(runs: Path) -> None:
    model = registered(runs, Rules(douzero_kickers=True))
    assert json.loads(model.input_example["record"][0])["rules"]["douzero_kickers"] is True
    assert model.predict(model.input_example)["move"][0]


def test_a_model_of_another_game_is_refused(runs: Path, tmp_path: Path) -> None:
    store = TrackingStore(runs)
    with store.start("night", key="night") as tracker:
        other = Path(save_random(tmp_path / "nets"))
        ModelRegistry(store, RegistryConfig()).promote(other, tracker, Promotion(digest="a", replaces=None, night="1"))
    with pytest.raises(ValueError, match="has nets of another game than doudizhu: name a model of doudizhu"):
        load_side_agent("models:/suphx@champion", GAME, tmp_path / "space", AgentSource(store))


def _chosen(opinion: CandidateOpinion) -> str:
    return GAME.recorded_move(Rules(), int(opinion.candidates[opinion.chosen]))


def test_a_list_of_texts_in_one_cell_is_as_many_rows_and_a_record_that_is_not_possible_is_named(tmp_path: Path) -> None:
    """Such a list is what MLflow makes of a dict."""
    agent, example = PyfuncAgent(save_nets(tmp_path / "nets", seed=1)), GAME.new_record(Rules(), seed=0)
    answers = agent.predict(pd.DataFrame({"record": [example] * 2}))
    assert agent.predict(pd.DataFrame([{"record": [example] * 2}])).equals(answers)
    other: dict[str, Any] = {"rules": {"scoring": "win", "douzero_kickers": True}}
    for text, message in (
        ("no JSON", "row 1 of the column record: "),
        (json.dumps(json.loads(example) | {"moves": ["BR"]}), "row 1 of the column record: move 1, landlord: BR is"),
        (json.dumps(json.loads(example) | other), "row 1 of the column record: its rules have other moves than those"),
    ):
        with pytest.raises(ValueError, match=message):
            agent.predict(pd.DataFrame({"record": [example, text]}))
