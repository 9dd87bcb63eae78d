from __future__ import annotations

import re
from pathlib import Path

import pytest

from suphx.evaluation.match import MatchReport, play_match
from suphx.evaluation.rating.tournament import Player, play_tournament
from suphx.evaluation.workers.kept_results import KeptResults
from suphx.games.riichi.table.rules import tonpuu
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from tests.suphx_platform.agents.mjai.bot_program import bot


def match(candidate: str, baseline: str = "ukeire", workers: int = 1) -> MatchReport:
    return play_match(
        candidate, baseline, num_hanchans=8, seed=1, rules=tonpuu(), workers=workers, load=load_any_agent
    )  # fmt: skip


def test_a_program_that_discards_what_it_draws_plays_like_the_baseline() -> None:
    program, baseline = match(bot("tsumogiri")), match("tsumogiri")
    assert repr(program.statistics) == repr(baseline.statistics)
    assert program.difference == baseline.difference


def test_a_program_may_play_several_seats_and_choose_its_discards() -> None:
    report = match("ukeire", bot("lowest"))
    assert report.baseline_statistics.games == 24
    assert report.difference.mean < 0


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mjai:no-such-program --fast", "there is no program 'no-such-program': give a command, or its path"),
        ("mjai:", "there is no program ''"),
        (bot("lowest", "-0"), "has 0 s for a move"),
    ],
)
def test_an_address_without_a_program_is_refused(address: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        match(address)


FAILING = {
    "babbler": r"\(seat \d\): its answer is not JSON: b'hello'",
    "thrower": r"its answer .* cannot be played: '\?' is not a tile",
    "broken": "it has ended; it says: RuntimeError: the bot is broken",
    "mute": r"no answer in [\d.]+ s: give it more time",
}


@pytest.mark.parametrize("way", FAILING)
def test_a_program_that_fails_forfeits_its_games_and_the_match_goes_on(
    way: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("suphx_platform.agents.mjai.mjai_program.START_SECONDS", 1.0)
    report = match(bot(way, "-0.05"))
    assert report.forfeits.counts == {0: 8}
    assert re.search(FAILING[way], report.forfeits.reasons[0])
    assert "from now on this seat discards what it draws" in caplog.text
    assert repr(report.statistics) == repr(match("tsumogiri").statistics)
    (sentence,) = report.forfeits.sentences(("the candidate", "the baseline"))
    assert sentence.startswith("the candidate could not play 8 games to the end")
    assert report.to_json()["forfeits"] == {"candidate": {"forfeits": 8, "reason": report.forfeits.reasons[0]}}


def test_forfeits_of_several_seats_and_processes_are_all_counted() -> None:
    report = match("ukeire", bot("thrower"), workers=2)
    assert report.forfeits.counts == {1: 24}


def test_forfeits_are_kept_with_the_games(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "games")
    reports = [
        play_match(bot("broken"), "ukeire", num_hanchans=8, seed=1, rules=tonpuu(), load=load_any_agent, kept=kept)
        for _ in range(2)
    ]
    assert [report.forfeits.counts for report in reports] == [{0: 8}, {0: 8}]
    assert reports[0].forfeits.reasons == reports[1].forfeits.reasons


def test_a_tournament_tells_who_forfeited() -> None:
    addresses = {"a": "ukeire", "b": "tsumogiri", "c": bot("thrower"), "d": "random"}
    players = [Player(digest, address, digest) for digest, address in addresses.items()]
    told: list[str] = []
    games = play_tournament(
        players, num_hanchans=8, seed=1, anchor="a", rules=tonpuu(), load=load_any_agent,
        note_forfeit=lambda digest, reason: told.append(digest),
    )  # fmt: skip
    assert told == ["c"] * len(games)


@pytest.mark.slow
@pytest.mark.parametrize("way", [*FAILING, "lowest", "tsumogiri"])
def test_matches_of_100_hanchans_end_whatever_the_program_does(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx_platform.agents.mjai.mjai_program.START_SECONDS", 2.0)
    seconds = "-0.05" if way == "mute" else "-120"
    report = play_match(bot(way, seconds), "ukeire", num_hanchans=100, seed=2, rules=tonpuu(), load=load_any_agent)
    assert report.forfeits.counts[0] == (100 if way in FAILING else 0)


def test_no_program_outlives_its_games() -> None:
    agent = load_any_agent(bot("lowest"))
    assert isinstance(agent, MjaiAgent)
    play_match(
        "lowest", "ukeire", num_hanchans=8, seed=1, rules=tonpuu(),
        load=lambda address: agent if address == "lowest" else load_any_agent(address),
    )  # fmt: skip
    assert not agent._players
