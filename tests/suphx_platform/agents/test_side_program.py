"""Outside programs in DouDizhu: what they see, how they play, and what it costs if they fail."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, SideReport, play_side_match
from suphx.games.doudizhu.records.game_record import read_records
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.selfplay.rollouts.rollout import GameFollower, play_deals
from suphx_cli import cli
from suphx_platform.agents.mjai import programs
from suphx_platform.agents.side_program import SideProgram
from tests.code_blocks import PYTHON, pages, texts

GAME = candidate_game("doudizhu")


@pytest.fixture(autouse=True)
def without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(programs.SWITCH, "0")
    monkeypatch.setattr(programs, "START_SECONDS", 20.0)


def program(tmp_path: Path, code: str, form: str = "program") -> str:
    """Return the address of a program with this ``code``."""
    path = tmp_path / "bot.py"
    path.write_text(code, encoding="utf-8")
    return f"{form}:{sys.executable} -S {path}"


def play(address: str, decks: int = 2, **options: Any) -> SideReport:
    player = SideProgram(address, GAME)
    assert isinstance(player, GameFollower)
    agents = {address: player, "random": GAME.scripted_agent("random")}
    setup = MatchSetup(*agents, seed=0, game="doudizhu", first_deal=0)
    report = play_side_match(setup, decks, runner=GameRunner(load=agents.__getitem__), **options)
    assert not player._programs, "no program outlives its games"
    return report


def documented_program() -> str:
    (code,) = (block for block in texts(pages()["docs/doudizhu.md"], PYTHON) if "sys.stdin" in block)
    assert len(code.strip().splitlines()) <= 20
    return code


def test_the_documented_program_plays_whole_matches_and_its_games_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = []
    for name in ("a", "b"):
        words = ["--candidate", program(tmp_path, documented_program()), "--opponent", "random", "--decks", "6"]
        words += ["--game", "doudizhu", "--runs", str(tmp_path / "runs"), "--keep-games", str(tmp_path / name)]
        assert cli.main(["evaluate", *words, "--json"]) == 0
        results.append(json.loads(capsys.readouterr().out.splitlines()[-1]) | {"seconds": 0})
    assert results[0] == results[1]
    assert results[0]["share"]["mean"] > 0.7
    assert results[0]["forfeits"] == {}
    records = list(read_records(tmp_path / "a" / "games.jsonl"))
    assert [record.players for record in records[:2]] == [
        ("candidate", "opponent", "opponent"),
        ("opponent", "candidate", "candidate"),
    ]
    assert len(records) == 12


SPY = """
import json, os, sys
with open(os.path.join({folder!r}, str(os.getpid())), "w") as file:
    for line in sys.stdin:
        seen = json.loads(line)
        move = seen["legal"][-1]
        file.write(json.dumps([sys.argv[1], seen, move]) + chr(10))
        file.flush()
        print(json.dumps({{"move": move[::-1] if move != "pass" else move}}), flush=True)
"""


def test_a_program_sees_its_own_cards_only_and_each_process_one_seat(tmp_path: Path) -> None:
    folder = tmp_path / "seen"
    folder.mkdir()
    player = SideProgram(program(tmp_path, SPY.format(folder=str(folder))), GAME)
    played = play_deals(GAME, Rules(bidding=True), player, GAME.scripted_agent("random"), range(2))
    games = [each.record.to_json() for each in played]
    dealt = {(seat, hand) for game in games for seat, hand in game["hands"].items()}
    processes = list(folder.iterdir())
    assert len(processes) <= 6, "a landlord and two peasants in each of two decks"
    for process in processes:
        decisions = [json.loads(line) for line in process.read_text().splitlines()]
        (seat,) = {seen["seat"] for _, seen, _ in decisions}
        number = GAME.seat_names.index(seat)
        for argument, seen, move in decisions:
            assert argument == str(number)
            assert set(seen) == {"game", "rules", "seat", "hand", "bottom", "moves", "bids", "legal"}
            assert len(seen["moves"]) % 3 == number
            assert len(seen["legal"]) > 1
            own = "".join(made for made in seen["moves"][number::3] if made != "pass") + seen["hand"]
            assert any(seat == name and Counter(own) == Counter(hand) for name, hand in dealt)
            assert any(game["moves"][: len(seen["moves"]) + 1] == [*seen["moves"], move] for game in games)


ANSWER = "import sys, time\nfor line in sys.stdin: print({answer!r}, flush=True)\ntime.sleep(600)"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit('no nets')", "it has ended; it says: no nets"),
        (ANSWER.format(answer="33"), "its answer is not a JSON object"),
        (ANSWER.format(answer='{"cards": "3"}'), 'cannot be played: it has no "move" that is a text'),
        (ANSWER.format(answer='{"move": 3}'), 'cannot be played: it has no "move" that is a text'),
        (ANSWER.format(answer='{"move": "3456"}'), "cannot be played: '3456' is not a move of doudizhu"),
        (ANSWER.format(answer='{"move": "BR"}'), "cannot be played: you do not have BR"),
        ("import time; time.sleep(600)", r"no answer in 0\.2 s: give it more time \(program-SECONDS:COMMAND\)"),
    ],
)
def test_a_program_that_fails_loses_its_games_on_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    is_late = code.startswith("import time")
    monkeypatch.setattr(programs, "START_SECONDS", 0.2 if is_late else 20.0)
    report = play(program(tmp_path, code, "program-0.2" if is_late else "program"))
    assert [report.figures[name].mean for name in ("wp_landlord", "wp_peasant", "share")] == [0, 0, 0]
    assert report.figures["points"].mean <= -1
    (told,) = report.forfeits.sentences(("the candidate", "the opponent"), "lost")
    assert told.startswith("the candidate could not play 4 games to the end: each counts as lost; one of the reasons: ")
    assert re.search(reason, told)


def test_games_that_were_played_to_the_end_before_count_as_they_ended(tmp_path: Path) -> None:
    """The program fails as a peasant only: as the landlord it may win."""
    only_landlord = "for line in sys.stdin if sys.argv[1] == '0' else ():"
    code = documented_program().replace("for line in sys.stdin:", only_landlord)
    report = play(program(tmp_path, code), decks=4)
    assert report.forfeits.counts == {0: 4}
    assert report.figures["wp_peasant"].mean == 0
    assert report.figures["wp_landlord"].mean > 0
