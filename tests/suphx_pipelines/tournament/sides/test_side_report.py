"""The sentence of a tournament's report in a game of two sides."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from suphx.evaluation.rating.rated_games import RatedGame
from suphx_pipelines.json_file import write_json
from suphx_pipelines.report.report_page import number
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_history import EarlierNights, games_json, read_history
from suphx_pipelines.tournament.pool.tournament_pool import Entrant, Pool
from suphx_pipelines.tournament.sides import side_page, side_report
from suphx_pipelines.tournament.sides.side_leaderboard import SideBoard


@pytest.mark.parametrize(
    ("anchor", "scale"),
    [
        ("random", "random has 1,000 points in all nights"),
        ("rule", "the mean of all agents has 1,000 points, because rule has not played"),
    ],
)
def test_the_report_says_who_has_1000_points(anchor: str, scale: str) -> None:
    agents = ("net", "random")
    board = SideBoard(
        pool=Pool(
            entrants=tuple(Entrant(name=name, address=name, digest=name) for name in agents),
            champion=None,
            version=None,
            left_out={},
        ),
        sides=("landlord", "farmers"),
        earlier=EarlierNights([], []),
        anchor=anchor,
        night="1",
        run_id="doudizhu-0000000001",
        games=[RatedGame(deck, agents, (1, 2)) for deck in range(40)],
        points={("net", "landlord"): 40.0, ("random", "farmers"): -40.0},
    )
    table = board.table()
    assert side_report.verdict(table, {"candidate": None}, {}).sentence.endswith(f", where {scale}.")
    assert f"{scale[0].upper()}{scale[1:]}. 100 points more" in dict(side_page.sections(table))["Leaderboard"]


def test_an_agent_with_one_deck_has_no_interval(tmp_path: Path) -> None:
    agents = ("net", "random", "rule")
    entrants = tuple(Entrant(name=name, address=name, digest=name) for name in agents)
    board = SideBoard(
        pool=Pool(entrants=entrants, champion=None, version=None, left_out={}),
        sides=("first", "second"),
        earlier=EarlierNights([], [{"run": "a-1", "night": "0", "ratings": {"net": [1100.0, None, None]}}]),
        anchor="random",
        night="1",
        run_id="a-2",
        games=[RatedGame(deck, ("rule", "random"), (1, 2)) for deck in range(9)]
        + [RatedGame(10, ("net", "random"), (1, 2))],
        points=defaultdict(float),
    )
    table = board.table()
    bounds = {row["name"]: row["interval"] for row in table["agents"]}
    assert {name for name, found in bounds.items() if found is None} == {"net"}
    assert bounds["random"] == [1000.0, 1000.0]
    ratings = next(night["ratings"] for night in table["nights"] if night["night"] == "1")
    assert ratings["net"][1:] == [None, None]
    own = next(row for row in table["agents"] if row["name"] == "net")
    shown = dict(side_page.sections(table))
    cells = re.sub(r"<[^>]+>", "|", shown["Leaderboard"])
    assert f"||{number(own['rating'])}||–||1||" in cells
    assert "None" not in "".join(shown.values()) + "".join(map(bytes.decode, side_page.pictures(table).values()))
    write_json(tmp_path / "history.json", games_json([], {}, riichi_code()) | {"nights": table["nights"]})
    assert read_history(tmp_path / "history.json", riichi_code()).nights == table["nights"]
