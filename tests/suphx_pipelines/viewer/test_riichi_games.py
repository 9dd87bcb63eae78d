"""The best and the worst games of a match, found in its records and shown by the viewer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import AGENT_NAMES, MatchSetup, play_match
from suphx.evaluation.match_config import Seating
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.match_tables import index_records
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.viewer.riichi_games import NUM_EACH, choose_games, match_pages


def played(folder: Path, seating: Seating = "1v3") -> list[GameLog]:
    play_match(MatchSetup("ukeire", "tsumogiri", seed=5), 12, seating=seating, runner=GameRunner(records=folder))
    index_records(folder)
    return list(iter_records([folder], quarantine=Quarantine()))


def points_of(log: GameLog) -> int:
    assert log.final_scores is not None
    return log.final_scores[log.names.index(AGENT_NAMES[0])]


def place_of(log: GameLog) -> int:
    assert log.final_scores is not None
    return sorted(log.final_scores, reverse=True).index(points_of(log)) + 1


def values_of(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    (data,) = re.findall(r"<script[^>]*application/json[^>]*>(.*?)</script>", text, re.DOTALL)
    values: dict[str, Any] = json.loads(data)
    return values


def test_the_best_games_have_the_best_places_and_then_the_most_points(tmp_path: Path) -> None:
    logs = played(tmp_path)
    order = sorted(logs, key=lambda log: (place_of(log), -points_of(log)))
    games, hanchans = choose_games(tmp_path)
    assert hanchans == len(logs) == 12
    assert [game.log.id for game in games["best"]] == [log.id for log in order[:NUM_EACH]]
    assert [game.log.id for game in games["worst"]] == [log.id for log in order[::-1][:NUM_EACH]]
    assert [game.points for game in games["best"]] == [(points_of(log),) for log in order[:NUM_EACH]]


def test_few_games_are_shown_once_and_without_records_there_are_none(tmp_path: Path) -> None:
    assert choose_games(tmp_path / "nothing") == ({"best": [], "worst": []}, 0)
    played(tmp_path)
    games, _ = choose_games(tmp_path, num_each=8)
    assert len({game.log.id for chosen in games.values() for game in chosen}) == 12


@pytest.mark.parametrize("seating", ["1v3", "3v1"])
def test_a_page_has_the_thoughts_of_the_candidate_about_its_own_decisions(seating: Seating, tmp_path: Path) -> None:
    played(tmp_path / "records", seating)
    games, _ = choose_games(tmp_path / "records", num_each=1)
    names = {"name": "new nets", "opponent": "old nets"}
    shown = match_pages(tmp_path / "records", load_agent("ukeire"), tmp_path, **names, title="A", num_each=1)["games"]
    assert [(game["page"], game["kind"]) for game in shown] == [
        ("game_best_1.html", "best"),
        ("game_worst_1.html", "worst"),
    ]
    for game, chosen in zip(shown, (*games["best"], *games["worst"]), strict=True):
        values = values_of(tmp_path / game["page"])
        decisions = [each for deal in values["game"]["deals"] for step in deal["steps"] for each in step["decisions"]]
        assert {decision["seat"] for decision in decisions} == set(chosen.seats)
        assert values["game"]["agent"] == "new nets"
        assert values["game"]["num_differences"] == 0, "ukeire has played these games"
        names = values["game"]["names"]
        assert [seat for seat, name in enumerate(names) if name.startswith("new nets")] == list(chosen.seats)
        assert sorted(set(names)) == sorted(names)
        assert [values["game"]["final"][seat] for seat in chosen.seats] == game["points"]
        assert [values["game"]["placement"][seat] for seat in chosen.seats] == game["places"]
